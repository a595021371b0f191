//! The trait of values that can be encoded, implemented for every field type.

use crate::{EncodeError, Layout, Sizer, WString, Writer};

/// A value with a CDR encoding.
///
/// This trait is generated for every message, and implemented here for the field types: primitives,
/// [`String`], [`WString`], arrays (elements only) and vectors (count and elements).
pub trait Encode {
    /// The layout of the encoding if it is the same for all values, and otherwise `None`.
    const LAYOUT: Option<Layout> = None;

    /// Whether a value, or one of its parts, can be longer than its type allows.
    const IS_BOUNDED: bool = false;

    /// Refuses a value with a part that is longer than its type allows, like
    /// [`encode`](Self::encode). The check costs nothing unless [`IS_BOUNDED`](Self::IS_BOUNDED) is
    /// true.
    ///
    /// # Errors
    ///
    /// Fails with [`EncodeError::BoundExceeded`].
    #[inline]
    fn check_bounds(&self) -> Result<(), EncodeError> {
        Ok(())
    }

    /// Adds the exact number of bytes that [`encode`](Self::encode) will write.
    fn size(&self, sizer: &mut Sizer);

    /// Writes the value.
    ///
    /// # Errors
    ///
    /// Fails if the value violates a bound, if a string in it contains a NUL, or if the memory is
    /// too small.
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Adds the number of bytes that these values take in a row. Types that need no loop override
    /// this function.
    fn size_slice(items: &[Self], sizer: &mut Sizer)
    where
        Self: Sized,
    {
        match Layout::repeated(Self::LAYOUT, items.len()) {
            Some(run) => sizer.add_layout(run),
            None => items.iter().for_each(|item| item.size(sizer)),
        }
    }

    /// Writes values in a row. Types whose values can be moved as one block override this function.
    ///
    /// # Errors
    ///
    /// Fails like [`encode`](Self::encode).
    fn encode_slice(items: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        items.iter().try_for_each(|item| item.encode(writer))
    }
}

macro_rules! primitive {
    ($($type:ty),+) => {$(
        impl Encode for $type {
            const LAYOUT: Option<Layout> = Some(Layout::primitive(size_of::<$type>()));

            #[inline]
            fn size(&self, sizer: &mut Sizer) {
                sizer.add::<$type>();
            }

            #[inline]
            fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
                writer.write(*self)
            }

            #[inline]
            fn size_slice(items: &[Self], sizer: &mut Sizer) {
                sizer.add_slice::<$type>(items.len());
            }

            #[inline]
            fn encode_slice(items: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError> {
                writer.write_slice(items)
            }
        }
    )+};
}

primitive!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl Encode for String {
    #[inline]
    fn size(&self, sizer: &mut Sizer) {
        sizer.add_string(self.len());
    }

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_string(self)
    }
}

impl Encode for WString {
    #[inline]
    fn size(&self, sizer: &mut Sizer) {
        sizer.add_wstring(self.len());
    }

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_wstring(self.as_units())
    }
}

/// Checks the bounds of each item, if the items' type has bounds.
fn check_items<T: Encode>(items: &[T]) -> Result<(), EncodeError> {
    if T::IS_BOUNDED { items.iter().try_for_each(T::check_bounds) } else { Ok(()) }
}

impl<T: Encode> Encode for Vec<T> {
    const IS_BOUNDED: bool = T::IS_BOUNDED;

    #[inline]
    fn check_bounds(&self) -> Result<(), EncodeError> {
        check_items(self)
    }

    #[inline]
    fn size(&self, sizer: &mut Sizer) {
        sizer.add_count();
        T::size_slice(self, sizer);
    }

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_count(self.len())?;
        T::encode_slice(self, writer)
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    const LAYOUT: Option<Layout> = Layout::repeated(T::LAYOUT, N);
    const IS_BOUNDED: bool = T::IS_BOUNDED;

    #[inline]
    fn check_bounds(&self) -> Result<(), EncodeError> {
        check_items(self)
    }

    #[inline]
    fn size(&self, sizer: &mut Sizer) {
        T::size_slice(self, sizer);
    }

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode_slice(self, writer)
    }
}
