//! Values that borrow from received bytes instead of copying them.

use std::fmt;
use std::marker::PhantomData;

use crate::wstring::{debug_units, display_units};
use crate::{DecodeError, Layout, Primitive, Reader, WString};

/// A value read in place: its contents point into the received bytes.
///
/// Generated for every message. Reading one allocates nothing, and the time grows with the number
/// of fields, not with the size of the data; only strings (for UTF-8) and sequences of elements of
/// varying size are walked once, so that everything a view hands out afterwards is valid.
pub trait View<'a>: Sized + Clone + fmt::Debug {
    /// The shape of the encoding when it is the same for all values, else `None`.
    const LAYOUT: Option<Layout> = None;

    /// The least number of bytes that any value takes, alignment not counted; never 0.
    const MIN_SIZE: usize;

    /// Reads one value in place.
    ///
    /// # Errors
    ///
    /// When the bytes are not such a value; the reader's position is unspecified then.
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;
}

impl<'a> View<'a> for &'a str {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.read_str()
    }
}

impl<'a> View<'a> for WStringView<'a> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.read_wstr()
    }
}

/// Primitives in a row, where they were received.
///
/// [`as_slice`](Self::as_slice) gives them as a Rust slice where byte order and alignment in memory
/// allow; all other methods always work.
#[derive(Clone, Copy)]
pub struct PrimitiveSlice<'a, T> {
    bytes: &'a [u8],
    swap: bool,
    element: PhantomData<T>,
}

impl<'a, T: Primitive> PrimitiveSlice<'a, T> {
    /// `bytes` is a whole number of elements long.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], swap: bool) -> Self {
        Self { bytes, swap, element: PhantomData }
    }

    /// Number of elements.
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

    /// The elements in place. `None` when they came in the other byte order or lie unaligned in
    /// memory, or when a `bool` is neither 0 nor 1; then [`iter`](Self::iter) and
    /// [`to_vec`](Self::to_vec) still work.
    ///
    /// Memory is aligned for every type when the *body* starts at a multiple of 8, so the header 4
    /// bytes before such a multiple: receive buffers should be placed accordingly.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        T::cast(self.bytes, self.swap)
    }

    /// The element at `index`, if there is one.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let start = index.checked_mul(T::SIZE)?;
        let bytes = self.bytes.get(start..start.checked_add(T::SIZE)?)?;
        Some(T::load(bytes, self.swap))
    }

    /// The elements in order.
    #[inline]
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + Clone + use<'a, T> {
        let swap = self.swap;
        self.bytes.chunks_exact(T::SIZE).map(move |bytes| T::load(bytes, swap))
    }

    /// The elements as a vector, copied as one block where the byte order allows.
    #[inline]
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        T::load_vec(self.bytes, self.swap)
    }

    /// The elements as an array; `None` when there are not exactly `N`.
    #[inline]
    #[must_use]
    pub fn to_array<const N: usize>(&self) -> Option<[T; N]> {
        let mut items = [T::default(); N];
        (self.len() == N).then(|| self.copy_to_slice(&mut items))?;
        Some(items)
    }

    /// The bytes as received, in the byte order of the sender.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Copies the elements to `items`.
    ///
    /// # Panics
    ///
    /// When the lengths differ.
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

/// Text of a `wstring` field, where it was received.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct WStringView<'a>(PrimitiveSlice<'a, u32>);

impl<'a> WStringView<'a> {
    /// The reader has checked that every unit fits 16 bits.
    #[inline]
    pub(crate) fn new(units: PrimitiveSlice<'a, u32>) -> Self {
        Self(units)
    }

    /// Number of UTF-16 code units.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no code units.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The UTF-16 code units in order.
    pub fn units(&self) -> impl ExactSizeIterator<Item = u16> + Clone + use<'a> {
        self.0.iter().map(|unit| unit as u16)
    }

    /// The text as an owned value.
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

/// A run of strings or nested messages, where it was received; an element is read when it is
/// requested.
#[derive(Clone, Copy)]
pub struct SequenceView<'a, V> {
    start: Reader<'a>,
    len: usize,
    element: PhantomData<V>,
}

impl<'a, V: View<'a>> SequenceView<'a, V> {
    /// Reads a sequence, count and elements.
    ///
    /// # Errors
    ///
    /// As [`View::read`] of the elements, or when the bytes cannot hold the count.
    pub fn read_sequence(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let len = reader.read_count(V::MIN_SIZE)?;
        Self::read_array(reader, len)
    }

    /// Reads `len` elements without a count.
    ///
    /// # Errors
    ///
    /// As [`View::read`] of the elements.
    pub fn read_array(reader: &mut Reader<'a>, len: usize) -> Result<Self, DecodeError> {
        let start = *reader;
        match Layout::repeated(V::LAYOUT, len) {
            Some(run) => reader.skip_layout(run)?,
            None => {
                for _ in 0..len {
                    V::read(reader)?;
                }
            }
        }
        Ok(Self::from_read(start, len))
    }

    /// `len` elements from `start` on, all of which have been read once.
    pub(crate) fn from_read(start: Reader<'a>, len: usize) -> Self {
        Self { start, len, element: PhantomData }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element at `index`, if there is one. This takes constant time for elements of fixed
    /// layout, else it passes over the elements before: prefer [`iter`](Self::iter) to visit all.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<V> {
        if index >= self.len {
            return None;
        }
        if Layout::repeated(V::LAYOUT, self.len).is_none() {
            return self.iter().nth(index);
        }
        let mut reader = self.start;
        if let Some(before) = Layout::repeated(V::LAYOUT, index) {
            reader.skip_layout(before).ok()?;
        }
        V::read(&mut reader).ok()
    }

    /// The elements in order.
    #[must_use]
    pub fn iter(&self) -> SequenceViewIter<'a, V> {
        SequenceViewIter { reader: self.start, left: self.len, element: PhantomData }
    }
}

impl<'a, V: View<'a>> IntoIterator for SequenceView<'a, V> {
    type Item = V;
    type IntoIter = SequenceViewIter<'a, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, V: View<'a>> fmt::Debug for SequenceView<'a, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, V: View<'a> + PartialEq> PartialEq for SequenceView<'a, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// Iterator over the elements of a [`SequenceView`].
#[derive(Debug, Clone)]
pub struct SequenceViewIter<'a, V> {
    reader: Reader<'a>,
    left: usize,
    element: PhantomData<V>,
}

impl<'a, V: View<'a>> Iterator for SequenceViewIter<'a, V> {
    type Item = V;

    fn next(&mut self) -> Option<V> {
        self.left = self.left.checked_sub(1)?;
        // The elements were read once when the sequence view was made, so this cannot fail.
        V::read(&mut self.reader).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, V: View<'a>> ExactSizeIterator for SequenceViewIter<'a, V> {}
