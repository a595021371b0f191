//! Messages, and sequences of them, that borrow from received bytes and do not copy them.

use std::fmt;
use std::marker::PhantomData;

use crate::{DecodeError, Layout, Reader, WStringView};

/// A value whose contents point into the received bytes.
///
/// This trait is generated for every message. Reading a value allocates nothing, and the time grows
/// with the number of fields and not with the size of the data. Only strings (to check UTF-8) and
/// sequences whose elements vary in size are read once, so that everything that the view returns
/// later is valid.
pub trait View<'a>: Sized + Clone + fmt::Debug {
    /// The layout of the encoding if it is the same for all values, and otherwise `None`.
    const LAYOUT: Option<Layout> = None;

    /// The smallest number of bytes that any value takes, without alignment. It is never 0.
    const MIN_SIZE: usize;

    /// Borrows one value.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a value of this type. After an error, the position of the reader
    /// is unspecified.
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

/// A sequence or array of strings or nested messages, borrowed from received bytes. An element is
/// read when it is requested.
#[derive(Clone, Copy)]
pub struct SequenceView<'a, V> {
    start: Reader<'a>,
    len: usize,
    element: PhantomData<V>,
}

impl<'a, V: View<'a>> SequenceView<'a, V> {
    /// Reads a sequence: the count and the elements.
    ///
    /// # Errors
    ///
    /// Fails like [`View::read`] for the elements, and also if the bytes cannot hold this count.
    pub fn read_sequence(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let len = reader.read_count(V::MIN_SIZE)?;
        Self::read_array(reader, len)
    }

    /// Reads `len` elements without a count.
    ///
    /// # Errors
    ///
    /// Fails like [`View::read`] for the elements.
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

    /// Creates a view of `len` elements that begin at `start`. All of them have been read once.
    pub(crate) fn from_read(start: Reader<'a>, len: usize) -> Self {
        Self { start, len, element: PhantomData }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the element at `index`, if there is such an element. This takes constant time for
    /// elements of a fixed layout. For other elements, the call reads all earlier elements, so it
    /// is better to visit all elements with [`iter`](Self::iter).
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

    /// Iterates over the elements in order.
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

/// The iterator over the elements of a [`SequenceView`].
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
        // The elements were read once when the sequence view was created, so this call cannot fail.
        V::read(&mut self.reader).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, V: View<'a>> ExactSizeIterator for SequenceViewIter<'a, V> {}
