//! Expresses messages of `geometry_msgs` in another frame, as in `tf2_geometry_msgs`.

use feros_executor::Time;
use feros_msgs::builtin_interfaces::msg::Time as TimeMessage;
use feros_msgs::geometry_msgs::msg::{
    Point, Point32, PointStamped, Polygon, PolygonStamped, Pose, PoseArray, PoseStamped,
    PoseWithCovariance, PoseWithCovarianceStamped, Quaternion, QuaternionStamped,
    Transform as TransformMessage, TransformStamped, Vector3, Vector3Stamped, Wrench,
    WrenchStamped,
};
use feros_msgs::sensor_msgs::msg::PointCloud2;
use feros_msgs::std_msgs::msg::Header;
use glam::{DMat3, DVec3};

use crate::lookup_error::LookupError;
use crate::point_cloud::{PointCloudError, transform_point_cloud};
use crate::transform::{self, Transform};

/// A value that can be expressed in another frame.
///
/// ```
/// use feros_msgs::geometry_msgs::msg::Point;
/// use feros_tf2::{Transform, Transformable as _, glam::DVec3};
///
/// let camera_in_base = Transform::from_translation(DVec3::new(0.2, 0.0, 0.5));
/// let in_base = Point { x: 1.0, y: 0.0, z: 0.0 }.transformed(&camera_in_base);
/// assert_eq!(in_base, Point { x: 1.2, y: 0.0, z: 0.5 });
/// ```
pub trait Transformable: Sized {
    /// Returns the same value, expressed in the target frame of `transform`.
    #[must_use]
    fn transformed(&self, transform: &Transform) -> Self;
}

/// A message with a header that can be expressed in another frame; see
/// [`Buffer::transform`](crate::Buffer::transform).
pub trait StampedTransformable: Sized {
    /// The frame and the time of the message.
    fn header(&self) -> &Header;

    /// Returns the same message, expressed in the frame `target`, at `time`. `transform` brings
    /// values into that frame.
    ///
    /// # Errors
    /// When a value of the message cannot be transformed.
    fn transformed_to(
        &self,
        transform: &Transform,
        target: &str,
        time: Time,
    ) -> Result<Self, TransformError>;
}

/// Why a message cannot be expressed in another frame.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// A frame or its transform at that time is unknown.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The point cloud is invalid.
    #[error(transparent)]
    PointCloud(#[from] PointCloudError),
}

/// A point is rotated and moved.
impl Transformable for Point {
    fn transformed(&self, by: &Transform) -> Self {
        transform::point_message(by.transform_point(transform::point(self)))
    }
}

/// A point is rotated and moved.
impl Transformable for Point32 {
    fn transformed(&self, by: &Transform) -> Self {
        let place = DVec3::new(self.x.into(), self.y.into(), self.z.into());
        let moved = by.transform_point(place).as_vec3();
        Self { x: moved.x, y: moved.y, z: moved.z }
    }
}

/// A direction is rotated, but not moved.
impl Transformable for Vector3 {
    fn transformed(&self, by: &Transform) -> Self {
        transform::vector_message(by.transform_vector(transform::vector(self)))
    }
}

impl Transformable for Quaternion {
    fn transformed(&self, by: &Transform) -> Self {
        transform::quaternion_message(by.rotation * transform::quaternion(self))
    }
}

impl Transformable for Pose {
    fn transformed(&self, by: &Transform) -> Self {
        (*by * Transform::from(self)).into()
    }
}

impl Transformable for TransformMessage {
    fn transformed(&self, by: &Transform) -> Self {
        (*by * Transform::from(self)).into()
    }
}

/// Force and torque are rotated, and the torque of the force about the new origin is added.
impl Transformable for Wrench {
    fn transformed(&self, by: &Transform) -> Self {
        let force = by.transform_vector(transform::vector(&self.force));
        let torque = by.transform_vector(transform::vector(&self.torque));
        Self {
            force: transform::vector_message(force),
            torque: transform::vector_message(torque + by.translation.cross(force)),
        }
    }
}

impl Transformable for Polygon {
    fn transformed(&self, by: &Transform) -> Self {
        Self { points: self.points.iter().map(|point| point.transformed(by)).collect() }
    }
}

/// Rotates the covariances of the position and of the orientation, and the covariances between
/// both.
impl Transformable for PoseWithCovariance {
    fn transformed(&self, by: &Transform) -> Self {
        Self {
            pose: self.pose.transformed(by),
            covariance: turned_covariance(&self.covariance, by),
        }
    }
}

/// Rotates each of the four 3x3 blocks of a 6x6 matrix, which is stored by rows: `R * block * R^T`.
fn turned_covariance(covariance: &[f64; 36], by: &Transform) -> [f64; 36] {
    let rotation = DMat3::from_quat(by.rotation);
    let mut turned = [0.0; 36];
    for (block_row, block_column) in [(0, 0), (0, 3), (3, 0), (3, 3)] {
        let at = |row: usize, column: usize| (block_row + row) * 6 + block_column + column;
        let column = |column: usize| {
            DVec3::new(
                covariance[at(0, column)],
                covariance[at(1, column)],
                covariance[at(2, column)],
            )
        };
        let block = DMat3::from_cols(column(0), column(1), column(2));
        let result = rotation * block * rotation.transpose();
        for row in 0..3 {
            for column in 0..3 {
                turned[at(row, column)] = result.col(column)[row];
            }
        }
    }
    turned
}

