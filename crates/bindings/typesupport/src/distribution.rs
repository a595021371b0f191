//! [`Layout`]: the structures of rosidl that differ between distributions of ROS 2.

use crate::ffi::{self, MessageMember};

/// The layouts of the structures of rosidl that differ between distributions of ROS 2. The caller,
/// who knows the distribution of the host program, passes the layouts to
/// [`MessageProgram::compile`](crate::MessageProgram::compile); a compiled program does not need
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The size of a `MessageMember`, in bytes.
    member: usize,
    /// The offset of `is_rosidl_buffer_` in a `MessageMember`, if the distribution has buffers.
    buffer_flag: Option<usize>,
    /// The size of a C sequence of primitives, in bytes.
    primitives: usize,
}

impl Layout {
    /// The layouts of ROS 2 Jazzy and of ROS 2 Kilted, which are equal. The tests compare them with
    /// the headers.
    pub const JAZZY_AND_KILTED: Self = Self {
        member: size_of::<MessageMember>(),
        buffer_flag: None,
        primitives: size_of::<ffi::Sequence>(),
    };

    /// The layouts of ROS 2 Lyrical: a description says which fields are buffers, and a C sequence
    /// of primitives may point to a buffer. They were written from published information only, and
    /// never run with Lyrical.
    pub const LYRICAL: Self = Self {
        member: size_of::<ffi::lyrical::MessageMember>(),
        buffer_flag: Some(std::mem::offset_of!(ffi::lyrical::MessageMember, is_rosidl_buffer_)),
        primitives: size_of::<ffi::lyrical::PrimitiveSequence>(),
    };

    /// The size of a C sequence of primitives, in bytes.
    pub(crate) fn primitives(self) -> usize {
        self.primitives
    }

    /// The description of the field at `index`, and whether the field is a buffer. `None` if the
    /// field has no name.
    ///
    /// # Safety
    /// `members` points to the descriptions of a message's fields in this layout, and `index` is
    /// less than their number.
    pub(crate) unsafe fn member<'a>(
        self,
        members: *const MessageMember,
        index: usize,
    ) -> Option<(&'a MessageMember, bool)> {
        // No name lies in the first page of memory. With the layout of another distribution, the
        // place of the second name holds a flag or the number of a type, which would be an address
        // in that page.
        const FIRST_PAGE: usize = 4096;
        // SAFETY: by this function's contract.
        let member = unsafe { members.byte_add(index * self.member) };
        // SAFETY: by this function's contract.
        if unsafe { (*member).name_ }.addr() < FIRST_PAGE {
            return None;
        }
        let is_buffer = self.buffer_flag.is_some_and(|offset| {
            // SAFETY: by this function's contract, the flag is a byte of the description.
            unsafe { member.byte_add(offset).cast::<u8>().read() != 0 }
        });
        // SAFETY: by this function's contract.
        Some((unsafe { &*member }, is_buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lyrical_has_the_sizes_of_the_public_facts() {
        let layout = Layout { member: 120, buffer_flag: Some(112), primitives: 32 };
        assert_eq!(Layout::LYRICAL, layout);
        let is = std::mem::offset_of!(ffi::lyrical::PrimitiveSequence, is_rosidl_buffer);
        let owns = std::mem::offset_of!(ffi::lyrical::PrimitiveSequence, owns_rosidl_buffer);
        assert_eq!((is, owns), (24, 25));
    }

    #[test]
    fn jazzy_and_kilted_have_the_sizes_of_the_headers() {
        let layout = Layout { member: 112, buffer_flag: None, primitives: 24 };
        assert_eq!(Layout::JAZZY_AND_KILTED, layout);
    }
}
