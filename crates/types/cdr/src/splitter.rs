//! Divides the memory of a message into its fields, so that each field can be written there.

use std::mem;

use crate::layout::align_up;
use crate::{
    BuildError, ByteOrder, DecodeError, HEADER_LEN, Layout, Primitive, Reader, SequenceView,
    WStringView,
};

/// The address of the body must be a multiple of this number, which is the strictest alignment in
/// CDR.
const BODY_ALIGN: usize = 8;

/// Gives out the fields of a message one after the other, like [`Reader`], but for writing.
///
/// Generated code uses this type. Every byte is given out at most once, so that all fields of a
/// message can be used at the same time.
#[derive(Debug)]
pub struct Splitter<'a> {
    /// The bytes that have not been given out yet.
    rest: &'a mut [u8],
    /// The offset of `rest` in the body.
    position: usize,
}

impl<'a> Splitter<'a> {
    /// Starts at the message in `buffer`, after its header.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Misaligned`] or [`BuildError::NotBuilt`].
    pub fn new(buffer: &'a mut [u8]) -> Result<Self, BuildError> {
        Self::check_alignment(buffer)?;
        match buffer.split_at_mut_checked(HEADER_LEN) {
            Some((header, rest)) if header[..2] == ByteOrder::NATIVE.header()[..2] => {
                Ok(Self { rest, position: 0 })
            }
            _ => Err(BuildError::NotBuilt),
        }
    }

    /// Refuses memory in which numbers would not be aligned.
    pub(crate) fn check_alignment(buffer: &[u8]) -> Result<(), BuildError> {
        match buffer.as_ptr().addr().wrapping_add(HEADER_LEN) % BODY_ALIGN {
            0 => Ok(()),
            excess_bytes => Err(BuildError::Misaligned { excess_bytes }),
        }
    }

