//! The position of one frame in another: a rotation followed by a translation, in f64.

use feros_executor::Time;
use feros_msgs::builtin_interfaces::msg::Time as TimeMessage;
use feros_msgs::geometry_msgs::msg::{
    Point, Pose, Quaternion, Transform as TransformMessage, TransformStamped, Vector3,
};
use feros_msgs::std_msgs::msg::Header;
use glam::{DAffine3, DMat4, DQuat, DVec3};

/// A rotation followed by a translation, which transforms values from the source frame into the
/// target frame. The translation is in metres, and the rotation is a unit quaternion.
///
/// Transforms are multiplied like matrices: `a_in_map * b_in_a` is `b_in_map`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// The origin of the source frame in the target frame.
    pub translation: DVec3,
    /// The orientation of the source frame in the target frame.
    pub rotation: DQuat,
}

impl Transform {
    /// The transform of a frame into itself.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// Creates a transform from both parts; the rotation has to be a unit quaternion.
    #[must_use]
    pub fn new(translation: DVec3, rotation: DQuat) -> Self {
        Self { translation, rotation }
    }

    /// Creates a transform without a rotation.
    #[must_use]
    pub fn from_translation(translation: DVec3) -> Self {
        Self { translation, rotation: DQuat::IDENTITY }
    }

