//! Writes CDR into memory that the transport lends.

use crate::layout::align_up;
use crate::{ByteOrder, EncodeError, HEADER_LEN, Layout, Primitive};

/// Writes values into borrowed memory, one after the other, each at its alignment.
///
/// The memory may have any content. Padding is written as zero, so no old content is sent.
#[derive(Debug)]
pub struct Writer<'a> {
    body: &'a mut [u8],
    position: usize,
    swap: bool,
}

impl<'a> Writer<'a> {
    /// Starts a message in `buffer` with its header. The byte order is little-endian, as is usual
    /// in ROS 2.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BufferTooSmall`] if the header does not fit.
    pub fn new(buffer: &'a mut [u8]) -> Result<Self, EncodeError> {
        Self::with_byte_order(buffer, ByteOrder::Little)
    }

    /// Starts a message in `buffer` with its header in the given byte order.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BufferTooSmall`] if the header does not fit.
    pub fn with_byte_order(buffer: &'a mut [u8], order: ByteOrder) -> Result<Self, EncodeError> {
        let capacity = buffer.len();
        let Some((header, body)) = buffer.split_at_mut_checked(HEADER_LEN) else {
            return Err(EncodeError::BufferTooSmall { needed: HEADER_LEN, capacity });
        };
        header.copy_from_slice(&order.header());
        Ok(Self { body, position: 0, swap: order != ByteOrder::NATIVE })
    }

    /// Returns the number of bytes written so far, including the header.
    #[must_use]
    pub fn written_bytes(&self) -> usize {
        HEADER_LEN + self.position
    }

    /// Writes one primitive.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn write<T: Primitive>(&mut self, value: T) -> Result<(), EncodeError> {
        let swap = self.swap;
        value.store(self.claim(T::SIZE, T::SIZE)?, swap);
        Ok(())
    }

    /// Writes primitives in a row as one block, without a count. If `items` is empty, nothing is
    /// written, not even alignment.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn write_slice<T: Primitive>(&mut self, items: &[T]) -> Result<(), EncodeError> {
        if items.is_empty() {
            return Ok(());
        }
        let swap = self.swap;
        T::store_block(items, self.claim(T::SIZE, size_of_val(items))?, swap);
        Ok(())
    }

    /// Returns the memory of `count` primitives in a row. The caller must write the primitives in
    /// the byte order of the message. If `count` is 0, the memory is empty and not aligned.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn reserve_slice<T: Primitive>(&mut self, count: usize) -> Result<&mut [u8], EncodeError> {
        if count == 0 {
            return Ok(&mut []);
        }
        self.claim(T::SIZE, T::SIZE.saturating_mul(count))
    }

    /// Lends the next `len` bytes to `fill`, which returns whether it wrote all of them. The bytes
    /// are not aligned, and may have any content. If `fill` returns false, none of the bytes count
    /// as written. Returns the result of `fill`.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn write_if(
        &mut self,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<bool, EncodeError> {
        let before = self.position;
        let is_written = fill(self.claim(1, len)?);
        if !is_written {
            self.position = before;
        }
        Ok(is_written)
    }

    /// Returns the number of bytes written so far after the header. Alignment is counted from
    /// there.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns a writer for values of a fixed layout, with the same alignment as in this writer.
    pub(crate) fn reserve_layout(&mut self, layout: Layout) -> Result<Writer<'_>, EncodeError> {
        let swap = self.swap;
        Ok(Writer { body: self.claim(layout.align(), layout.size())?, position: 0, swap })
    }

    /// Returns the memory after the header, including the part that has not been written.
    pub(crate) fn into_body(self) -> &'a mut [u8] {
        self.body
    }

    /// Writes the count of a sequence.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::TooLong`] if `len` does not fit into 32 bits, and with
    /// [`EncodeError::BufferTooSmall`] if the count does not fit into the buffer.
    #[inline]
    pub fn write_count(&mut self, len: usize) -> Result<(), EncodeError> {
        let count = u32::try_from(len).map_err(|_| EncodeError::TooLong { len })?;
        self.write(count)
    }

    /// Writes a string: its length including the terminator, the bytes, and the terminator.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::InteriorNul`], [`EncodeError::TooLong`] or
    /// [`EncodeError::BufferTooSmall`].
    pub fn write_string(&mut self, value: &str) -> Result<(), EncodeError> {
        let bytes = value.as_bytes();
        if bytes.contains(&0) {
            let position = bytes.iter().position(|&byte| byte == 0).unwrap_or_default();
            return Err(EncodeError::InteriorNul { position });
        }
        self.write_count(bytes.len() + 1)?;
        let out = self.claim(1, bytes.len() + 1)?;
        let (text, terminator) = out.split_at_mut(bytes.len());
        text.copy_from_slice(bytes);
        terminator.fill(0);
        Ok(())
    }

    /// Writes a wstring: the number of UTF-16 code units, then each unit in four bytes, without a
    /// terminator.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::TooLong`] or [`EncodeError::BufferTooSmall`].
    pub fn write_wstring(&mut self, units: &[u16]) -> Result<(), EncodeError> {
        self.write_count(units.len())?;
        for &unit in units {
            self.write(u32::from(unit))?;
        }
        Ok(())
    }

    /// Refuses a length above the bound of a field's type. Bounds are not on the wire, so they are
    /// enforced here.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BoundExceeded`].
    #[inline]
    pub fn check_bound(
        &self,
        field: &'static str,
        len: usize,
        bound: usize,
    ) -> Result<(), EncodeError> {
        check_bound(field, len, bound)
    }

    /// Takes the next `len` bytes at the given alignment, and zeroes the padding before them.
    #[inline]
    fn claim(&mut self, align: usize, len: usize) -> Result<&mut [u8], EncodeError> {
        let start = align_up(self.position, align);
        let end = start.saturating_add(len);
        if end > self.body.len() {
            return Err(self.too_small(end));
        }
        if start > self.position {
            self.body[self.position..start].fill(0);
        }
        self.position = end;
        Ok(&mut self.body[start..end])
    }

    #[cold]
    fn too_small(&self, end: usize) -> EncodeError {
        EncodeError::BufferTooSmall {
            needed: end.saturating_add(HEADER_LEN),
            capacity: self.body.len() + HEADER_LEN,
        }
    }
}

/// Refuses a length above the bound of a field's type.
///
/// # Errors
///
/// Fails with [`EncodeError::BoundExceeded`].
#[inline]
pub fn check_bound(field: &'static str, len: usize, bound: usize) -> Result<(), EncodeError> {
    if len > bound { Err(EncodeError::BoundExceeded { field, len, bound }) } else { Ok(()) }
}
