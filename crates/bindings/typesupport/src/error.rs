//! The reasons why a type cannot be used, a message cannot be written, or bytes cannot be read.

use std::fmt;
use std::sync::Arc;

/// A field of a message, named in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    name: Arc<str>,
    message: Arc<str>,
}

impl Field {
    pub(crate) fn new(name: &str, message: &Arc<str>) -> Self {
        Self { name: name.into(), message: Arc::clone(message) }
    }

    /// The name of the field.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the message that has the field, such as `std_msgs/msg/String`.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of {}", self.name, self.message)
    }
}

/// The reason why a type support was not compiled. The cause lies in the library of the type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The pointer to the type support is null.
    #[error("the type support is null: pass the one that the type's package exports")]
    Null,
    /// The type support does not provide an introspection type support of its type.
    #[error(
        "type support `{identifier}` does not give the introspection of its type ({said}): build \
         and install the type's package with rosidl_typesupport_introspection_c and \
         rosidl_typesupport_introspection_cpp"
    )]
    NoIntrospection {
        /// The identifier of the type support.
        identifier: String,
        /// The error that the type support reported.
        said: String,
    },
    /// A required part of the description is null.
    #[error(
        "the introspection of {message} has no {what}: rebuild the type's package with the ROS 2 \
         that runs the program"
    )]
    Incomplete {
        /// The name of the type, as far as it is known.
        message: String,
        /// The missing part.
        what: &'static str,
    },
    /// A field is of a kind that ROS 2 interfaces cannot have.
    #[error("field {field} is of type {kind}, which has no serialized form: use another type")]
    Unsupported {
        /// The field.
        field: Field,
        /// The name or number of the field's type.
        kind: String,
    },
    /// A field does not lie within its message.
    #[error(
        "field {field} takes bytes {start} to {end} of a message of {size} bytes: rebuild the \
         type's package with the ROS 2 that runs the program"
    )]
    Outside {
        /// The field.
        field: Field,
        /// The offset of the first byte of the field.
        start: usize,
        /// The offset of the byte after the last byte of the field.
        end: usize,
        /// The size of the message, in bytes.
        size: usize,
    },
    /// A field is described as a `rosidl::Buffer`, but is not an unbounded sequence of `uint8`.
    #[error(
        "field {field} is a rosidl::Buffer, which is supported only for uint8[] without a bound: \
         rebuild the type's package with the ROS 2 that runs the program"
    )]
    OtherBuffer {
        /// The field.
        field: Field,
    },
    /// Messages are nested too deeply.
    #[error("{message} is nested more than {limit} messages deep, which is not supported")]
    TooDeep {
        /// The type that is nested too deeply.
        message: String,
        /// The limit on levels of nested messages.
        limit: usize,
    },
}

/// The reason why a message was not written. The cause lies in the message or the output buffer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A bounded string or sequence is longer than its type allows.
    #[error(
        "field {field} has length {len}, but its type allows at most {bound}: shorten it, or use a type without the bound"
    )]
    BoundExceeded {
        /// The field.
        field: Field,
        /// The number of bytes of a string, code units of a wstring, or elements of a sequence.
        len: usize,
        /// The maximum length that the type allows.
        bound: usize,
    },
    /// A string contains a NUL character, at which C and C++ receivers would cut the string off.
    #[error(
        "field {field} holds a NUL character at byte {position}, where receivers would cut it: remove it, or use uint8[] for binary data"
    )]
    InteriorNul {
        /// The field.
        field: Field,
        /// The position of the first NUL.
        position: usize,
    },
    /// A string or sequence has more elements than the 32-bit count on the wire can hold.
    #[error(
        "field {field} has length {len}, which does not fit the 32-bit count on the wire: split it into several messages"
    )]
    TooLong {
        /// The field.
        field: Field,
        /// The number of elements.
        len: usize,
    },
    /// A string or sequence has a length above 0, but its data pointer is null.
    #[error(
        "field {field} has length {len}, but its data is null: initialize the message before it is filled"
    )]
    NullData {
        /// The field.
        field: Field,
        /// The length that the string or sequence claims to have.
        len: usize,
    },
    /// The bytes of a `rosidl::Buffer` are outside of the memory of the CPU.
    #[error(
        "field {field} is a rosidl::Buffer whose bytes are not in the memory of the CPU ({said}): \
         copy them there, such as with to_vector(), before the message is published"
    )]
    NotOnCpu {
        /// The field.
        field: Field,
        /// The text of the exception, or the flag of a C sequence, that says so.
        said: String,
    },
    /// The output buffer is shorter than the message.
    #[error(
        "the buffer has {capacity} bytes, but at least {needed} are needed: provide the number of \
         bytes that `serialized_len` returns, and let no other thread change the message meanwhile"
    )]
    BufferTooSmall {
        /// The number of bytes needed up to the end of the field that did not fit.
        needed: usize,
        /// The size of the buffer, in bytes.
        capacity: usize,
    },
}

