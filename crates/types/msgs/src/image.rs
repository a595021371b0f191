//! The pixels of `sensor_msgs/msg/Image`, read according to its encoding.

use std::iter::FusedIterator;
use std::marker::PhantomData;

use crate::samples::{Grid, Sample};
use crate::sensor_msgs::msg::{Image, ImageView};

/// The reason why pixels cannot be read from an image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The encoding is unknown, or does not store pixels one after the other.
    #[error(
        "single pixels of images encoded as `{encoding}` cannot be read: convert the image to an \
         encoding such as `rgb8`, or read its `data`"
    )]
    UnknownEncoding {
        /// The encoding.
        encoding: String,
    },
    /// The pixels do not have the requested type.
    #[error(
        "pixels encoded as `{encoding}` are {found_channels} numbers of {found_type}, not {asked_channels} of {asked_type}"
    )]
    OtherPixels {
        /// The encoding.
        encoding: String,
        /// The number of channels of a pixel.
        found_channels: usize,
        /// The type of these channels, such as `8U`.
        found_type: String,
        /// The requested number of channels.
        asked_channels: usize,
        /// The requested type of the channels.
        asked_type: &'static str,
    },
    /// The data is shorter than the size of the image requires, or the row step is so small that
    /// rows overlap.
    #[error(
        "{width} x {height} pixels of {pixel} bytes in rows of {step} need {needed} bytes, but there are {found}"
    )]
    TooShort {
        /// The number of pixels in a row.
        width: u32,
        /// The number of rows.
        height: u32,
        /// The number of bytes in a pixel.
        pixel: usize,
        /// The number of bytes in a row.
        step: u32,
        /// The number of bytes that all rows need.
        needed: u64,
        /// The number of bytes of data.
        found: usize,
    },
}

/// The pixels of an image, row by row.
#[derive(Clone, Debug)]
pub struct Pixels<'a, T, const CHANNELS: usize> {
    grid: Grid<'a>,
    is_bigendian: bool,
    next: usize,
    sample: PhantomData<fn() -> T>,
}

impl Image {
    /// Returns the pixels as arrays of their channels. The whole image is checked once, and pixels
    /// are read only when the iterator reaches them.
    ///
    /// # Errors
    /// Fails if the encoding has another type or number of channels, or if the data is shorter than
    /// the size of the image requires.
    ///
    /// ```
    /// use feros_msgs::sensor_msgs::msg::Image;
    /// let image = Image { height: 1, width: 2, encoding: "rgb8".into(), step: 6, data: vec![1, 2, 3, 4, 5, 6], ..Image::default() };
    /// let pixels: Vec<[u8; 3]> = image.pixels()?.collect();
    /// assert_eq!(pixels, [[1, 2, 3], [4, 5, 6]]);
    /// # Ok::<(), feros_msgs::ImageError>(())
    /// ```
    pub fn pixels<T: Sample, const CHANNELS: usize>(
        &self,
    ) -> Result<Pixels<'_, T, CHANNELS>, ImageError> {
        let size = [self.width, self.height, self.step];
        Pixels::new(&self.data, &self.encoding, size, self.is_bigendian != 0)
    }
}

impl<'a> ImageView<'a> {
    /// Like [`Image::pixels`], but reads received bytes without decoding the image.
    ///
    /// # Errors
    /// Fails like [`Image::pixels`].
    pub fn pixels<T: Sample, const CHANNELS: usize>(
        &self,
    ) -> Result<Pixels<'a, T, CHANNELS>, ImageError> {
        let size = [self.width, self.height, self.step];
        Pixels::new(self.data, self.encoding, size, self.is_bigendian != 0)
    }
}

impl<'a, T: Sample, const CHANNELS: usize> Pixels<'a, T, CHANNELS> {
    fn new(
        data: &'a [u8],
        encoding: &str,
        [width, height, step]: [u32; 3],
        is_bigendian: bool,
    ) -> Result<Self, ImageError> {
        let (found_type, found_channels) = pixel_of(encoding)
            .ok_or_else(|| ImageError::UnknownEncoding { encoding: encoding.to_owned() })?;
        if (found_type, found_channels) != (T::ENCODING, CHANNELS) {
            return Err(ImageError::OtherPixels {
                encoding: encoding.to_owned(),
                found_channels,
                found_type: found_type.to_owned(),
                asked_channels: CHANNELS,
                asked_type: T::ENCODING,
            });
        }
        let pixel = CHANNELS * T::BYTES;
        let grid = Grid::new(data, [width, height, u32::try_from(pixel).unwrap_or(u32::MAX), step]);
        let grid = grid.map_err(|needed| {
            let found = data.len();
            ImageError::TooShort { width, height, pixel, step, needed, found }
        })?;
        Ok(Self { grid, is_bigendian, next: 0, sample: PhantomData })
    }
}

