//! Builds messages directly in the memory that will be sent. A shape gives the sizes of the
//! variable parts. After that, every field is written at the place where the receiver will read it.

use std::fmt::Debug;

use crate::canvas::Canvas;
use crate::{BuildError, ByteOrder, Encode, EncodeError, Sizer, Splitter, Writer};

/// A message that can be written directly into memory that a transport lends.
///
/// This trait is generated for every message. A message is built in two steps. First, a
/// [`Shape`](Self::Shape) gives all sizes that the type leaves open:
///
/// | field | in the shape |
/// |---|---|
/// | a number, `bool`, arrays of them, a message without any variable part | nothing: its size is fixed |
/// | `string` | its content, `&str` |
/// | `wstring` | its content, the UTF-16 code units as `&[u16]` |
/// | a sequence whose elements have a fixed size | its length |
/// | a sequence of strings | their contents, `&[&str]` |
/// | a message with variable parts | its shape |
/// | a sequence of such messages | a slice of their shapes |
/// | an array of strings or of such messages | an array of their contents or shapes |
///
/// The shape cannot change after that. Second, [`Fields`](Self::Fields) give access to all other
/// values: `&mut u32`, `&mut [f32]`, `&mut [f64; 36]`, the fields of nested messages, and a
/// [`SequenceMut`](crate::SequenceMut) for sequences and arrays of messages. Fields start with the
/// default that the definition declares, or with zero. To avoid a second pass over long data,
/// **sequences of numbers are not cleared**: they keep the previous content of the memory, and the
/// builder of a message must write every element.
///
/// The fields of a message without variable parts also have a method `set`, which writes all fields
/// from an owned message.
///
/// The result has exactly the bytes that [`encode_into`](crate::encode_into) writes for an equal
/// owned message on a machine with the same byte order.
pub trait Build: Encode + Default {
    /// The sizes of the variable parts, or `()` if the message has no variable parts. The default
    /// shape is the shape of the default message.
    type Shape<'s>: Copy + Debug + Default;

    /// References to all fields in the memory: a struct with the same fields as the message,
    /// through which the program writes them.
    type Fields<'a>: Debug;

    /// Lays out a message of this shape on `canvas`, which counts or writes its bytes.
    ///
    /// # Errors
    ///
    /// Fails if the shape violates a bound, if a string in it contains a NUL, or if the memory is
    /// too small.
    fn lay_out<C: Canvas>(_shape: &Self::Shape<'_>, canvas: &mut C) -> Result<(), EncodeError> {
        canvas.fixed::<Self>(1)
    }

    /// Gives out the fields of a message that has been laid out.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a message of this type. After an error, the position of the
    /// splitter is unspecified.
    fn split<'a>(splitter: &mut Splitter<'a>) -> Result<Self::Fields<'a>, BuildError>;
}

/// Returns the exact number of bytes that a message of this shape takes when serialized, including
/// the 4-byte header.
///
/// # Errors
///
/// Fails with [`BuildError::Shape`] if the shape violates a bound, if a string in it contains a
/// NUL, or if a length in it is above `u32::MAX`.
pub fn shaped_size<M: Build>(shape: &M::Shape<'_>) -> Result<usize, BuildError> {
    let mut sizer = Sizer::with_header();
    M::lay_out(shape, &mut sizer)?;
    Ok(sizer.total_bytes())
}

/// Lays out a message of this shape in `buffer`, and gives out its fields. The message begins with
/// its header, and has the byte order of this machine. [`fields`] can give out the fields again
/// later, as often as needed.
///
/// The memory may have any content. It must have at least [`shaped_size`] bytes, and the address of
/// its byte 4 must be a multiple of 8. Bytes after the message are not changed. Sequences of
/// numbers are not cleared: see [`Build`].
///
/// # Errors
///
/// Fails with [`BuildError::Shape`] if the shape violates the type or the memory is too small, and
/// with [`BuildError::Misaligned`] if the address of byte 4 is not a multiple of 8.
pub fn build<'a, M: Build>(
    shape: &M::Shape<'_>,
    buffer: &'a mut [u8],
) -> Result<M::Fields<'a>, BuildError> {
    Splitter::check_alignment(buffer)?;
    let mut writer = Writer::with_byte_order(buffer, ByteOrder::NATIVE)?;
    M::lay_out(shape, &mut writer)?;
    fields::<M>(buffer)
}

/// Gives out the fields of a message that [`build`] has laid out in `buffer`. This writes nothing.
///
/// As with [`view_bytes`](crate::view_bytes), the time grows with the number of fields and not with
/// the size of the data. Only strings, sequences of `bool`, and sequences whose elements vary in
/// size are read completely.
///
/// # Errors
///
/// Fails with [`BuildError::Misaligned`] if the address of byte 4 is not a multiple of 8, and with
/// [`BuildError::NotBuilt`] or [`BuildError::Malformed`] if `buffer` does not contain an `M` that
/// [`build`] has laid out.
pub fn fields<M: Build>(buffer: &mut [u8]) -> Result<M::Fields<'_>, BuildError> {
    M::split(&mut Splitter::new(buffer)?)
}
