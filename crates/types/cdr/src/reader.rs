//! Reads CDR from untrusted bytes.

use crate::header;
use crate::layout::align_up;
use crate::{ByteOrder, DecodeError, Layout, Primitive, PrimitiveSlice, WStringView};

/// Reads values from borrowed bytes, one after the other, each at its alignment.
///
/// A reader is cheap to copy, and a copy marks a position to return to. The bytes need no alignment
/// in memory.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    body: &'a [u8],
    position: usize,
    swap: bool,
}

impl<'a> Reader<'a> {
    /// Starts reading a message at its 4-byte header.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::NoHeader`] or [`DecodeError::UnsupportedEncoding`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let (order, body) = header::split(bytes)?;
        Ok(Self::from_body(body, order))
    }

    /// Starts reading a body whose header has been removed.
    #[must_use]
    pub fn from_body(body: &'a [u8], order: ByteOrder) -> Self {
        Self { body, position: 0, swap: order != ByteOrder::NATIVE }
    }

    /// Returns the offset in the body of the next byte to be read, before alignment.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the number of bytes that are left.
    #[must_use]
    pub fn remaining_bytes(&self) -> usize {
        self.body.len().saturating_sub(self.position)
    }

    /// Reads one primitive.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`].
    #[inline]
    pub fn read<T: Primitive>(&mut self) -> Result<T, DecodeError> {
        let swap = self.swap;
        Ok(T::load(self.take(T::SIZE, T::SIZE, T::NAME)?, swap))
    }

    /// Reads the count of a sequence whose elements take at least `element_bytes` each, and refuses
    /// a count whose elements cannot fit in the remaining bytes. It is therefore safe to allocate
    /// this many elements.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`] or [`DecodeError::CountTooLarge`].
    #[inline]
    pub fn read_count(&mut self, element_bytes: usize) -> Result<usize, DecodeError> {
        let count = self.read::<u32>()? as usize;
        let remaining = self.remaining_bytes();
        if count > remaining / element_bytes.max(1) {
            return Err(DecodeError::CountTooLarge {
                offset: self.position,
                count,
                element_bytes,
                remaining,
            });
        }
        Ok(count)
    }

    /// Borrows `count` primitives in a row.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`].
    #[inline]
    pub fn read_slice<T: Primitive>(
        &mut self,
        count: usize,
    ) -> Result<PrimitiveSlice<'a, T>, DecodeError> {
        if count == 0 {
            return Ok(PrimitiveSlice::default());
        }
        let swap = self.swap;
        Ok(PrimitiveSlice::new(self.take(T::SIZE, T::SIZE.saturating_mul(count), T::NAME)?, swap))
    }

    /// Reads the count of a sequence of primitives, and borrows its elements.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`] or [`DecodeError::CountTooLarge`].
    #[inline]
    pub fn read_sequence<T: Primitive>(&mut self) -> Result<PrimitiveSlice<'a, T>, DecodeError> {
        let count = self.read_count(T::SIZE)?;
        self.read_slice(count)
    }

    /// Borrows `len` bytes.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`].
    #[inline]
    pub fn read_bytes(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        self.take(1, len, "bytes")
    }

    /// Reads the count of a sequence of bytes, and borrows the bytes.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`] or [`DecodeError::CountTooLarge`].
    #[inline]
    pub fn read_byte_sequence(&mut self) -> Result<&'a [u8], DecodeError> {
        let count = self.read_count(1)?;
        self.read_bytes(count)
    }

    /// Borrows an array of `N` bytes.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`].
    #[inline]
    pub fn read_byte_array<const N: usize>(&mut self) -> Result<&'a [u8; N], DecodeError> {
        let offset = self.position;
        let remaining = self.remaining_bytes();
        self.read_bytes(N)?.try_into().map_err(|_| DecodeError::Truncated {
            offset,
            what: "bytes",
            needed: N,
            remaining,
        })
    }

    /// Borrows a string.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`], [`DecodeError::CountTooLarge`],
    /// [`DecodeError::NotTerminated`] or [`DecodeError::NotUtf8`].
    pub fn read_str(&mut self) -> Result<&'a str, DecodeError> {
        let len = self.read_count(1)?;
        if len == 0 {
            return Ok("");
        }
        let offset = self.position;
        let Some((&0, text)) = self.take(1, len, "string")?.split_last() else {
            return Err(DecodeError::NotTerminated { offset, len });
        };
        std::str::from_utf8(text).map_err(|error| DecodeError::NotUtf8 {
            offset,
            len: text.len(),
            valid_up_to: error.valid_up_to(),
        })
    }

    /// Borrows a wstring.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::Truncated`], [`DecodeError::CountTooLarge`] or
    /// [`DecodeError::NotUtf16`].
    pub fn read_wstr(&mut self) -> Result<WStringView<'a>, DecodeError> {
        let count = self.read_count(4)?;
        let offset = self.position;
        let units = self.read_slice::<u32>(count)?;
        match units.iter().find(|&unit| unit > u32::from(u16::MAX)) {
            Some(value) => Err(DecodeError::NotUtf16 { offset, value }),
            None => Ok(WStringView::new(units)),
        }
    }

    /// Refuses a length above the bound of a field's type.
    ///
    /// # Errors
    ///
    /// Fails with [`DecodeError::BoundExceeded`].
    #[inline]
    pub fn check_bound(
        &self,
        field: &'static str,
        len: usize,
        bound: usize,
    ) -> Result<(), DecodeError> {
        if len > bound {
            return Err(DecodeError::BoundExceeded { offset: self.position, field, len, bound });
        }
        Ok(())
    }

    /// Skips a value of a fixed layout.
    #[inline]
    pub(crate) fn skip_layout(&mut self, layout: Layout) -> Result<(), DecodeError> {
        self.take(layout.align(), layout.size(), "struct").map(drop)
    }

    /// Takes the next `len` bytes at the given alignment.
    #[inline]
    fn take(
        &mut self,
        align: usize,
        len: usize,
        what: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        let start = align_up(self.position, align);
        let end = start.saturating_add(len);
        let Some(bytes) = self.body.get(start..end) else {
            return Err(self.truncated(start, len, what));
        };
        self.position = end;
        Ok(bytes)
    }

    #[cold]
    fn truncated(&self, offset: usize, needed: usize, what: &'static str) -> DecodeError {
        DecodeError::Truncated {
            offset,
            what,
            needed,
            remaining: self.body.len().saturating_sub(offset),
        }
    }
}
