//! The canvas on which a shape is laid out, so that the same code counts the bytes of a message and
//! writes them.

use crate::{Encode, EncodeError, Layout, Primitive, Sizer, Writer};

/// The target on which [`Build::lay_out`](crate::Build::lay_out) puts the parts of a message, in
/// the order of the wire: a [`Sizer`] counts them, and a [`Writer`] writes them. Generated code
/// uses this trait, which is implemented only for these two types.
///
/// Every method has the errors of [`Encode::encode`]. The errors are the same on either canvas, so
/// an invalid shape is found before memory is requested.
#[allow(clippy::missing_errors_doc)] // see the paragraph above
pub trait Canvas: sealed::Canvas {
    /// Adds `count` primitives of value zero in a row.
    fn zeros<T: Primitive>(&mut self, count: usize) -> Result<(), EncodeError>;

    /// Adds these primitives in a row.
    fn values<T: Primitive>(&mut self, values: &[T]) -> Result<(), EncodeError>;

    /// Adds the count of a sequence.
    fn count(&mut self, len: usize) -> Result<(), EncodeError>;

    /// Adds a sequence of primitives. The first elements have the values of `first`. Of the other
    /// elements, numbers keep the previous content of the memory, and each `bool` is false.
    fn sequence<T: Primitive>(&mut self, len: usize, first: &[T]) -> Result<(), EncodeError>;

    /// Adds a string.
    fn string(&mut self, text: &str) -> Result<(), EncodeError>;

    /// Adds a wstring.
    fn wstring(&mut self, units: &[u16]) -> Result<(), EncodeError>;

    /// Adds `count` default values in a row. The type must have no variable parts.
    fn fixed<T: Encode + Default>(&mut self, count: usize) -> Result<(), EncodeError>;

    /// Refuses a length above the bound of a field's type.
    #[inline]
    fn check_bound(
        &self,
        field: &'static str,
        len: usize,
        bound: usize,
    ) -> Result<(), EncodeError> {
        if len > bound { Err(EncodeError::BoundExceeded { field, len, bound }) } else { Ok(()) }
    }
}

mod sealed {
    pub trait Canvas {}
    impl Canvas for crate::Sizer {}
    impl Canvas for crate::Writer<'_> {}
}

impl Canvas for Sizer {
    #[inline]
    fn zeros<T: Primitive>(&mut self, count: usize) -> Result<(), EncodeError> {
        self.add_slice::<T>(count);
        Ok(())
    }

    #[inline]
    fn values<T: Primitive>(&mut self, values: &[T]) -> Result<(), EncodeError> {
        self.add_slice::<T>(values.len());
        Ok(())
    }

    #[inline]
    fn count(&mut self, len: usize) -> Result<(), EncodeError> {
        u32::try_from(len).map_err(|_| EncodeError::TooLong { len })?;
        self.add_count();
        Ok(())
    }

    #[inline]
    fn sequence<T: Primitive>(&mut self, len: usize, _first: &[T]) -> Result<(), EncodeError> {
        self.count(len)?;
        self.add_slice::<T>(len);
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), EncodeError> {
        if let Some(position) = text.bytes().position(|byte| byte == 0) {
            return Err(EncodeError::InteriorNul { position });
        }
        self.count(text.len().saturating_add(1))?;
        self.add_slice::<u8>(text.len() + 1);
        Ok(())
    }

    fn wstring(&mut self, units: &[u16]) -> Result<(), EncodeError> {
        self.sequence::<u32>(units.len(), &[])
    }

    fn fixed<T: Encode + Default>(&mut self, count: usize) -> Result<(), EncodeError> {
        if count == 0 {
            return Ok(());
        }
        match Layout::repeated(T::LAYOUT, count) {
            Some(run) => self.add_layout(run),
            None => {
                let value = T::default();
                (0..count).for_each(|_| value.size(self));
            }
        }
        Ok(())
    }
}

impl Canvas for Writer<'_> {
    #[inline]
    fn zeros<T: Primitive>(&mut self, count: usize) -> Result<(), EncodeError> {
        self.reserve_slice::<T>(count)?.fill(0);
        Ok(())
    }

    #[inline]
    fn values<T: Primitive>(&mut self, values: &[T]) -> Result<(), EncodeError> {
        self.write_slice(values)
    }

    #[inline]
    fn count(&mut self, len: usize) -> Result<(), EncodeError> {
        self.write_count(len)
    }

    #[inline]
    fn sequence<T: Primitive>(&mut self, len: usize, first: &[T]) -> Result<(), EncodeError> {
        self.write_count(len)?;
        let first = &first[..first.len().min(len)];
        self.write_slice(first)?;
        let rest = self.reserve_slice::<T>(len - first.len())?;
        if !T::IS_ANY_BYTE_VALID {
            rest.fill(0);
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), EncodeError> {
        self.write_string(text)
    }

    fn wstring(&mut self, units: &[u16]) -> Result<(), EncodeError> {
        self.write_wstring(units)
    }

    fn fixed<T: Encode + Default>(&mut self, count: usize) -> Result<(), EncodeError> {
        if count == 0 {
            return Ok(());
        }
        let value = T::default();
        let (Some(one), Some(run)) = (T::LAYOUT, Layout::repeated(T::LAYOUT, count)) else {
            return (0..count).try_for_each(|_| value.encode(self));
        };
        // Encodes the first value, then doubles the finished part until it holds all values.
        let mut elements = self.reserve_layout(run)?;
        value.encode(&mut elements)?;
        let bytes = elements.into_body();
        let mut done = one.size();
        while done < bytes.len() {
            let more = done.min(bytes.len() - done);
            bytes.copy_within(..more, done);
            done += more;
        }
        Ok(())
    }
}
