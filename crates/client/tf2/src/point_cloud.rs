//! Expresses point clouds in another frame without a copy. Fields are found by name.

use feros_msgs::sensor_msgs::msg::{PointCloud2, PointField};
use glam::{DMat3, DVec3};

use crate::transform::Transform;

/// Why a point cloud cannot be transformed; the cloud is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointCloudError {
    /// A field that every point needs is missing.
    #[error("the point cloud has no field \"{name}\": it has {}", known.join(", "))]
    NoField {
        /// The field.
        name: &'static str,
        /// The fields of the cloud.
        known: Vec<String>,
    },
    /// A coordinate is not a floating-point number.
    #[error(
        "field \"{name}\" of the point cloud has datatype {datatype}: coordinates are FLOAT32 (7) \
         or FLOAT64 (8)"
    )]
    Datatype {
        /// The field.
        name: &'static str,
        /// Its type, as in `sensor_msgs/PointField`.
        datatype: u8,
    },
    /// A field lies outside of its point.
    #[error(
        "field \"{name}\" of the point cloud ends at byte {end} of a point, but a point has \
         {point_step} bytes"
    )]
    Offset {
        /// The field.
        name: &'static str,
        /// The end of the field, in bytes.
        end: u64,
        /// The size of a point, in bytes.
        point_step: u32,
    },
    /// The size of the data does not match the declared sizes.
    #[error(
        "the point cloud declares {height} rows of {width} points of {point_step} bytes, {row_step} bytes per row, but \
         has {length} bytes of data"
    )]
    Size {
        /// The number of rows.
        height: u32,
        /// The number of points per row.
        width: u32,
        /// The number of bytes per point.
        point_step: u32,
        /// The number of bytes per row.
        row_step: u32,
        /// The number of bytes of data.
        length: usize,
    },
}

/// Expresses the points of a cloud in the target frame of `transform`, without a copy. `x`, `y` and
/// `z` are rotated and moved; `normal_x`, `normal_y` and `normal_z`, if the cloud has them, are
/// rotated. The caller has to change the header.
///
/// # Errors
/// See [`PointCloudError`]; in these cases, the cloud is unchanged.
pub fn transform_point_cloud(
    cloud: &mut PointCloud2,
    transform: &Transform,
) -> Result<(), PointCloudError> {
    let rows = Rows::of(cloud)?;
    let points = Triple::find(cloud, ["x", "y", "z"])?;
    let has_normals = cloud.fields.iter().any(|field| field.name == "normal_x");
    let normals = has_normals
        .then(|| Triple::find(cloud, ["normal_x", "normal_y", "normal_z"]))
        .transpose()?;
    let matrix = DMat3::from_quat(transform.rotation);
    rows.each(&mut cloud.data, &points, |point| matrix * point + transform.translation);
    if let Some(normals) = normals {
        rows.each(&mut cloud.data, &normals, |normal| matrix * normal);
    }
    Ok(())
}

/// The layout of the points, all of which lie within the data.
struct Rows {
    row_step: usize,
    row_bytes: usize,
    height: usize,
    point_step: usize,
}

impl Rows {
    fn of(cloud: &PointCloud2) -> Result<Self, PointCloudError> {
        let PointCloud2 { height, width, point_step, row_step, ref data, .. } = *cloud;
        let row_bytes = u64::from(width) * u64::from(point_step);
        // The last row may end with its last point, without padding.
        let all = u64::from(height.saturating_sub(1)) * u64::from(row_step) + row_bytes;
        let has_points = height > 0 && width > 0;
        let fits = row_bytes <= u64::from(row_step) && all <= data.len() as u64 && point_step > 0;
        if has_points && !fits {
            let length = data.len();
            return Err(PointCloudError::Size { height, width, point_step, row_step, length });
        }
        let height = if has_points { height as usize } else { 0 };
        // The row lies within the data, so its size fits a usize.
        let row_bytes = usize::try_from(row_bytes).unwrap_or(0);
        let (row_step, point_step) = (row_step as usize, point_step as usize);
        Ok(Self { row_step, row_bytes, height, point_step })
    }