fn header_in(target: &str, time: Time) -> Header {
    Header { stamp: TimeMessage::from_nanos(time.as_nanos()), frame_id: target.to_owned() }
}

macro_rules! stamped {
    ($($message:ident { $content:ident $(, $kept:ident)* }),+ $(,)?) => {
        $(impl StampedTransformable for $message {
            fn header(&self) -> &Header {
                &self.header
            }

            fn transformed_to(
                &self,
                transform: &Transform,
                target: &str,
                time: Time,
            ) -> Result<Self, TransformError> {
                Ok(Self {
                    header: header_in(target, time),
                    $content: self.$content.transformed(transform),
                    $($kept: self.$kept.clone(),)*
                })
            }
        })+
    };
}
stamped!(
    PointStamped { point },
    Vector3Stamped { vector },
    QuaternionStamped { quaternion },
    PoseStamped { pose },
    PoseWithCovarianceStamped { pose },
    WrenchStamped { wrench },
    PolygonStamped { polygon },
    TransformStamped { transform, child_frame_id },
);

impl StampedTransformable for PoseArray {
    fn header(&self) -> &Header {
        &self.header
    }

    fn transformed_to(
        &self,
        transform: &Transform,
        target: &str,
        time: Time,
    ) -> Result<Self, TransformError> {
        let poses = self.poses.iter().map(|pose| pose.transformed(transform)).collect();
        Ok(Self { header: header_in(target, time), poses })
    }
}

/// This copies the cloud; [`transform_point_cloud`] changes it without a copy.
impl StampedTransformable for PointCloud2 {
    fn header(&self) -> &Header {
        &self.header
    }

    fn transformed_to(
        &self,
        transform: &Transform,
        target: &str,
        time: Time,
    ) -> Result<Self, TransformError> {
        let mut cloud = self.clone();
        transform_point_cloud(&mut cloud, transform)?;
        cloud.header = header_in(target, time);
        Ok(cloud)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use glam::DQuat;

    use super::*;

    /// A quarter turn to the left, and a translation.
    fn quarter() -> Transform {
        Transform::new(DVec3::new(1.0, 2.0, 3.0), DQuat::from_rotation_z(FRAC_PI_2))
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(is_close, "{found:?} is not {expected:?}");
    }

    #[test]
    fn places_are_moved_and_directions_are_turned() {
        let point = Point { x: 1.0, y: 0.0, z: 0.0 }.transformed(&quarter());
        assert_close(&[point.x, point.y, point.z], &[1.0, 3.0, 3.0]);
        let vector = Vector3 { x: 1.0, y: 0.0, z: 0.0 }.transformed(&quarter());
        assert_close(&[vector.x, vector.y, vector.z], &[0.0, 1.0, 0.0]);
        let corner = Point32 { x: 1.0, y: 0.0, z: 0.0 };
        let polygon = Polygon { points: vec![corner] }.transformed(&quarter());
        assert!((polygon.points[0].y - 3.0).abs() < 1e-6, "{polygon:?}");
        let mut wrench = Wrench::default();
        (wrench.force.x, wrench.torque.y) = (2.0, 1.0);
        let wrench = wrench.transformed(&quarter());
        assert_close(&[wrench.force.x, wrench.force.y], &[0.0, 2.0]);
        let torque = [wrench.torque.x, wrench.torque.y, wrench.torque.z];
        assert_close(&torque, &[-7.0, 0.0, 2.0]);
    }

    #[test]
    fn poses_are_turned_and_moved() {
        let pose = Pose { position: Point { x: 0.0, y: 1.0, z: 0.0 }, ..Pose::default() };
        let moved = pose.transformed(&quarter());
        assert_close(&[moved.position.x, moved.position.y], &[0.0, 2.0]);
        let half = (FRAC_PI_2 / 2.0).sin_cos();
        assert_close(&[moved.orientation.z, moved.orientation.w], &[half.0, half.1]);
    }

    #[test]
    fn orientations_that_are_none_leave_places_alone_and_nothing_panics() {
        for strange in [0.0, 2.0, -1e300, f64::NAN, f64::INFINITY] {
            let orientation = Quaternion { x: strange, y: strange, z: strange, w: strange };
            let pose = Pose { position: Point { x: 0.0, y: 1.0, z: 0.0 }, orientation };
            let moved = pose.transformed(&quarter());
            assert_close(&[moved.position.x, moved.position.y], &[0.0, 2.0]);
            let by = Transform::from(&pose);
            let point = Point { x: strange, y: 0.0, z: 0.0 }.transformed(&by);
            let _ = (point, by.inverse() * by, by.interpolate(quarter(), 0.5));
            let stretched = glam::DAffine3::from_scale(DVec3::splat(strange));
            let _ = Transform::from(stretched);
        }
    }

    #[test]
    fn covariances_are_turned_block_by_block() {
        let mut pose = PoseWithCovariance::default();
        // x is uncertain, and is correlated with roll.
        (pose.covariance[0], pose.covariance[3], pose.covariance[18]) = (4.0, 0.5, 0.5);
        pose.covariance[21] = 9.0;
        let turned = pose.transformed(&quarter());
        let mut expected = [0.0; 36];
        (expected[7], expected[10], expected[25], expected[28]) = (4.0, 0.5, 0.5, 9.0);
        assert_close(&turned.covariance, &expected);
    }
}
