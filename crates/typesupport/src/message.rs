//! [`MessageProgram`]: what a type support describes, ready to be used.

use std::ffi::c_void;

use feros_cdr::{ByteOrder, HEADER_LEN};

use crate::compile::compile;
use crate::error::{CompileError, DecodeError, EncodeError};
use crate::layout::{PlainLayout, plain};
use crate::memory::{C, Cpp};
use crate::program::Program;
use crate::type_support::{Language, dds_type_name, find_message, hash_value, type_name};
use crate::{decode, encode, ffi, shim};

/// What a `rosidl_message_type_support_t` describes, compiled.
///
/// A message is passed as a pointer to its struct, as rmw passes it. Threads may share a program.
#[derive(Debug)]
pub struct MessageProgram {
    ros_type_name: String,
    dds_type_name: String,
    type_hash: Option<[u8; 32]>,
    language: Language,
    program: Program,
    plain: Option<PlainLayout>,
    size: usize,
    init: ffi::Init,
    fini: ffi::Fini,
}

/// Calls a function of messages for the language of a program.
macro_rules! in_language {
    ($self:ident, $module:ident::$function:ident, $($argument:expr),*) => {
        match $self.language {
            Language::C => $module::$function::<C>(&$self.program, $($argument),*),
            Language::Cpp => $module::$function::<Cpp>(&$self.program, $($argument),*),
        }
    };
}

impl MessageProgram {
    /// Compiles a type, for which its introspection is looked up: a library may be loaded.
    ///
    /// # Errors
    /// What the type support lacks. rcutils may then hold an error, which is the caller's to reset.
    ///
    /// # Safety
    /// `type_support` is null or a valid type support, and neither it nor its library ends before
    /// the program and the messages that it is used with.
    pub unsafe fn compile(
        type_support: *const ffi::rosidl_message_type_support_t,
    ) -> Result<Self, CompileError> {
        // SAFETY: by this function.
        let (found, language) = unsafe { find_message(type_support) }?;
        // SAFETY: by this function; it was found as introspection.
        unsafe { Self::of_introspection(found, language) }
    }

    /// # Safety
    /// As of [`MessageProgram::compile`], of a type support of introspection of this language.
    pub(crate) unsafe fn of_introspection(
        type_support: &ffi::rosidl_message_type_support_t,
        language: Language,
    ) -> Result<Self, CompileError> {
        // SAFETY: by this function.
        let members = unsafe { type_support.data.cast::<ffi::MessageMembers>().as_ref() };
        let Some(members) = members else {
            let message = "a message".to_owned();
            return Err(CompileError::Incomplete { message, what: "description" });
        };
        // SAFETY: by this function.
        let ros_type_name = unsafe { type_name(members.message_namespace_, members.message_name_) };
        let missing = |what| CompileError::Incomplete { message: ros_type_name.clone(), what };
        let init = members.init_function.ok_or(missing("init function"))?;
        let fini = members.fini_function.ok_or(missing("fini function"))?;
        // SAFETY: by this function.
        let program = unsafe {
            match language {
                Language::C => compile::<C>(members),
                Language::Cpp => compile::<Cpp>(members),
            }
        }?;
        // SAFETY: by this function.
        let type_hash = unsafe {
            let hash = type_support.get_type_hash_func.map(|function| function(type_support));
            hash.and_then(|hash| hash_value(hash))
        };
        Ok(Self {
            dds_type_name: dds_type_name(&ros_type_name),
            type_hash,
            language,
            plain: plain(&program, members.size_of_),
            program,
            size: members.size_of_,
            init,
            fini,
            ros_type_name,
        })
    }

    /// The name of the type, as `std_msgs/msg/String`.
    #[must_use]
    pub fn ros_type_name(&self) -> &str {
        &self.ros_type_name
    }

    /// The name of the type on the wire, as `std_msgs::msg::dds_::String_`.
    #[must_use]
    pub fn dds_type_name(&self) -> &str {
        &self.dds_type_name
    }

    /// The hash of the type, RIHS01; `None` if its package has none.
    #[must_use]
    pub fn type_hash(&self) -> Option<[u8; 32]> {
        self.type_hash
    }

    /// Whether messages are those of C++, else of C.
    #[must_use]
    pub fn is_cpp(&self) -> bool {
        self.language == Language::Cpp
    }

    /// The struct as it lies in the body of a serialized message, where both are the same.
    #[must_use]
    pub fn plain(&self) -> Option<PlainLayout> {
        self.plain
    }

    /// Bytes of the struct.
    #[must_use]
    pub fn size_of(&self) -> usize {
        self.size
    }

    /// Bytes of the whole serialized message, the 4-byte header included.
    ///
    /// # Errors
    /// What the message violates: a bound, or memory that is not there.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, and nobody changes it meanwhile.
    pub unsafe fn serialized_len(&self, message: *const c_void) -> Result<usize, EncodeError> {
        // SAFETY: by this function.
        let body = unsafe { in_language!(self, encode::size, message.cast()) }?;
        Ok(body.saturating_add(HEADER_LEN))
    }

    /// Serializes a message into `out`, header first and padding as zero, and returns the number of
    /// bytes: [`MessageProgram::serialized_len`]. What lies after them is left alone.
    ///
    /// # Errors
    /// What the message violates: a bound, a NUL inside a string; or that `out` is too small. The
    /// content of `out` is unspecified then.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, and nobody changes it meanwhile.
    pub unsafe fn encode(
        &self,
        message: *const c_void,
        out: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let capacity = out.len();
        let Some((header, body)) = out.split_at_mut_checked(HEADER_LEN) else {
            return Err(EncodeError::BufferTooSmall { needed: HEADER_LEN, capacity });
        };
        header.copy_from_slice(&ByteOrder::NATIVE.header());
        // SAFETY: by this function.
        let written = unsafe { in_language!(self, encode::write, message.cast(), body) };
        match written {
            Ok(len) => Ok(len + HEADER_LEN),
            Err(EncodeError::BufferTooSmall { needed, .. }) => {
                let needed = needed.saturating_add(HEADER_LEN);
                Err(EncodeError::BufferTooSmall { needed, capacity })
            }
            Err(error) => Err(error),
        }
    }

    /// Fills a message from serialized bytes, header first, of either byte order. Bytes after the
    /// message are ignored; sequences and strings keep their memory where it is large enough.
    ///
    /// # Errors
    /// Why the bytes are no message of this type. The message then holds a part of them, and can
    /// be used and finalized as any other.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, and nobody else looks at it meanwhile.
    pub unsafe fn decode(&self, bytes: &[u8], message: *mut c_void) -> Result<(), DecodeError> {
        // SAFETY: by this function.
        unsafe { in_language!(self, decode::read, bytes, message.cast()) }
    }

    /// Makes a message, all fields at their defaults, of memory; false if there was none for what
    /// the defaults need.
    ///
    /// # Safety
    /// `message` is [`MessageProgram::size_of`] bytes of memory, aligned as any allocator's.
    pub unsafe fn init(&self, message: *mut c_void) -> bool {
        if self.language == Language::C {
            // Numbers without a default are left as they are by the function of C.
            // SAFETY: by this function, there are as many bytes.
            unsafe { message.write_bytes(0, self.size) };
        }
        // SAFETY: by this function.
        unsafe { shim::feros_message_init(self.init, message, ffi::MESSAGE_INIT_ALL) }
    }

    /// Ends a message, but not its memory.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, which nobody uses afterwards.
    pub unsafe fn fini(&self, message: *mut c_void) {
        // SAFETY: by this function.
        unsafe { shim::feros_message_fini(self.fini, message) };
    }
}
