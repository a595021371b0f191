//! CDR (XCDR1) encoding, decoding and views. This is the only serialized form in Feros.
//!
//! A serialized message is a 4-byte encapsulation header followed by the body. A primitive of size
//! *n* is at a multiple of *n*, counted from the start of the body, so the body of a message can be
//! memory-mapped, copied, and read without decoding it. Four traits convert between values and
//! bytes:
//!
//! * [`Encode`] writes an owned value into memory whose exact size [`encoded_size`] returns;
//! * [`Decode`] makes an owned value from received bytes;
//! * [`View`] borrows from received bytes: strings, byte arrays, and sequences of numbers remain
//!   where they are;
//! * [`Build`] writes a message field by field, directly into the memory that will be sent.
//!
//! Sequences and arrays of primitives are copied as blocks if the byte order of the sample is the
//! byte order of the machine.
//!
//! # Choices that ROS 2 leaves open
//!
//! * A `string` that is not UTF-8 is refused ([`DecodeError::NotUtf8`]): owned strings and views
//!   are Rust strings. The raw bytes of such a sample remain available to a program that takes the
//!   sample undecoded.
//! * A string with a NUL inside is read as it is, but it is not written: C and C++ programs would
//!   silently cut it there.
//! * A string with an interior NUL is read as it is, but not written: C and C++ programs would
//!   silently cut it there.
//! * A `bool` byte other than 0 is read as `true`; only 0 and 1 are written.
//! * A `wstring` keeps its UTF-16 code units, paired or not, in a [`WString`].
//! * Bytes after the end of the message (padding of the transport) are ignored when reading.
//!
//! # Examples
//!
//! ```
//! let values = vec![1.5f64, -2.0];
//! let bytes = feros_cdr::to_vec(&values)?;
//! assert_eq!(bytes.len(), feros_cdr::encoded_size(&values));
//! let back: Vec<f64> = feros_cdr::from_bytes(&bytes)?;
//! assert_eq!(back, values);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `encode`, `writer`, `sizer` | encoding values, and computing their encoded size |
//! | `decode`, `reader` | decoding values from bytes |
//! | `view` | values that borrow from received bytes |
//! | `build`, `canvas`, `splitter`, `sequence_mut` | messages that are built in the memory to be sent |
//! | `layout`, `primitive`, `wstring`, `header` | memory layout, numbers, the text of `wstring`, the encapsulation header |
//! | `error` | the errors |
//!
//! # Invariants
//!
//! The crate has no `unsafe` code and does no input or output. Received bytes are hostile until
//! they have been checked: every count is compared with the number of remaining bytes before
//! anything is allocated, and malformed input causes a [`DecodeError`], never a panic.

mod build;
mod canvas;
mod decode;
mod encode;
mod error;
mod header;
mod layout;
mod primitive;
mod primitive_slice;
mod reader;
mod sequence_mut;
mod sizer;
mod splitter;
mod view;
mod writer;
mod wstring;

pub use build::{Build, build, fields, shaped_size};
pub use canvas::Canvas;
pub use decode::Decode;
pub use encode::Encode;
pub use error::{BuildError, DecodeError, EncodeError};
pub use header::{ByteOrder, HEADER_LEN};
pub use layout::Layout;
pub use primitive::Primitive;
pub use primitive_slice::{PrimitiveSlice, WStringView};
pub use reader::Reader;
pub use sequence_mut::{SequenceMut, SequenceMutIter};
pub use sizer::Sizer;
pub use splitter::Splitter;
pub use view::{SequenceView, SequenceViewIter, View};
pub use writer::{Writer, check_bound};
pub use wstring::WString;

/// Returns the exact number of bytes that `value` takes when serialized, including the 4-byte
/// header.
#[must_use]
pub fn encoded_size<T: Encode + ?Sized>(value: &T) -> usize {
    let mut sizer = Sizer::with_header();
    value.size(&mut sizer);
    sizer.total_bytes()
}

/// Serializes `value` into `buffer`, beginning with the header, and returns the number of bytes
/// written.
///
/// The memory may have any content, because padding is written as zero. It should have at least
/// [`encoded_size`] bytes. All bytes after these are not changed.
///
/// # Errors
///
/// Fails with [`EncodeError::BufferTooSmall`] if `buffer` is too short. Other errors tell how the
/// value violates its type (a bound, or a NUL in a string). After an error, the content of `buffer`
/// is unspecified.
pub fn encode_into<T: Encode + ?Sized>(value: &T, buffer: &mut [u8]) -> Result<usize, EncodeError> {
    let mut writer = Writer::new(buffer)?;
    value.encode(&mut writer)?;
    Ok(writer.written_bytes())
}

/// Serializes `value` into a new vector, including the header.
///
/// # Errors
///
/// Fails if the value violates a bound, if a string in it contains a NUL, or if it has more than
/// `u32::MAX` elements.
pub fn to_vec<T: Encode + ?Sized>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut buffer = vec![0; encoded_size(value)];
    let written = encode_into(value, &mut buffer)?;
    debug_assert_eq!(written, buffer.len(), "Encode::size and Encode::encode disagree");
    Ok(buffer)
}

/// Decodes an owned value from serialized bytes that start with the 4-byte header. Trailing bytes
/// are ignored.
///
/// # Errors
///
/// A [`DecodeError`] with the offset and the cause, if the bytes are not a `T`.
pub fn from_bytes<T: Decode>(bytes: &[u8]) -> Result<T, DecodeError> {
    T::decode(&mut Reader::new(bytes)?)
}

/// Borrows a value from serialized bytes that start with the 4-byte header. Trailing bytes are
/// ignored.
///
/// # Errors
///
/// A [`DecodeError`] with the offset and the cause, if the bytes are not a value that `V` can
/// borrow.
pub fn view_bytes<'a, V: View<'a>>(bytes: &'a [u8]) -> Result<V, DecodeError> {
    V::read(&mut Reader::new(bytes)?)
}
