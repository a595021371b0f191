//! The points of `sensor_msgs/msg/PointCloud2`, read by the names of their fields.

use std::iter::FusedIterator;
use std::marker::PhantomData;

use crate::samples::{Grid, Sample};
use crate::sensor_msgs::msg::{PointCloud2, PointCloud2View, PointField};
use crate::std_msgs::msg::Header;

/// The reason why points cannot be read from a cloud.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointCloudError {
    /// The cloud has no field with that name.
    #[error("the cloud has no field `{name}`; it has {}", .known.join(", "))]
    NoField {
        /// The requested name.
        name: String,
        /// The fields of the cloud.
        known: Vec<String>,
    },
    /// The field contains numbers of another type.
    #[error(
        "the field `{name}` holds numbers of datatype {found}, not {asked} (sensor_msgs/msg/PointField)"
    )]
    OtherType {
        /// The field.
        name: String,
        /// The field's datatype.
        found: u8,
        /// The requested datatype.
        asked: u8,
    },
    /// The field lies partly beyond the end of a point.
    #[error("the field `{name}` ends at byte {end} of a point, but a point has {point_step} bytes")]
    OutsidePoint {
        /// The field.
        name: String,
        /// The position in the point at which the field ends.
        end: u64,
        /// The size of a point in bytes.
        point_step: u32,
    },
    /// The data is shorter than the size of the cloud requires, or the row step is so small that
    /// rows overlap.
    #[error(
        "{width} x {height} points of {point_step} bytes in rows of {row_step} need {needed} bytes, but there are {found}"
    )]
    TooShort {
        /// The number of points in a row.
        width: u32,
        /// The number of rows.
        height: u32,
        /// The number of bytes in a point.
        point_step: u32,
        /// The number of bytes in a row.
        row_step: u32,
        /// The number of bytes that all rows need.
        needed: u64,
        /// The number of bytes of data.
        found: usize,
    },
}

/// The points of a cloud, row by row, as arrays of some of their fields.
#[derive(Clone, Debug)]
pub struct Points<'a, T, const N: usize> {
    grid: Grid<'a>,
    offsets: [usize; N],
    is_bigendian: bool,
    next: usize,
    sample: PhantomData<fn() -> T>,
}

/// The layout of a cloud, which is taken from an owned message or a view.
struct Layout<'a> {
    size: [u32; 4],
    is_bigendian: bool,
    data: &'a [u8],
}

/// The layout of a field, which is taken from an owned message or a view.
struct FieldLayout<'a> {
    name: &'a str,
    offset: u32,
    datatype: u8,
}

impl PointCloud2 {
    /// Returns the points as arrays of the fields with these names, all of which must contain
    /// numbers of the type `T`. The whole cloud is checked once, and points are read only when the
    /// iterator reaches them.
    ///
    /// # Errors
    /// Fails if a field is missing or has another type, or if the data is shorter than the size of
    /// the cloud requires.
    ///
    /// ```
    /// use feros_msgs::sensor_msgs::msg::PointCloud2;
    /// let cloud = PointCloud2::from_points(Default::default(), ["x", "y", "z"], [[1.0_f32, 2.0, 3.0]]);
    /// for [x, z] in cloud.points::<f32, 2>(["x", "z"])? {
    ///     assert_eq!((x, z), (1.0, 3.0));
    /// }
    /// # Ok::<(), feros_msgs::PointCloudError>(())
    /// ```
    pub fn points<T: Sample, const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<Points<'_, T, N>, PointCloudError> {
        let layout = Layout {
            size: [self.width, self.height, self.point_step, self.row_step],
            is_bigendian: self.is_bigendian,
            data: &self.data,
        };
        let fields = self.fields.iter().map(|field| FieldLayout {
            name: &field.name,
            offset: field.offset,
            datatype: field.datatype,
        });
        Points::new(&layout, fields, names)
    }

    /// Creates a cloud with these points in one row. The fields of a point follow each other
    /// without gaps.
    ///
    /// # Panics
    /// Panics if there are more than `u32::MAX` points, or so many fields that a point has more
    /// than `u32::MAX` bytes.
    pub fn from_points<T: Sample, const N: usize>(
        header: Header,
        names: [&str; N],
        points: impl IntoIterator<Item = [T; N]>,
    ) -> Self {
        let fits = |number: usize| u32::try_from(number).expect("as many as a cloud can have");
        let field = |(index, name): (usize, &str)| PointField {
            name: name.to_owned(),
            offset: fits(index * T::BYTES),
            datatype: T::DATATYPE,
            count: 1,
        };
        let (mut data, mut width) = (Vec::new(), 0_usize);
        for point in points {
            point.into_iter().for_each(|number| number.write(&mut data));
            width += 1;
        }
        Self {
            header,
            height: 1,
            width: fits(width),
            fields: names.into_iter().enumerate().map(field).collect(),
            is_bigendian: false,
            point_step: fits(N * T::BYTES),
            row_step: fits(data.len()),
            data,
            is_dense: true,
        }
    }
}

