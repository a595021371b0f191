//! Layouts that are the same for every value of a type, and known at compile time. With a layout,
//! many values in a row can be sized or skipped at once.

/// The layout of a type whose values all take the same number of bytes, and have no padding if
/// their start is aligned.
///
/// `geometry_msgs/Point` has size 24 and alignment 8; a type with a string has no layout. A type
/// whose members need padding that depends on where a value starts has no layout, either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    size: usize,
    align: usize,
}

impl Layout {
    /// Returns the layout of a primitive of `size` bytes.
    #[must_use]
    pub const fn primitive(size: usize) -> Self {
        Self { size, align: size }
    }

    /// Returns the number of bytes of one value.
    #[must_use]
    pub const fn size(self) -> usize {
        self.size
    }

    /// Returns the alignment of the first byte.
    #[must_use]
    pub const fn align(self) -> usize {
        self.align
    }

    /// Returns the layout of a struct from the layouts of its members, which must be in order.
    /// Returns `None` if the struct has no layout.
    #[must_use]
    pub const fn of_struct(members: &[Option<Self>]) -> Option<Self> {
        let Some((&Some(first), mut rest)) = members.split_first() else { return None };
        let mut size = first.size;
        while let Some((&member, tail)) = rest.split_first() {
            let Some(member) = member else { return None };
            // A member that needs a stricter alignment than the first member would need padding
            // that depends on where the struct starts.
            if member.align > first.align || size % member.align != 0 {
                return None;
            }
            size = match size.checked_add(member.size) {
                Some(sum) => sum,
                None => return None,
            };
            rest = tail;
        }
        Some(Self { size, align: first.align })
    }

    /// Returns the layout of `count` values in a row, or `None` if there must be padding between
    /// them.
    #[must_use]
    pub const fn repeated(element: Option<Self>, count: usize) -> Option<Self> {
        let Some(element) = element else { return None };
        if element.size % element.align != 0 || count == 0 {
            return None;
        }
        match element.size.checked_mul(count) {
            Some(size) => Some(Self { size, align: element.align }),
            None => None,
        }
    }
}

/// Rounds `position` up to a multiple of `align`, which is a power of two. Positions are indices
/// into slices, so an overflow is not possible.
#[inline]
pub(crate) const fn align_up(position: usize, align: usize) -> usize {
    (position + (align - 1)) & !(align - 1)
}
