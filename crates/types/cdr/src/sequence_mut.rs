//! A sequence or array of messages in a message that is being built.

use std::fmt;
use std::marker::PhantomData;

use crate::{Build, BuildError, Layout, Splitter};

/// A sequence or array of messages that are being built. Each element is given out as fields to be
/// written.
///
/// # Examples
///
/// ```
/// # use feros_cdr::{Build, SequenceMut};
/// fn count_up<M>(mut messages: SequenceMut<'_, M>)
/// where
///     M: for<'a> Build<Fields<'a> = &'a mut u32>,
/// {
///     for (number, fields) in messages.iter_mut().enumerate() {
///         *fields = number as u32;
///     }
/// }
/// ```
pub struct SequenceMut<'a, M> {
    elements: Splitter<'a>,
    len: usize,
    message: PhantomData<fn() -> M>,
}

impl<'a, M: Build> SequenceMut<'a, M> {
    /// Gives out a sequence: reads the count, and takes the elements.
    ///
    /// # Errors
    ///
    /// Fails with [`BuildError::Malformed`], and like [`Build::split`] for the elements.
    pub fn split_sequence(splitter: &mut Splitter<'a>) -> Result<Self, BuildError> {
        let len = splitter.count(1)?;
        Self::split_array(splitter, len)
    }

    /// Gives out `len` elements without a count.
    ///
    /// # Errors
    ///
    /// Fails like [`split_sequence`](Self::split_sequence).
    pub fn split_array(splitter: &mut Splitter<'a>, len: usize) -> Result<Self, BuildError> {
        let elements = splitter.take_walked(|walk| match Layout::repeated(M::LAYOUT, len) {
            Some(run) => walk.skip_layout(run),
            None => (0..len).try_for_each(|_| M::split(walk).map(drop)),
        })?;
        Ok(Self { elements, len, message: PhantomData })
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the sequence has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the fields of the element at `index`, if there is such an element. This takes
    /// constant time for elements of a fixed layout. For other elements, the call skips all earlier
    /// elements, so it is better to visit all elements with [`iter_mut`](Self::iter_mut).
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<M::Fields<'_>> {
        if index >= self.len {
            return None;
        }
        if Layout::repeated(M::LAYOUT, self.len).is_none() {
            return self.iter_mut().nth(index);
        }
        let mut elements = self.elements.reborrow();
        if let Some(before) = Layout::repeated(M::LAYOUT, index) {
            elements.skip_layout(before).ok()?;
        }
        M::split(&mut elements).ok()
    }

    /// Iterates over the fields of the elements in order.
    #[must_use]
    pub fn iter_mut(&mut self) -> SequenceMutIter<'_, M> {
        SequenceMutIter { elements: self.elements.reborrow(), left: self.len, message: PhantomData }
    }
}

impl<'a, M: Build> IntoIterator for SequenceMut<'a, M> {
    type Item = M::Fields<'a>;
    type IntoIter = SequenceMutIter<'a, M>;

    fn into_iter(self) -> Self::IntoIter {
        SequenceMutIter { elements: self.elements, left: self.len, message: PhantomData }
    }
}

impl<'a, M: Build> IntoIterator for &'a mut SequenceMut<'_, M> {
    type Item = M::Fields<'a>;
    type IntoIter = SequenceMutIter<'a, M>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Shows only the number of elements, because fields are given out only for writing.
impl<M> fmt::Debug for SequenceMut<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequenceMut").field("len", &self.len).finish_non_exhaustive()
    }
}

/// The iterator over the fields of the elements of a [`SequenceMut`].
#[derive(Debug)]
pub struct SequenceMutIter<'a, M> {
    elements: Splitter<'a>,
    left: usize,
    message: PhantomData<fn() -> M>,
}

impl<'a, M: Build> Iterator for SequenceMutIter<'a, M> {
    type Item = M::Fields<'a>;

    #[inline]
    fn next(&mut self) -> Option<M::Fields<'a>> {
        self.left = self.left.checked_sub(1)?;
        // The sizes of the elements were checked when the sequence was created, so this call fails
        // only if other code has overwritten them.
        M::split(&mut self.elements).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, M: Build> ExactSizeIterator for SequenceMutIter<'a, M> {}