impl<'a> PointCloud2View<'a> {
    /// Like [`PointCloud2::points`], but reads received bytes without decoding the cloud.
    ///
    /// # Errors
    /// Fails like [`PointCloud2::points`].
    pub fn points<T: Sample, const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<Points<'a, T, N>, PointCloudError> {
        let layout = Layout {
            size: [self.width, self.height, self.point_step, self.row_step],
            is_bigendian: self.is_bigendian,
            data: self.data,
        };
        let fields = self.fields.iter().map(|field| FieldLayout {
            name: field.name,
            offset: field.offset,
            datatype: field.datatype,
        });
        Points::new(&layout, fields, names)
    }
}

impl<'a, T: Sample, const N: usize> Points<'a, T, N> {
    fn new<'f>(
        layout: &Layout<'a>,
        fields: impl Iterator<Item = FieldLayout<'f>> + Clone,
        names: [&str; N],
    ) -> Result<Self, PointCloudError> {
        let [width, height, point_step, row_step] = layout.size;
        let mut offsets = [0; N];
        for (offset, name) in offsets.iter_mut().zip(names) {
            let Some(field) = fields.clone().find(|field| field.name == name) else {
                let known = fields.map(|field| field.name.to_owned()).collect();
                return Err(PointCloudError::NoField { name: name.to_owned(), known });
            };
            if field.datatype != T::DATATYPE {
                return Err(PointCloudError::OtherType {
                    name: name.to_owned(),
                    found: field.datatype,
                    asked: T::DATATYPE,
                });
            }
            let end = u64::from(field.offset) + T::BYTES as u64;
            if end > u64::from(point_step) {
                return Err(PointCloudError::OutsidePoint {
                    name: name.to_owned(),
                    end,
                    point_step,
                });
            }
            *offset = field.offset as usize;
        }
        let grid = Grid::new(layout.data, layout.size).map_err(|needed| {
            let found = layout.data.len();
            PointCloudError::TooShort { width, height, point_step, row_step, needed, found }
        })?;
        let is_bigendian = layout.is_bigendian;
        Ok(Self { grid, offsets, is_bigendian, next: 0, sample: PhantomData })
    }
}