    /// Applies `change` to three numbers of each point.
    fn each(&self, data: &mut [u8], fields: &Triple, change: impl Fn(DVec3) -> DVec3) {
        for row in 0..self.height {
            let begin = row * self.row_step;
            let Some(row) = data.get_mut(begin..begin + self.row_bytes) else { return };
            let points = row.chunks_exact_mut(self.point_step);
            match fields.singles() {
                // Nearly all clouds have this layout, so it has a fast path.
                Some([x, y, z]) => points.for_each(|point| {
                    let read = |offset: usize| f64::from(f32::from_le_bytes(at(point, offset)));
                    let changed = change(DVec3::new(read(x), read(y), read(z))).as_vec3();
                    for (offset, value) in [(x, changed.x), (y, changed.y), (z, changed.z)] {
                        put(point, offset, value.to_le_bytes());
                    }
                }),
                None => points.for_each(|point| {
                    let changed = change(DVec3::from_array(fields.places.map(|f| f.read(point))));
                    for (field, value) in fields.places.iter().zip(changed.to_array()) {
                        field.write(point, value);
                    }
                }),
            }
        }
    }
}

/// Returns `N` bytes of a point; the caller knows that the field lies within the point.
fn at<const N: usize>(point: &[u8], offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&point[offset..offset + N]);
    bytes
}

fn put<const N: usize>(point: &mut [u8], offset: usize, bytes: [u8; N]) {
    point[offset..offset + N].copy_from_slice(&bytes);
}

/// The position of a number within a point.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    is_double: bool,
    is_big_endian: bool,
}

impl Place {
    fn read(self, point: &[u8]) -> f64 {
        match (self.is_double, self.is_big_endian) {
            (false, false) => f32::from_le_bytes(at(point, self.offset)).into(),
            (false, true) => f32::from_be_bytes(at(point, self.offset)).into(),
            (true, false) => f64::from_le_bytes(at(point, self.offset)),
            (true, true) => f64::from_be_bytes(at(point, self.offset)),
        }
    }

    fn write(self, point: &mut [u8], value: f64) {
        #[allow(clippy::cast_possible_truncation)] // the cloud has single precision
        let single = value as f32;
        match (self.is_double, self.is_big_endian) {
            (false, false) => put(point, self.offset, single.to_le_bytes()),
            (false, true) => put(point, self.offset, single.to_be_bytes()),
            (true, false) => put(point, self.offset, value.to_le_bytes()),
            (true, true) => put(point, self.offset, value.to_be_bytes()),
        }
    }
}

/// The positions of three numbers that belong together, such as coordinates.
struct Triple {
    places: [Place; 3],
}

impl Triple {
    fn find(cloud: &PointCloud2, names: [&'static str; 3]) -> Result<Self, PointCloudError> {
        let find = |name: &'static str| {
            let field = cloud.fields.iter().find(|field| field.name == name).ok_or_else(|| {
                let known = cloud.fields.iter().map(|field| field.name.clone()).collect();
                PointCloudError::NoField { name, known }
            })?;
            let is_double = match field.datatype {
                PointField::FLOAT32 => false,
                PointField::FLOAT64 => true,
                datatype => return Err(PointCloudError::Datatype { name, datatype }),
            };
            let end = u64::from(field.offset) + if is_double { 8 } else { 4 };
            if end > u64::from(cloud.point_step) {
                return Err(PointCloudError::Offset { name, end, point_step: cloud.point_step });
            }
            let is_big_endian = cloud.is_bigendian;
            Ok(Place { offset: field.offset as usize, is_double, is_big_endian })
        };
        let [x, y, z] = names;
        Ok(Self { places: [find(x)?, find(y)?, find(z)?] })
    }

