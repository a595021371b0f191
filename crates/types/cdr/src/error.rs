//! The errors that occur when values are written, messages are built, or bytes are read.

/// The reason why a value was not serialized. The cause is always in the value, or in the memory
/// into which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A bounded string or sequence is longer than its type allows.
    #[error(
        "field `{field}` has length {len}, but its type allows at most {bound}: shorten it, or use a type without the bound"
    )]
    BoundExceeded {
        /// The name of the field in its message.
        field: &'static str,
        /// The length of the value: bytes for a string, UTF-16 code units for a wstring, elements
        /// for a sequence.
        len: usize,
        /// The largest length that the type allows.
        bound: usize,
    },
    /// A string contains a NUL character, at which C and C++ programs would cut it.
    #[error(
        "a string holds a NUL character at byte {position}, where C and C++ programs would cut it: remove it, or use uint8[] for binary data"
    )]
    InteriorNul {
        /// The byte position of the first NUL inside the string.
        position: usize,
    },
    /// A string or sequence has more elements than the 32-bit count on the wire can express.
    #[error(
        "a string or sequence of length {len} does not fit the 32-bit count on the wire: split it into several messages"
    )]
    TooLong {
        /// The length of the value.
        len: usize,
    },
    /// The memory is shorter than the message to be written.
    #[error(
        "the buffer has {capacity} bytes, but at least {needed} are needed: provide the number of \
         bytes that `encoded_size` returns"
    )]
    BufferTooSmall {
        /// The number of bytes that are needed up to the end of the field that did not fit.
        needed: usize,
        /// The number of bytes that the buffer has.
        capacity: usize,
    },
}

/// The reason why a message was not built, or why its fields were not given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The shape violates its type, or the memory is too small for it.
    #[error(transparent)]
    Shape(#[from] EncodeError),
    /// The memory does not have the alignment that references to numbers in it require.
    #[error(
        "the body of the message, which begins at byte 4 of the memory, lies {excess_bytes} bytes \
         after a multiple of 8: lend memory that starts 4 bytes before a multiple of 8"
    )]
    Misaligned {
        /// The address of the body modulo 8.
        excess_bytes: usize,
    },
    /// The memory does not start with the CDR header in the byte order of this machine.
    #[error(
        "the memory does not start with the header of CDR in this machine's byte order: build the message first"
    )]
    NotBuilt,
    /// The memory does not contain a message that has been built.
    #[error(
        "the memory holds no message of this type at offset {offset} of its body: build it first, \
         and write to it only through its fields"
    )]
    Malformed {
        /// The offset of the field that cannot be given out.
        offset: usize,
    },
}

/// The reason why bytes were refused. Offsets are counted from the start of the body, which follows
/// the 4-byte header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The sample is shorter than the encapsulation header.
    #[error(
        "the sample has {len} bytes, fewer than its 4-byte header: it was truncated or is not CDR"
    )]
    NoHeader {
        /// The number of bytes that the sample has.
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
        "the sample ends early: {what} at offset {offset} needs {needed} bytes, but {remaining} \
         are left; the sender's type may differ"
    )]
    Truncated {
        /// The offset at which the value starts.
        offset: usize,
        /// The kind of the value.
        what: &'static str,
        /// The number of bytes that the value needs.
        needed: usize,
        /// The number of bytes that are left.
        remaining: usize,
    },
    /// A sequence claims more elements than the remaining bytes can hold.
    #[error(
        "the sequence at offset {offset} claims {count} elements of at least {element_bytes} \
         bytes, but {remaining} bytes are left: malformed, or the sender's type differs"
    )]
    CountTooLarge {
        /// The offset at which the first element would start.
        offset: usize,
        /// The number of elements that the sequence claims.
        count: usize,
        /// The smallest number of bytes that one element takes.
        element_bytes: usize,
        /// The number of bytes that are left.
        remaining: usize,
    },
    /// A bounded string or sequence is longer than its type allows.
    #[error(
        "field `{field}`, ending at offset {offset}, has length {len}, but its type allows at most \
         {bound}: the sender's type differs"
    )]
    BoundExceeded {
        /// The offset at which reading stopped.
        offset: usize,
        /// The name of the field in its message.
        field: &'static str,
        /// The length that was received.
        len: usize,
        /// The largest length that the type allows.
        bound: usize,
    },
    /// A string does not end with NUL.
    #[error(
        "the string of {len} bytes at offset {offset} does not end with NUL: malformed, or the sender's type differs"
    )]
    NotTerminated {
        /// The offset at which the characters start.
        offset: usize,
        /// The claimed length, including the missing terminator.
        len: usize,
    },
    /// A string is not UTF-8.
    #[error(
        "the string of {len} bytes at offset {offset} is not UTF-8 from its byte {valid_up_to} on: let the sender use uint8[] for binary data"
    )]
    NotUtf8 {
        /// The offset at which the characters start.
        offset: usize,
        /// The length without the terminator.
        len: usize,
        /// The number of valid bytes before the first invalid byte.
        valid_up_to: usize,
    },
    /// A character of a wstring is not a UTF-16 code unit.
    #[error(
        "the wstring at offset {offset} holds {value:#x}, which is not a UTF-16 code unit: malformed, or the sender's type differs"
    )]
    NotUtf16 {
        /// The offset at which the characters start.
        offset: usize,
        /// The first value above 0xffff.
        value: u32,
    },
}
