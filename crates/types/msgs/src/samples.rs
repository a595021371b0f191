//! The numbers inside the raw bytes of images and point clouds.

/// A number type that pixels, and the fields of points, may have.
///
/// The trait is sealed. It is implemented for `i8`, `u8`, `i16`, `u16`, `i32`, `u32`, `f32` and
/// `f64`.
pub trait Sample: Copy + sealed::Sealed {
    /// The number of the type in `sensor_msgs/msg/PointField`.
    const DATATYPE: u8;
    /// The size of the type in bytes.
    const BYTES: usize;
    /// The name of the type in encodings of images, such as `8U`: the number of bits, and `U`
    /// (unsigned), `S` (signed) or `F` (floating point).
    const ENCODING: &'static str;
}

pub(crate) mod sealed {
    /// The trait that seals [`Sample`](super::Sample): it reads and writes numbers.
    pub trait Sealed: Sized {
        /// # Panics
        /// Panics if fewer bytes follow `offset` than the number has.
        #[doc(hidden)]
        fn read(bytes: &[u8], offset: usize, is_bigendian: bool) -> Self;
        #[doc(hidden)]
        fn write(self, into: &mut Vec<u8>);
    }
}

macro_rules! samples {
    ($($ty:ty, $datatype:expr, $encoding:expr;)*) => {$(
        impl Sample for $ty {
            const DATATYPE: u8 = $datatype;
            const BYTES: usize = size_of::<$ty>();
            const ENCODING: &'static str = $encoding;
        }

        impl sealed::Sealed for $ty {
            fn read(bytes: &[u8], offset: usize, is_bigendian: bool) -> Self {
                let mut number = [0; size_of::<$ty>()];
                number.copy_from_slice(&bytes[offset..offset + size_of::<$ty>()]);
                if is_bigendian { Self::from_be_bytes(number) } else { Self::from_le_bytes(number) }
            }

            fn write(self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

samples! {
    i8, 1, "8S";
    u8, 2, "8U";
    i16, 3, "16S";
    u16, 4, "16U";
    i32, 5, "32S";
    u32, 6, "32U";
    f32, 7, "32F";
    f64, 8, "64F";
}

/// The positions of elements in a block of bytes, arranged in rows. It has been checked that all of
/// them are inside the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid<'a> {
    data: &'a [u8],
    width: usize,
    height: usize,
    /// The number of bytes from one element of a row to the next.
    step: usize,
    /// The number of bytes from one row to the next.
    row_step: usize,
}

impl<'a> Grid<'a> {
    /// Creates a grid. The error is the number of bytes that the grid would need.
    pub(crate) fn new(
        data: &'a [u8],
        [width, height, step, row_step]: [u32; 4],
    ) -> Result<Self, u64> {
        let row = u64::from(width) * u64::from(step);
        let rows_before_last = u64::from(height.saturating_sub(1));
        if width == 0 || height == 0 {
            return Ok(Self { data: &[], width: 0, height: 0, step: 0, row_step: 0 });
        }
        // For a single row, `row_step` has no effect.
        let needed = rows_before_last.saturating_mul(row_step.into()).saturating_add(row);
        let is_overlapping = height > 1 && u64::from(row_step) < row;
        if is_overlapping || needed > data.len() as u64 {
            return Err(needed.max(u64::from(height).saturating_mul(row)));
        }
        let [width, height, step, row_step] =
            [width, height, step, row_step].map(|number| number as usize);
        Ok(Self { data, width, height, step, row_step })
    }

    pub(crate) fn len(&self) -> usize {
        self.width * self.height
    }

    /// Returns the bytes of the element with this index. Elements are counted row by row.
    pub(crate) fn element(&self, number: usize) -> Option<&'a [u8]> {
        if self.width == 0 {
            return None;
        }
        let (row, column) = (number / self.width, number % self.width);
        let start = row * self.row_step + column * self.step;
        self.data.get(start..start + self.step)
    }
}
