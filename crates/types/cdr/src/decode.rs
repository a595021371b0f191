//! The trait of values that can be decoded from bytes, implemented for every field type.

use crate::{DecodeError, Reader, WString};

/// A value that can be decoded from its CDR encoding.
///
/// This trait is generated for every message, and implemented here for the field types, like
/// [`Encode`](crate::Encode).
pub trait Decode: Sized {
    /// The smallest number of bytes that any value takes, without alignment. It limits the count
    /// that a sequence may claim, so it is never 0.
    const MIN_SIZE: usize;

    /// Reads one value.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a value of this type. After an error, the position of the reader
    /// is unspecified.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// Reads `count` values in a row. [`Reader::read_count`] has checked the count. Types whose
    /// values can be moved as one block override this function.
    ///
    /// # Errors
    ///
    /// Fails like [`decode`](Self::decode).
    fn decode_vec(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Self>, DecodeError> {
        // Values may be larger in memory than on the wire. So even for a checked count, the memory
        // that the vector reserves is limited to the size of the remaining bytes. A vector of large
        // elements grows a few times after that.
        let worth = reader.remaining_bytes() / size_of::<Self>().max(1);
        let mut items = Vec::with_capacity(count.min(worth + 1));
        for _ in 0..count {
            items.push(Self::decode(reader)?);
        }
        Ok(items)
    }

    /// Reads values in a row into `items`. Types whose values can be moved as one block override
    /// this function.
    ///
    /// # Errors
    ///
    /// Fails like [`decode`](Self::decode).
    fn decode_slice(reader: &mut Reader<'_>, items: &mut [Self]) -> Result<(), DecodeError> {
        for item in items {
            *item = Self::decode(reader)?;
        }
        Ok(())
    }
}

macro_rules! primitive {
    ($($type:ty),+) => {$(
        impl Decode for $type {
            const MIN_SIZE: usize = size_of::<$type>();

            #[inline]
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                reader.read()
            }

            #[inline]
            fn decode_vec(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Self>, DecodeError> {
                Ok(reader.read_slice(count)?.to_vec())
            }

            #[inline]
            fn decode_slice(reader: &mut Reader<'_>, items: &mut [Self]) -> Result<(), DecodeError> {
                reader.read_slice(items.len())?.copy_to_slice(items);
                Ok(())
            }
        }
    )+};
}

primitive!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl Decode for String {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.read_str().map(str::to_owned)
    }
}

impl Decode for WString {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.read_wstr().map(|text| text.to_wstring())
    }
}

impl<T: Decode> Decode for Vec<T> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = reader.read_count(T::MIN_SIZE)?;
        T::decode_vec(reader, count)
    }
}

impl<T: Decode + Default, const N: usize> Decode for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE * N;

    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut items = std::array::from_fn(|_| T::default());
        T::decode_slice(reader, &mut items)?;
        Ok(items)
    }
}
