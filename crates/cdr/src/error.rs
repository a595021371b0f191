//! The errors of writing values, building messages in place and reading bytes.

/// Why a value was not serialized. The cause always lies in the value or in the memory for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A bounded string or sequence is longer than its type allows.
    #[error(
        "field `{field}` has length {len}, but its type allows at most {bound}: shorten it, or use a type without the bound"
    )]
    BoundExceeded {
        /// Name of the field in its message.
        field: &'static str,
        /// Length of the value: bytes of a string, UTF-16 code units of a wstring, elements of a
        /// sequence.
        len: usize,
        /// The greatest length that the type allows.
        bound: usize,
    },
    /// A string holds a NUL character, at which C and C++ programs would cut it.
    #[error(
        "a string holds a NUL character at byte {position}, where C and C++ programs would cut it: remove it, or use uint8[] for binary data"
    )]
    InteriorNul {
        /// Byte position of the first NUL inside the string.
        position: usize,
    },
    /// A string or sequence has more elements than the 32-bit count on the wire can express.
    #[error(
        "a string or sequence of length {len} does not fit the 32-bit count on the wire: split it into several messages"
    )]
    TooLong {
        /// Length of the value.
        len: usize,
    },
    /// The memory to write to is shorter than the message.
    #[error(
        "the buffer has {capacity} bytes where at least {needed} are needed: provide as many as `encoded_size` says"
    )]
    BufferTooSmall {
        /// Bytes needed up to the field that did not fit.
        needed: usize,
        /// Bytes that the buffer has.
        capacity: usize,
    },
}

/// Why a message was not built in place, or its fields were not handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The shape violates its type, or the memory is too small for it.
    #[error(transparent)]
    Shape(#[from] EncodeError),
    /// The memory is not aligned for writing numbers in place.
    #[error(
        "the body of the message, byte 4 of its memory, lies {excess_bytes} bytes after a multiple of 8: lend memory that starts 4 bytes before one"
    )]
    Misaligned {
        /// The address of the body modulo 8.
        excess_bytes: usize,
    },
    /// The memory does not start with the header of CDR in the byte order of this machine.
    #[error(
        "the memory does not start with the header of CDR in this machine's byte order: build the message first"
    )]
    NotBuilt,
    /// The memory does not hold a built message.
    #[error(
        "the memory holds no message of this type at offset {offset} of its body: build it first, and write to it through its fields only"
    )]
    Malformed {
        /// Offset of the field that cannot be handed out.
        offset: usize,
    },
}

/// Why bytes were refused. Offsets count from the start of the body, after the 4-byte header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The sample is shorter than the encapsulation header.
    #[error(
        "the sample has {len} bytes, fewer than its 4-byte header: it was truncated or is not CDR"
    )]
    NoHeader {
        /// Bytes that the sample has.
        len: usize,
    },
    /// The header names an encoding other than plain CDR (XCDR1).
    #[error(
        "the sample is encoded as {name}, identifier {:02x} {:02x}, but ROS 2 uses plain CDR (00 00 or 00 01): let the sender offer XCDR1",
        identifier[0], identifier[1]
    )]
    UnsupportedEncoding {
        /// The first two bytes of the sample.
        identifier: [u8; 2],
        /// The name of the encoding in the DDS standard.
        name: &'static str,
    },
    /// The bytes end inside a value.
    #[error(
        "the sample ends early: {what} at offset {offset} needs {needed} bytes, {remaining} are left; the sender's type may differ"
    )]
    Truncated {
        /// Where the value starts.
        offset: usize,
        /// Kind of the value.
        what: &'static str,
        /// Bytes that the value needs.
        needed: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// A sequence claims more elements than the remaining bytes can hold.
    #[error(
        "the sequence at offset {offset} claims {count} elements of at least {element_bytes} bytes, {remaining} bytes are left: malformed, or the sender's type differs"
    )]
    CountTooLarge {
        /// Where the first element would start.
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
        "field `{field}`, ending at offset {offset}, has length {len} where its type allows at most {bound}: the sender's type differs"
    )]
    BoundExceeded {
        /// Where reading stopped.
        offset: usize,
        /// Name of the field in its message.
        field: &'static str,
        /// Length received.
        len: usize,
        /// The greatest length that the type allows.
        bound: usize,
    },
    /// A string does not end with NUL.
    #[error(
        "the string of {len} bytes at offset {offset} does not end with NUL: malformed, or the sender's type differs"
    )]
    NotTerminated {
        /// Where the characters start.
        offset: usize,
        /// Length claimed, the missing terminator included.
        len: usize,
    },
    /// A string is not UTF-8.
    #[error(
        "the string of {len} bytes at offset {offset} is not UTF-8 from its byte {valid_up_to} on: let the sender use uint8[] for binary data"
    )]
    NotUtf8 {
        /// Where the characters start.
        offset: usize,
        /// Length without the terminator.
        len: usize,
        /// Number of valid bytes before the first invalid one.
        valid_up_to: usize,
    },
    /// A character of a wstring is not a UTF-16 code unit.
    #[error(
        "the wstring at offset {offset} holds {value:#x}, which is not a UTF-16 code unit: malformed, or the sender's type differs"
    )]
    NotUtf16 {
        /// Where the characters start.
        offset: usize,
        /// The first value above 0xffff.
        value: u32,
    },
}
