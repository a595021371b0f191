//! [`MessageProgram`]: the compiled description of a message type.

use std::ffi::c_void;

use feros_cdr::{ByteOrder, HEADER_LEN};

use crate::compile::compile;
use crate::distribution::Layout;
use crate::error::{CompileError, DecodeError, EncodeError};
use crate::layout::{PlainLayout, plain};
use crate::memory::{C, Cpp};
use crate::program::Program;
use crate::type_support::{Language, dds_type_name, find_message, hash_value, type_name};
use crate::{decode, encode, ffi, shim};

/// A message type, compiled from a `rosidl_message_type_support_t`.
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

/// Calls a function that is generic over `Memory` with the language of the program.
macro_rules! in_language {
    ($self:ident, $module:ident::$function:ident, $($argument:expr),*) => {
        match $self.language {
            Language::C => $module::$function::<C>(&$self.program, $($argument),*),
            Language::Cpp => $module::$function::<Cpp>(&$self.program, $($argument),*),
        }
    };
}

impl MessageProgram {
    /// Compiles a type support, in the layout of the host's distribution. The lookup of its
    /// introspection may load a library.
    ///
    /// # Errors
    /// Fails if the type support lacks a part. The error state of rcutils may then be set, in which
    /// case the caller must reset it.
    ///
    /// # Safety
    /// `type_support` is null or valid, and has the structures of `layout`. It and its library
    /// outlive the program and the messages that are used with the program.
    pub unsafe fn compile(
        type_support: *const ffi::rosidl_message_type_support_t,
        layout: Layout,
    ) -> Result<Self, CompileError> {
        // SAFETY: by this function's contract.
        let (found, language) = unsafe { find_message(type_support) }?;
        // SAFETY: by this function's contract; `found` is the introspection type support.
        unsafe { Self::of_introspection(found, language, layout) }
    }

    /// # Safety
    /// The contract of [`MessageProgram::compile`], for an introspection type support of this
    /// language.
    pub(crate) unsafe fn of_introspection(
        type_support: &ffi::rosidl_message_type_support_t,
        language: Language,
        layout: Layout,
    ) -> Result<Self, CompileError> {
        // SAFETY: by this function's contract.
        let members = unsafe { type_support.data.cast::<ffi::MessageMembers>().as_ref() };
        let Some(members) = members else {
            let message = "a message".to_owned();
            return Err(CompileError::Incomplete { message, what: "description" });
        };
        // SAFETY: by this function's contract.
        let ros_type_name = unsafe { type_name(members.message_namespace_, members.message_name_) };
        let missing = |what| CompileError::Incomplete { message: ros_type_name.clone(), what };
        let init = members.init_function.ok_or(missing("init function"))?;
        let fini = members.fini_function.ok_or(missing("fini function"))?;
        // SAFETY: by this function's contract.
        let program = unsafe {
            match language {
                Language::C => compile::<C>(members, layout),
                Language::Cpp => compile::<Cpp>(members, layout),
            }
        }?;
        // SAFETY: by this function's contract.
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

    /// The name of the type, such as `std_msgs/msg/String`.
    #[must_use]
    pub fn ros_type_name(&self) -> &str {
        &self.ros_type_name
    }

    /// The name of the type on the wire, as `std_msgs::msg::dds_::String_`.
    #[must_use]
    pub fn dds_type_name(&self) -> &str {
        &self.dds_type_name
    }

    /// The RIHS01 hash of the type; `None` if its package has no hash.
    #[must_use]
    pub fn type_hash(&self) -> Option<[u8; 32]> {
        self.type_hash
    }

    /// Whether the messages are C++ messages; otherwise they are C messages.
    #[must_use]
    pub fn is_cpp(&self) -> bool {
        self.language == Language::Cpp
    }

    /// The layout of the struct, if the body of a serialized message has the same layout.
    #[must_use]
    pub fn plain(&self) -> Option<PlainLayout> {
        self.plain
    }

    /// The size of the struct, in bytes.
    #[must_use]
    pub fn size_of(&self) -> usize {
        self.size
    }

    /// The size of the serialized message, in bytes, including the 4-byte header.
    ///
    /// # Errors
    /// Fails if the message exceeds a bound, if a string or sequence lacks memory, or if a
    /// `rosidl::Buffer` is not in the memory of the CPU.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, and nobody changes it during the call.
    pub unsafe fn serialized_len(&self, message: *const c_void) -> Result<usize, EncodeError> {
        // SAFETY: by this function's contract.
        let body = unsafe { in_language!(self, encode::size, message.cast()) }?;
        Ok(body.saturating_add(HEADER_LEN))
    }

    /// Serializes a message into `out`, with its header first and zeros as padding. Returns the
    /// number of bytes, which is [`MessageProgram::serialized_len`]. Later bytes of `out` are not
    /// changed.
    ///
    /// # Errors
    /// Fails if the message exceeds a bound, has a NUL inside a string, or has a `rosidl::Buffer`
    /// outside of the memory of the CPU, or if `out` is too small. The content of `out` is then
    /// unspecified.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, and nobody changes it during the call.
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
        // SAFETY: by this function's contract.
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

    /// Fills a message from serialized bytes, which begin with the header, in either byte order.
    /// Bytes after the message are ignored. Sequences and strings reuse their memory if it is large
    /// enough.
    ///
    /// # Errors
    /// Fails if the bytes are not a message of this type, or if the message has a `rosidl::Buffer`
    /// outside of the memory of the CPU. The message may then be partly filled, but can be used and
    /// finalized like any other message.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, and nobody else accesses it during the
    /// call.
    pub unsafe fn decode(&self, bytes: &[u8], message: *mut c_void) -> Result<(), DecodeError> {
        // SAFETY: by this function's contract.
        unsafe { in_language!(self, decode::read, bytes, message.cast()) }
    }

    /// Initializes a message with its default values. Returns false if there is not enough memory
    /// for the defaults.
    ///
    /// # Safety
    /// `message` points to [`MessageProgram::size_of`] bytes of memory, aligned as by `malloc`.
    pub unsafe fn init(&self, message: *mut c_void) -> bool {
        if self.language == Language::C {
            // Zeros the memory first, because the C function does not set numbers without defaults.
            // SAFETY: by this function's contract, there are `size` bytes.
            unsafe { message.write_bytes(0, self.size) };
        }
        // SAFETY: by this function's contract.
        unsafe { shim::feros_message_init(self.init, message, ffi::MESSAGE_INIT_ALL) }
    }

    /// Finalizes a message, but does not free the memory of its struct.
    ///
    /// # Safety
    /// `message` is an initialized message of this type, which nobody uses afterwards.
    pub unsafe fn fini(&self, message: *mut c_void) {
        // SAFETY: by this function's contract.
        unsafe { shim::feros_message_fini(self.fini, message) };
    }
}
