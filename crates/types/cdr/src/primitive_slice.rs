//! Sequences of primitives, and wide strings, that borrow from received bytes and do not copy them.

use std::fmt;
use std::marker::PhantomData;

use crate::wstring::{debug_units, display_units};
use crate::{Primitive, WString};

/// Primitives in a row, borrowed from received bytes.
///
/// [`as_slice`](Self::as_slice) returns a Rust slice if the byte order and the alignment in memory
/// allow this. All other methods always work.
#[derive(Clone, Copy)]
pub struct PrimitiveSlice<'a, T> {
    bytes: &'a [u8],
    swap: bool,
    element: PhantomData<T>,
}

impl<'a, T: Primitive> PrimitiveSlice<'a, T> {
    /// Creates a slice. The length of `bytes` must be a multiple of the size of an element.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], swap: bool) -> Self {
        Self { bytes, swap, element: PhantomData }
    }

    /// Returns the number of elements.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / T::SIZE
    }

    /// Whether there are no elements.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the elements as a slice. Returns `None` if they have the other byte order, if they
    /// are not aligned in memory, or if a `bool` is neither 0 nor 1. In these cases,
    /// [`iter`](Self::iter) and [`to_vec`](Self::to_vec) still work.
    ///
    /// Memory is aligned for every type if the address of the *body* is a multiple of 8. So a
    /// receive buffer should be placed in such a way that the header starts 4 bytes before a
    /// multiple of 8.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        T::cast(self.bytes, self.swap)
    }

    /// Returns the element at `index`, if there is such an element.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let start = index.checked_mul(T::SIZE)?;
        let bytes = self.bytes.get(start..start.checked_add(T::SIZE)?)?;
        Some(T::load(bytes, self.swap))
    }

    /// Iterates over the elements in order.
    #[inline]
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + Clone + use<'a, T> {
        let swap = self.swap;
        self.bytes.chunks_exact(T::SIZE).map(move |bytes| T::load(bytes, swap))
    }

    /// Returns the elements as a vector. If the bytes have the byte order of this machine, they are
    /// copied as one block.
    #[inline]
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        T::load_vec(self.bytes, self.swap)
    }

    /// Returns the elements as an array, or `None` if their number is not exactly `N`.
    #[inline]
    #[must_use]
    pub fn to_array<const N: usize>(&self) -> Option<[T; N]> {
        let mut items = [T::default(); N];
        (self.len() == N).then(|| self.copy_to_slice(&mut items))?;
        Some(items)
    }

    /// Returns the bytes as received, in the byte order of the sender.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Copies the elements to `items`.
    ///
    /// # Panics
    ///
    /// Panics if the lengths differ.
    #[inline]
    pub fn copy_to_slice(&self, items: &mut [T]) {
        assert_eq!(self.len(), items.len(), "the target must have as many elements as the slice");
        T::load_block(self.bytes, items, self.swap);
    }
}

impl<T> Default for PrimitiveSlice<'_, T> {
    fn default() -> Self {
        Self { bytes: &[], swap: false, element: PhantomData }
    }
}

impl<T: Primitive> fmt::Debug for PrimitiveSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Primitive> PartialEq for PrimitiveSlice<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Primitive> PartialEq<[T]> for PrimitiveSlice<'_, T> {
    fn eq(&self, other: &[T]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

/// The text of a `wstring` field, borrowed from received bytes.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct WStringView<'a>(PrimitiveSlice<'a, u32>);

impl<'a> WStringView<'a> {
    /// Creates a view of units. The reader has checked that each of them fits into 16 bits.
    #[inline]
    pub(crate) fn new(units: PrimitiveSlice<'a, u32>) -> Self {
        Self(units)
    }

    /// Returns the number of UTF-16 code units.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no code units.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the UTF-16 code units in order.
    pub fn units(&self) -> impl ExactSizeIterator<Item = u16> + Clone + use<'a> {
        self.0.iter().map(|unit| unit as u16)
    }

    /// Returns the text as an owned value.
    #[must_use]
    pub fn to_wstring(&self) -> WString {
        self.units().collect()
    }
}

/// Shows unpaired surrogates as U+FFFD.
impl fmt::Display for WStringView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display_units(self.units(), f)
    }
}

impl fmt::Debug for WStringView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_units(self.units(), f)
    }
}