    /// Returns the offsets, if all three numbers are little-endian FLOAT32.
    fn singles(&self) -> Option<[usize; 3]> {
        let is_single = |place: &Place| !place.is_double && !place.is_big_endian;
        self.places.iter().all(is_single).then(|| self.places.map(|place| place.offset))
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use glam::DQuat;

    use super::*;

    fn field(name: &str, offset: u32, datatype: u8) -> PointField {
        PointField { name: name.to_owned(), offset, datatype, count: 1 }
    }

    /// A cloud of two rows of one point each, with padding, intensity before the coordinates, and
    /// normals.
    fn cloud(is_bigendian: bool, datatype: u8) -> PointCloud2 {
        let size = if datatype == PointField::FLOAT64 { 8 } else { 4 };
        let names = ["x", "y", "z", "normal_x", "normal_y", "normal_z"];
        let fields: Vec<_> =
            (0..).zip(names).map(|(i, name)| field(name, 2 + i * size, datatype)).collect();
        let mut data = Vec::new();
        for numbers in [[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]] {
            data.extend([7, 7]);
            for number in numbers {
                match (datatype, is_bigendian) {
                    (PointField::FLOAT64, false) => data.extend(f64::to_le_bytes(number)),
                    (PointField::FLOAT64, true) => data.extend(f64::to_be_bytes(number)),
                    (_, false) => data.extend((number as f32).to_le_bytes()),
                    (_, true) => data.extend((number as f32).to_be_bytes()),
                }
            }
            data.push(9);
        }
        let point_step = 2 + 6 * size;
        let row_step = point_step + 1;
        PointCloud2 {
            height: 2,
            width: 1,
            fields,
            is_bigendian,
            point_step,
            row_step,
            data,
            ..PointCloud2::default()
        }
    }

    fn numbers(cloud: &PointCloud2, row: usize) -> Vec<f64> {
        let point = &cloud.data[row * cloud.row_step as usize..][..cloud.point_step as usize];
        let read =
            |names| Triple::find(cloud, names).unwrap().places.map(|place| place.read(point));
        [read(["x", "y", "z"]), read(["normal_x", "normal_y", "normal_z"])].concat()
    }

    #[test]
    fn points_are_moved_normals_are_turned_and_all_else_stays() {
        let quarter = Transform::new(DVec3::new(1.0, 2.0, 3.0), DQuat::from_rotation_z(FRAC_PI_2));
        for is_bigendian in [false, true] {
            for datatype in [PointField::FLOAT32, PointField::FLOAT64] {
                let mut cloud = cloud(is_bigendian, datatype);
                transform_point_cloud(&mut cloud, &quarter).unwrap();
                for (row, expected) in
                    [[1.0, 3.0, 3.0, 0.0, 1.0, 0.0], [0.0, 2.0, 3.0, 0.0, 0.0, 1.0]]
                        .iter()
                        .enumerate()
                {
                    for (found, expected) in numbers(&cloud, row).iter().zip(expected) {
                        assert!(
                            (found - expected).abs() < 1e-6,
                            "{row}: {:?}",
                            numbers(&cloud, row)
                        );
                    }
                }
                let row_step = cloud.row_step as usize;
                let padding = [0, 1, row_step - 1].map(|at| cloud.data[at]);
                assert_eq!(padding, [7, 7, 9], "bytes besides the coordinates were changed");
            }
        }
    }

    #[test]
    fn invalid_clouds_are_refused_and_stay_unchanged() {
        let refused = |change: fn(&mut PointCloud2)| {
            let mut cloud = cloud(false, PointField::FLOAT32);
            change(&mut cloud);
            let before = cloud.clone();
            let error = transform_point_cloud(&mut cloud, &Transform::IDENTITY).unwrap_err();
            assert_eq!(cloud, before);
            error
        };
        let error = refused(|cloud| cloud.fields[1].name = "Y".into());
        assert!(error.to_string().contains("no field \"y\""), "{error}");
        let error = refused(|cloud| cloud.fields[0].datatype = PointField::INT32);
        assert_eq!(error, PointCloudError::Datatype { name: "x", datatype: 5 });
        let error = refused(|cloud| cloud.fields[2].offset = u32::MAX);
        assert!(matches!(error, PointCloudError::Offset { name: "z", .. }), "{error}");
        for change in [
            (|cloud| cloud.width = u32::MAX) as fn(&mut PointCloud2),
            |cloud| cloud.height = 3,
            |cloud| cloud.row_step = 1,
            |cloud| cloud.point_step = 0,
            |cloud| cloud.data.truncate(52),
        ] {
            let error = refused(change);
            assert!(
                matches!(error, PointCloudError::Size { .. } | PointCloudError::Offset { .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn an_empty_cloud_has_nothing_to_transform() {
        let mut cloud = cloud(false, PointField::FLOAT32);
        (cloud.height, cloud.width) = (0, 0);
        cloud.data.clear();
        assert_eq!(transform_point_cloud(&mut cloud, &Transform::IDENTITY), Ok(()));
    }
}