impl<T: Sample, const CHANNELS: usize> Iterator for Pixels<'_, T, CHANNELS> {
    type Item = [T; CHANNELS];

    fn next(&mut self) -> Option<[T; CHANNELS]> {
        if self.next >= self.grid.len() {
            return None;
        }
        let pixel = self.grid.element(self.next)?;
        self.next += 1;
        Some(std::array::from_fn(|channel| T::read(pixel, channel * T::BYTES, self.is_bigendian)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.grid.len() - self.next;
        (left, Some(left))
    }
}

impl<T: Sample, const CHANNELS: usize> ExactSizeIterator for Pixels<'_, T, CHANNELS> {}
impl<T: Sample, const CHANNELS: usize> FusedIterator for Pixels<'_, T, CHANNELS> {}

/// Returns the type of a pixel's channels, and their number, as in
/// `sensor_msgs/image_encodings.hpp`.
fn pixel_of(encoding: &str) -> Option<(&str, usize)> {
    Some(match encoding {
        "mono8" => ("8U", 1),
        "mono16" => ("16U", 1),
        "rgb8" | "bgr8" => ("8U", 3),
        "rgba8" | "bgra8" => ("8U", 4),
        "rgb16" | "bgr16" => ("16U", 3),
        "rgba16" | "bgra16" => ("16U", 4),
        "bayer_rggb8" | "bayer_bggr8" | "bayer_gbrg8" | "bayer_grbg8" => ("8U", 1),
        "bayer_rggb16" | "bayer_bggr16" | "bayer_gbrg16" | "bayer_grbg16" => ("16U", 1),
        generic => {
            let (ty, channels) = generic.split_once('C')?;
            let is_known = ["8U", "8S", "16U", "16S", "32S", "32F", "64F"].contains(&ty);
            let channels = if channels.is_empty() { 1 } else { channels.parse().ok()? };
            ((1..=64).contains(&channels) && is_known).then_some((ty, channels))?
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn encodings_say_what_a_pixel_is() {
        assert_eq!(pixel_of("32FC1"), Some(("32F", 1)));
        assert_eq!(pixel_of("8UC"), Some(("8U", 1)));
        assert_eq!(pixel_of("bayer_grbg16"), Some(("16U", 1)));
        for unknown in ["", "yuv422", "jpeg", "8UC0", "8UC65", "8UC-1", "12UC1", "C", "8U"] {
            assert_eq!(pixel_of(unknown), None, "{unknown}");
        }
    }

    fn depth() -> Image {
        let data = [1_u16, 2, 0xffff, 3, 4, 0xffff].iter().flat_map(|n| n.to_be_bytes()).collect();
        Image {
            height: 2,
            width: 2,
            encoding: "mono16".into(),
            is_bigendian: 1,
            step: 6,
            data,
            ..Image::default()
        }
    }

    #[test]
    fn pixels_are_read_in_the_image_s_byte_order_and_without_what_fills_rows() {
        let image = depth();
        let pixels = image.pixels::<u16, 1>().unwrap();
        assert_eq!(pixels.len(), 4);
        assert_eq!(pixels.collect::<Vec<_>>(), [[1], [2], [3], [4]]);
        let bytes = feros_message::to_vec(&image).unwrap();
        let view = feros_message::view::<Image>(&bytes).unwrap();
        assert_eq!(view.pixels::<u16, 1>().unwrap().last(), Some([4]));
    }

    #[test]
    fn images_that_are_not_what_they_say_are_refused() {
        let other = depth().pixels::<u8, 3>().unwrap_err();
        assert!(other.to_string().contains("1 numbers of 16U, not 3 of 8U"), "{other}");
        let changed = |change: fn(&mut Image)| {
            let mut image = depth();
            change(&mut image);
            image.pixels::<u16, 1>().unwrap_err()
        };
        let short = changed(|image| image.data.truncate(9));
        assert!(matches!(short, ImageError::TooShort { needed: 10, found: 9, .. }), "{short}");
        assert!(matches!(changed(|image| image.step = 3), ImageError::TooShort { .. }));
        assert!(matches!(changed(|image| image.width = u32::MAX), ImageError::TooShort { .. }));
        let unknown = changed(|image| image.encoding = "nv21".into());
        assert!(matches!(unknown, ImageError::UnknownEncoding { .. }), "{unknown}");
    }
}