/// The reason why bytes were refused. Offsets count from the start of the body, after the 4-byte
/// header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There is no header, or the header names an encoding other than plain CDR.
    #[error(transparent)]
    Header(#[from] feros_cdr::DecodeError),
    /// The bytes end inside a field.
    #[error(
        "the sample ends early: field {field} at offset {offset} needs {needed} bytes, but \
         {remaining} are left; the sender's type may differ"
    )]
    Truncated {
        /// The field, or the first one of several adjacent fields.
        field: Field,
        /// The offset where the field starts.
        offset: usize,
        /// The number of bytes that the field needs.
        needed: usize,
        /// The number of remaining bytes.
        remaining: usize,
    },
    /// A string or sequence claims more elements than the remaining bytes can hold.
    #[error(
        "field {field} at offset {offset} claims {count} elements of at least {element_bytes} \
         bytes, but {remaining} bytes are left: malformed, or the sender's type differs"
    )]
    CountTooLarge {
        /// The field.
        field: Field,
        /// The offset where the first element would start.
        offset: usize,
        /// The number of elements claimed.
        count: usize,
        /// The minimum size of one element, in bytes.
        element_bytes: usize,
        /// The number of remaining bytes.
        remaining: usize,
    },
    /// A bounded string or sequence is longer than its type allows.
    #[error(
        "field {field} at offset {offset} has length {len}, but its type allows at most {bound}: \
         the sender's type differs"
    )]
    BoundExceeded {
        /// The field.
        field: Field,
        /// The offset where the first element starts.
        offset: usize,
        /// The length received.
        len: usize,
        /// The maximum length that the type allows.
        bound: usize,
    },
    /// A string does not end with NUL.
    #[error(
        "the string of {len} bytes of field {field} at offset {offset} does not end with NUL: malformed, or the sender's type differs"
    )]
    NotTerminated {
        /// The field.
        field: Field,
        /// The offset where the characters start.
        offset: usize,
        /// The length claimed, including the missing terminator.
        len: usize,
    },
    /// A character of a wstring is not a UTF-16 code unit.
    #[error(
        "the wstring of field {field} at offset {offset} holds {value:#x}, which is not a UTF-16 code unit: malformed, or the sender's type differs"
    )]
    NotUtf16 {
        /// The field.
        field: Field,
        /// The offset where the characters start.
        offset: usize,
        /// The first value above 0xffff.
        value: u32,
    },
    /// The message to fill has a `rosidl::Buffer` outside of the memory of the CPU.
    #[error(
        "field {field} of the message to fill is a rosidl::Buffer outside of the memory of the CPU \
         ({said}): take into a new message"
    )]
    NotOnCpu {
        /// The field.
        field: Field,
        /// The text of the exception, or the flag of a C sequence, that says so.
        said: String,
    },
    /// There was not enough memory for the elements.
    #[error(
        "there is not enough memory for the {count} elements of field {field}: free some, or use \
         smaller messages"
    )]
    OutOfMemory {
        /// The field.
        field: Field,
        /// The number of elements.
        count: usize,
    },
}