impl<T: Sample, const N: usize> Iterator for Points<'_, T, N> {
    type Item = [T; N];

    fn next(&mut self) -> Option<[T; N]> {
        if self.next >= self.grid.len() {
            return None;
        }
        let point = self.grid.element(self.next)?;
        self.next += 1;
        // `new` has checked that the fields are inside the point.
        Some(self.offsets.map(|offset| T::read(point, offset, self.is_bigendian)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.grid.len() - self.next;
        (left, Some(left))
    }
}

impl<T: Sample, const N: usize> ExactSizeIterator for Points<'_, T, N> {}
impl<T: Sample, const N: usize> FusedIterator for Points<'_, T, N> {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A cloud of two rows of two points. Each point has `x` (f32), a gap, and `ring` (u16), and a
    /// gap follows each row.
    fn organized() -> PointCloud2 {
        let field = |name: &str, offset, datatype| PointField {
            name: name.to_owned(),
            offset,
            datatype,
            count: 1,
        };
        let mut cloud = PointCloud2 {
            height: 2,
            width: 2,
            fields: vec![field("x", 0, PointField::FLOAT32), field("ring", 6, PointField::UINT16)],
            point_step: 8,
            row_step: 20,
            ..PointCloud2::default()
        };
        for (x, ring) in [(1.0_f32, 1_u16), (2.0, 2), (3.0, 3), (4.0, 4)] {
            cloud.data.extend(x.to_le_bytes());
            cloud.data.extend([0xff, 0xff]);
            cloud.data.extend(ring.to_le_bytes());
            if ring == 2 {
                cloud.data.extend([0xee; 4]);
            }
        }
        cloud
    }

    fn xs(cloud: &PointCloud2) -> Result<Vec<f32>, PointCloudError> {
        Ok(cloud.points::<f32, 1>(["x"])?.map(|[x]| x).collect())
    }

    #[test]
    fn points_are_read_by_name_over_gaps_owned_and_viewed() {
        let cloud = organized();
        assert_eq!(xs(&cloud).unwrap(), [1.0, 2.0, 3.0, 4.0]);
        let rings = cloud.points::<u16, 1>(["ring"]).unwrap();
        assert_eq!(rings.len(), 4);
        assert_eq!(rings.map(|[ring]| ring).collect::<Vec<_>>(), [1, 2, 3, 4]);
        let bytes = feros_message::to_vec(&cloud).unwrap();
        let view = feros_message::view::<PointCloud2>(&bytes).unwrap();
        let viewed: Vec<[f32; 2]> = view.points(["x", "x"]).unwrap().collect();
        assert_eq!(viewed[3], [4.0, 4.0]);

        let mut big = PointCloud2::from_points(Header::default(), ["v"], [[1.5_f64], [-2.0]]);
        big.is_bigendian = true;
        big.data = [1.5_f64, -2.0].iter().flat_map(|number| number.to_be_bytes()).collect();
        assert_eq!(big.points::<f64, 1>(["v"]).unwrap().collect::<Vec<_>>(), [[1.5], [-2.0]]);
        let empty = PointCloud2::from_points::<f32, 3>(Header::default(), ["x", "y", "z"], []);
        assert_eq!(empty.points::<f32, 1>(["z"]).unwrap().count(), 0);
    }

    #[test]
    fn clouds_that_are_not_what_they_say_are_refused() {
        let cloud = organized();
        let text = cloud.points::<f32, 1>(["z"]).unwrap_err().to_string();
        assert_eq!(text, "the cloud has no field `z`; it has x, ring");
        let wrong = cloud.points::<f64, 1>(["x"]).unwrap_err();
        assert!(matches!(wrong, PointCloudError::OtherType { found: 7, asked: 8, .. }), "{wrong}");
        let changed = |change: fn(&mut PointCloud2)| {
            let mut cloud = organized();
            change(&mut cloud);
            xs(&cloud).unwrap_err()
        };
        let is_short = |error| matches!(error, PointCloudError::TooShort { .. });
        assert!(is_short(changed(|cloud| cloud.data.truncate(35))));
        assert!(is_short(changed(|cloud| cloud.row_step = 15)), "rows on each other");
        assert!(is_short(changed(|cloud| cloud.height = u32::MAX)));
        assert!(is_short(changed(|cloud| (cloud.width, cloud.row_step) = (u32::MAX, u32::MAX))));
        let outside = changed(|cloud| cloud.fields[0].offset = u32::MAX - 1);
        assert!(matches!(outside, PointCloudError::OutsidePoint { .. }), "{outside}");
        let nothing = changed(|cloud| cloud.point_step = 0);
        assert!(matches!(nothing, PointCloudError::OutsidePoint { point_step: 0, .. }));
    }
}
