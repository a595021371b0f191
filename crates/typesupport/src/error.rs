//! Why a type cannot be used, a message not be written, or bytes not be read.

use std::fmt;
use std::sync::Arc;

/// A field of a message, as errors name it.
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

    /// The type of the message that the field is one of, as `std_msgs/msg/String`.
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

/// Why no program was made of a type support. The cause lies in the library of the type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// There is no type support.
    #[error("the type support is null: pass the one that the type's package exports")]
    Null,
    /// The type support knows no introspection.
    #[error(
        "type support `{identifier}` gives no introspection of its type ({said}): build and install the type's package with rosidl_typesupport_introspection_c and rosidl_typesupport_introspection_cpp"
    )]
    NoIntrospection {
        /// Which type support was asked.
        identifier: String,
        /// What the type support said.
        said: String,
    },
    /// A part of the description that must be there is null.
    #[error(
        "the introspection of {message} has no {what}: rebuild the type's package with ROS 2 Kilted"
    )]
    Incomplete {
        /// The type's name, as far as it is known.
        message: String,
        /// What is missing.
        what: &'static str,
    },
    /// A field is of a kind that ROS 2 interfaces cannot have.
    #[error("field {field} is of type {kind}, which has no form on the wire: use another type")]
    Unsupported {
        /// Which field.
        field: Field,
        /// Name or number of the field's type.
        kind: String,
    },
    /// A field lies outside of its message.
    #[error(
        "field {field} takes bytes {start} to {end} of a message of {size} bytes: the type's package was built for another ROS 2 than Kilted"
    )]
    Outside {
        /// Which field.
        field: Field,
        /// Its first byte.
        start: usize,
        /// The byte after its last one.
        end: usize,
        /// Bytes of the message.
        size: usize,
    },
    /// Messages lie in each other too deeply.
    #[error("{message} lies {limit} messages deep in another one, the most there can be")]
    TooDeep {
        /// The type that is too deep.
        message: String,
        /// How deep messages may lie.
        limit: usize,
    },
}

/// Why a message was not written. The cause lies in the message, or in the memory for the bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A bounded string or sequence is longer than its type allows.
    #[error(
        "field {field} has length {len}, but its type allows at most {bound}: shorten it, or use a type without the bound"
    )]
    BoundExceeded {
        /// Which field.
        field: Field,
        /// Bytes of a string, code units of a wstring, elements of a sequence.
        len: usize,
        /// What the type allows.
        bound: usize,
    },
    /// A string holds a NUL character, at which C and C++ peers would cut it.
    #[error(
        "field {field} holds a NUL character at byte {position}, where peers would cut it: remove it, or use uint8[] for binary data"
    )]
    InteriorNul {
        /// Which field.
        field: Field,
        /// Where the first NUL is.
        position: usize,
    },
    /// A string or sequence has more elements than the 32-bit count on the wire can say.
    #[error(
        "field {field} has length {len}, which does not fit the 32-bit count on the wire: split it into several messages"
    )]
    TooLong {
        /// Which field.
        field: Field,
        /// How many elements there are.
        len: usize,
    },
    /// A string or sequence says that it has elements, but has no memory.
    #[error(
        "field {field} says it has length {len}, but its data is null: initialize the message before it is filled"
    )]
    NullData {
        /// Which field.
        field: Field,
        /// How many elements it claims.
        len: usize,
    },
    /// The memory to write to is shorter than the message.
    #[error(
        "the buffer has {capacity} bytes where at least {needed} are needed: provide as many as `serialized_len` says, and let no other thread change the message meanwhile"
    )]
    BufferTooSmall {
        /// Bytes needed up to the field that did not fit.
        needed: usize,
        /// Bytes there are.
        capacity: usize,
    },
}

/// Why bytes were refused. Offsets count from the start of the body, after the 4-byte header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There is no header, or it names another encoding than plain CDR.
    #[error(transparent)]
    Header(#[from] feros_cdr::DecodeError),
    /// The bytes end inside a field.
    #[error(
        "the sample ends early: field {field} at offset {offset} needs {needed} bytes, {remaining} are left; the sender's type may differ"
    )]
    Truncated {
        /// Which field, or the first one of several that lie side by side.
        field: Field,
        /// Where it starts.
        offset: usize,
        /// Bytes it needs.
        needed: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// A string or sequence claims more elements than the remaining bytes can hold.
    #[error(
        "field {field} at offset {offset} claims {count} elements of at least {element_bytes} bytes, {remaining} bytes are left: malformed, or the sender's type differs"
    )]
    CountTooLarge {
        /// Which field.
        field: Field,
        /// Where its first element would start.
        offset: usize,
        /// Elements claimed.
        count: usize,
        /// Least number of bytes that one element takes.
        element_bytes: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// A bounded string or sequence is longer than its type allows.
    #[error(
        "field {field} at offset {offset} has length {len} where its type allows at most {bound}: the sender's type differs"
    )]
    BoundExceeded {
        /// Which field.
        field: Field,
        /// Where its first element starts.
        offset: usize,
        /// Length received.
        len: usize,
        /// What the type allows.
        bound: usize,
    },
    /// A string does not end with NUL.
    #[error(
        "the string of {len} bytes of field {field} at offset {offset} does not end with NUL: malformed, or the sender's type differs"
    )]
    NotTerminated {
        /// Which field.
        field: Field,
        /// Where the characters start.
        offset: usize,
        /// Length claimed, the missing terminator included.
        len: usize,
    },
    /// A character of a wstring is no UTF-16 code unit.
    #[error(
        "the wstring of field {field} at offset {offset} holds {value:#x}, which is no UTF-16 code unit: malformed, or the sender's type differs"
    )]
    NotUtf16 {
        /// Which field.
        field: Field,
        /// Where the characters start.
        offset: usize,
        /// The first value above 0xffff.
        value: u32,
    },
    /// There was no memory for the elements.
    #[error(
        "there is no memory for the {count} elements of field {field}: free some, or take smaller messages"
    )]
    OutOfMemory {
        /// Which field.
        field: Field,
        /// How many elements it has.
        count: usize,
    },
}