    /// Gives out one primitive.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    #[inline]
    pub fn value<T: Primitive>(&mut self) -> Result<&'a mut T, BuildError> {
        let [value] = self.array::<T, 1>()?;
        Ok(value)
    }

    /// Gives out an array of primitives.
    ///
    /// # Errors
    ///
    /// Fails like [`value`](Self::value).
    #[inline]
    pub fn array<T: Primitive, const N: usize>(&mut self) -> Result<&'a mut [T; N], BuildError> {
        let offset = self.position;
        self.slice(N)?.try_into().map_err(|_| BuildError::Malformed { offset })
    }

    /// Gives out a sequence of primitives.
    ///
    /// # Errors
    ///
    /// Fails like [`value`](Self::value).
    #[inline]
    pub fn sequence<T: Primitive>(&mut self) -> Result<&'a mut [T], BuildError> {
        let len = self.count(T::SIZE)?;
        self.slice(len)
    }

    /// Gives out a string, which was written with the shape.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    pub fn string(&mut self) -> Result<&'a str, BuildError> {
        self.read_texts(1, 1, Reader::read_str)
    }

    /// Gives out a wstring, which was written with the shape.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    pub fn wstring(&mut self) -> Result<WStringView<'a>, BuildError> {
        self.read_texts(1, 4, Reader::read_wstr)
    }

    /// Gives out a sequence of strings, which were written with the shape.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    pub fn strings(&mut self) -> Result<SequenceView<'a, &'a str>, BuildError> {
        let len = self.count(4)?;
        self.string_array(len)
    }

    /// Gives out a sequence of wstrings, which were written with the shape.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    pub fn wstrings(&mut self) -> Result<SequenceView<'a, WStringView<'a>>, BuildError> {
        let len = self.count(4)?;
        self.wstring_array(len)
    }

    /// Gives out an array of strings, which were written with the shape.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    pub fn string_array(&mut self, len: usize) -> Result<SequenceView<'a, &'a str>, BuildError> {
        self.read_texts(len, 1, |reader| SequenceView::read_array(reader, len))
    }

    /// Gives out an array of wstrings, which were written with the shape.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    pub fn wstring_array(
        &mut self,
        len: usize,
    ) -> Result<SequenceView<'a, WStringView<'a>>, BuildError> {
        self.read_texts(len, 4, |reader| SequenceView::read_array(reader, len))
    }

    /// Skips the placeholder member that a message without fields has on the wire.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`].
    #[inline]
    pub fn nothing(&mut self) -> Result<(), BuildError> {
        self.take(1, 1).map(drop)
    }

    /// Returns a splitter of the same remaining bytes. Using it does not advance this splitter.
    pub(crate) fn reborrow(&mut self) -> Splitter<'_> {
        Splitter { rest: self.rest, position: self.position }
    }

    /// Takes the bytes over which `walk` passes, which receives a splitter of the same bytes, and
    /// returns a splitter of them.
    pub(crate) fn take_walked(
        &mut self,
        walk: impl FnOnce(&mut Splitter<'_>) -> Result<(), BuildError>,
    ) -> Result<Self, BuildError> {
        let position = self.position;
        let mut walked = self.reborrow();
        walk(&mut walked)?;
        let bytes = walked.position - position;
        Ok(Self { rest: self.take(1, bytes)?, position })
    }

    /// Skips values of a fixed layout.
    pub(crate) fn skip_layout(&mut self, layout: Layout) -> Result<(), BuildError> {
        self.take(layout.align(), layout.size()).map(drop)
    }

    /// Reads the count of a sequence whose elements take at least `element_bytes` each.
    pub(crate) fn count(&mut self, element_bytes: usize) -> Result<usize, BuildError> {
        let count = *self.value::<u32>()? as usize;
        if count > self.rest.len() / element_bytes {
            return Err(BuildError::Malformed { offset: self.position });
        }
        Ok(count)
    }

    #[inline]
    fn slice<T: Primitive>(&mut self, count: usize) -> Result<&'a mut [T], BuildError> {
        if count == 0 {
            return Ok(&mut []);
        }
        let bytes = self.take(T::SIZE, T::SIZE.saturating_mul(count))?;
        let offset = self.position - bytes.len();
        // The body and every position in it are aligned, so only a bool can be invalid.
        T::cast_mut(bytes).ok_or(BuildError::Malformed { offset })
    }

    /// Returns the result of `read` for the next `len` strings, whose characters have `unit_bytes`
    /// bytes each. Strings are given out only for reading.
    fn read_texts<V>(
        &mut self,
        len: usize,
        unit_bytes: usize,
        read: impl FnOnce(&mut Reader<'a>) -> Result<V, DecodeError>,
    ) -> Result<V, BuildError> {
        // If positions are counted from a multiple of 4, they are aligned like positions in the
        // body, because strings need an alignment of at most 4.
        self.take(4, 0)?;
        let offset = self.position;
        let mut end = 0;
        for _ in 0..len {
            let start = align_up(end, 4);
            let count = self.rest.get(start..).and_then(|rest| rest.first_chunk());
            let count =
                u32::from_ne_bytes(*count.ok_or(BuildError::Malformed { offset })?) as usize;
            end = start
                .saturating_add(4)
                .saturating_add(count.saturating_mul(unit_bytes))
                .min(self.rest.len());
        }
        let bytes: &'a [u8] = self.take(1, end)?;
        let mut reader = Reader::from_body(bytes, ByteOrder::NATIVE);
        read(&mut reader).map_err(|_| BuildError::Malformed { offset })
    }

    /// Takes the next `len` bytes at the given alignment.
    #[inline]
    fn take(&mut self, align: usize, len: usize) -> Result<&'a mut [u8], BuildError> {
        let padding = align_up(self.position, align) - self.position;
        match padding.checked_add(len) {
            Some(end) if end <= self.rest.len() => {
                let (head, rest) = mem::take(&mut self.rest).split_at_mut(end);
                self.rest = rest;
                self.position += end;
                Ok(&mut head[padding..])
            }
            _ => Err(BuildError::Malformed { offset: self.position }),
        }
    }
}