    /// Returns the transform in the other direction.
    #[must_use]
    pub fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { translation: -(rotation * self.translation), rotation }
    }

    /// Expresses a point of the source frame in the target frame.
    #[must_use]
    pub fn transform_point(self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// Expresses a direction of the source frame in the target frame: it is rotated, but not moved.
    #[must_use]
    pub fn transform_vector(self, vector: DVec3) -> DVec3 {
        self.rotation * vector
    }

    /// Returns a transform between this transform (at `ratio` 0) and `newer` (at `ratio` 1). The
    /// translation moves along the line, and the rotation along the shorter arc at an even speed,
    /// as in tf2 (`tf2/src/cache.cpp`).
    #[must_use]
    pub fn interpolate(self, newer: Self, ratio: f64) -> Self {
        Self {
            translation: self.translation.lerp(newer.translation, ratio),
            rotation: slerp(self.rotation, newer.rotation, ratio),
        }
    }

    /// Returns the message with this transform of `child` in `parent` at a time.
    #[must_use]
    pub fn to_stamped(self, parent: &str, child: &str, stamp: Time) -> TransformStamped {
        TransformStamped {
            header: Header {
                stamp: TimeMessage::from_nanos(stamp.as_nanos()),
                frame_id: parent.to_owned(),
            },
            child_frame_id: child.to_owned(),
            transform: self.into(),
        }
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl std::ops::Mul for Transform {
    type Output = Self;

    fn mul(self, inner: Self) -> Self {
        Self {
            translation: self.rotation * inner.translation + self.translation,
            rotation: self.rotation * inner.rotation,
        }
    }
}

/// Interpolates on the arc. The angle comes from the chord between both quaternions. If samples are
/// close together, `acos` of their product would lose half of the digits. So would glam's slerp,
/// which interpolates along a straight line below 3 degrees.
fn slerp(older: DQuat, newer: DQuat, ratio: f64) -> DQuat {
    let newer = if older.dot(newer) < 0.0 { -newer } else { newer };
    let angle = 2.0 * ((newer - older).length() * 0.5).min(1.0).asin();
    // The sine of an angle this small equals the angle.
    if angle < 1e-8 {
        return older * (1.0 - ratio) + newer * ratio;
    }
    let sum = older * ((1.0 - ratio) * angle).sin() + newer * (ratio * angle).sin();
    sum * angle.sin().recip()
}

pub(crate) fn vector(vector: &Vector3) -> DVec3 {
    DVec3::new(vector.x, vector.y, vector.z)
}

pub(crate) fn vector_message(vector: DVec3) -> Vector3 {
    Vector3 { x: vector.x, y: vector.y, z: vector.z }
}

pub(crate) fn point(point: &Point) -> DVec3 {
    DVec3::new(point.x, point.y, point.z)
}

pub(crate) fn point_message(point: DVec3) -> Point {
    Point { x: point.x, y: point.y, z: point.z }
}

pub(crate) fn quaternion(quaternion: &Quaternion) -> DQuat {
    DQuat::from_xyzw(quaternion.x, quaternion.y, quaternion.z, quaternion.w)
}

pub(crate) fn quaternion_message(quaternion: DQuat) -> Quaternion {
    Quaternion { x: quaternion.x, y: quaternion.y, z: quaternion.z, w: quaternion.w }
}

impl From<&TransformMessage> for Transform {
    fn from(message: &TransformMessage) -> Self {
        Self { translation: vector(&message.translation), rotation: quaternion(&message.rotation) }
    }
}

impl From<Transform> for TransformMessage {
    fn from(transform: Transform) -> Self {
        Self {
            translation: vector_message(transform.translation),
            rotation: quaternion_message(transform.rotation),
        }
    }
}

/// The pose of a body in a frame is the transform from the body into the frame.
impl From<&Pose> for Transform {
    fn from(pose: &Pose) -> Self {
        Self { translation: point(&pose.position), rotation: quaternion(&pose.orientation) }
    }
}

impl From<Transform> for Pose {
    fn from(transform: Transform) -> Self {
        Self {
            position: point_message(transform.translation),
            orientation: quaternion_message(transform.rotation),
        }
    }
}

impl From<Transform> for DAffine3 {
    fn from(transform: Transform) -> Self {
        Self::from_rotation_translation(transform.rotation, transform.translation)
    }
}

/// Drops the scale of the matrix, since a transform has no scale.
impl From<DAffine3> for Transform {
    fn from(affine: DAffine3) -> Self {
        let (_, rotation, translation) = affine.to_scale_rotation_translation();
        Self { translation, rotation }
    }
}

impl From<Transform> for DMat4 {
    fn from(transform: Transform) -> Self {
        Self::from_rotation_translation(transform.rotation, transform.translation)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    fn close(a: DQuat, b: DQuat) -> bool {
        (a - b).length() < 1e-12
    }

    #[test]
    fn a_transform_and_its_inverse_are_nothing() {
        let turned =
            Transform::new(DVec3::new(1.0, -2.0, 3.0), DQuat::from_rotation_y(0.7).normalize());
        let nothing = turned * turned.inverse();
        assert!(nothing.translation.length() < 1e-12 && close(nothing.rotation, DQuat::IDENTITY));
        let point = DVec3::new(0.3, 0.2, 0.1);
        let back = turned.inverse().transform_point(turned.transform_point(point));
        assert!((back - point).length() < 1e-12);
    }

    #[test]
    fn rotations_are_followed_at_an_even_speed_along_the_shorter_arc() {
        for angle in [1e-12, 1e-9, 1e-6, 0.01, 0.06, 1.0, FRAC_PI_2, 3.0] {
            let (from, to) = (DQuat::IDENTITY, DQuat::from_rotation_z(angle));
            for ratio in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let expected = DQuat::from_rotation_z(angle * ratio);
                assert!(close(slerp(from, to, ratio), expected), "{angle} {ratio}");
                assert!(close(slerp(from, -to, ratio), expected), "{angle} {ratio}, other sign");
            }
        }
        // For half a turn, both arcs are equally long, but the result still has length 1.
        let half = slerp(DQuat::IDENTITY, DQuat::from_rotation_x(PI), 0.5);
        assert!((half.length() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn matrices_say_the_same() {
        let transform = Transform::new(DVec3::new(1.0, 2.0, 3.0), DQuat::from_rotation_x(0.4));
        let point = DVec3::new(-1.0, 0.5, 2.0);
        let moved = transform.transform_point(point);
        assert!((DAffine3::from(transform).transform_point3(point) - moved).length() < 1e-12);
        assert!((DMat4::from(transform).transform_point3(point) - moved).length() < 1e-12);
        let back = Transform::from(DAffine3::from(transform));
        assert!((back.transform_point(point) - moved).length() < 1e-12);
    }
}
