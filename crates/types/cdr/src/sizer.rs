//! Computes how many bytes a value takes before any memory is requested.

use crate::layout::align_up;
use crate::{HEADER_LEN, Layout, Primitive};

/// Counts the bytes of an encoding, including alignment, exactly as [`Writer`](crate::Writer)
/// writes them.
#[derive(Debug, Clone, Default)]
pub struct Sizer {
    header_bytes: usize,
    position: usize,
}

impl Sizer {
    /// Starts at the body of a message, without its header.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a message. Its 4-byte header is included in [`total_bytes`](Self::total_bytes).
    #[must_use]
    pub fn with_header() -> Self {
        Self { header_bytes: HEADER_LEN, position: 0 }
    }

    /// Returns the number of bytes so far, including the header if
    /// [`with_header`](Self::with_header) started the message.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.header_bytes.saturating_add(self.position)
    }

    /// Returns the current offset in the body.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Adds one primitive.
    #[inline]
    pub fn add<T: Primitive>(&mut self) {
        self.add_run(T::SIZE, 1, T::SIZE);
    }

    /// Adds `count` primitives in a row. If `count` is 0, nothing is added, not even alignment.
    #[inline]
    pub fn add_slice<T: Primitive>(&mut self, count: usize) {
        self.add_run(T::SIZE, count, T::SIZE);
    }

    /// Adds the count of a sequence.
    #[inline]
    pub fn add_count(&mut self) {
        self.add::<u32>();
    }

    /// Adds a string: the count, `len` bytes, and the terminator.
    #[inline]
    pub fn add_string(&mut self, len: usize) {
        self.add_count();
        self.position = self.position.saturating_add(len).saturating_add(1);
    }

    /// Adds a wstring: the count, and four bytes for each of `len` code units.
    #[inline]
    pub fn add_wstring(&mut self, len: usize) {
        self.add_count();
        self.add_slice::<u32>(len);
    }

    /// Adds a value of a fixed layout.
    #[inline]
    pub(crate) fn add_layout(&mut self, layout: Layout) {
        self.add_run(layout.size(), 1, layout.align());
    }

    #[inline]
    fn add_run(&mut self, size: usize, count: usize, align: usize) {
        if count > 0 {
            // The size saturates and does not overflow. No memory has the saturated size, so the
            // encoding fails when memory is requested.
            self.position = align_up(self.position.min(isize::MAX as usize), align)
                .saturating_add(size.saturating_mul(count));
        }
    }
}
