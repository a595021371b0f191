//! A joint: how its child link moves relative to its parent link.

use feros_tf2::Transform;
use feros_tf2::glam::{DQuat, DVec3};

/// The type of a joint (<https://wiki.ros.org/urdf/XML/joint>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JointKind {
    /// Turns about its axis, within limits.
    Revolute,
    /// Turns about its axis, without limits.
    Continuous,
    /// Slides along its axis.
    Prismatic,
    /// Does not move.
    Fixed,
    /// Moves in a plane; a single number does not describe its position.
    Planar,
    /// Moves freely; a single number does not describe its position.
    Floating,
}

impl JointKind {
    /// The types, by their names in a description.
    pub(super) const NAMES: [(&'static str, Self); 6] = [
        ("revolute", Self::Revolute),
        ("continuous", Self::Continuous),
        ("prismatic", Self::Prismatic),
        ("fixed", Self::Fixed),
        ("planar", Self::Planar),
        ("floating", Self::Floating),
    ];

    /// Whether a single number is the position of the joint.
    #[must_use]
    pub fn is_movable(self) -> bool {
        matches!(self, Self::Revolute | Self::Continuous | Self::Prismatic)
    }

    /// Whether the child link stays where the description puts it. Planar joints count as fixed, as
    /// in `kdl_parser`.
    #[must_use]
    pub fn is_static(self) -> bool {
        matches!(self, Self::Fixed | Self::Planar)
    }
}

/// The joint that another joint mimics: its position is `multiplier * position + offset`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mimic {
    /// The name of the other joint.
    pub joint: String,
    /// The factor, 1 by default.
    pub multiplier: f64,
    /// The offset, in radians or metres.
    pub offset: f64,
}

/// The range of a joint's positions, in radians or metres. An end that the description does not
/// give is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// The lowest position.
    pub lower: Option<f64>,
    /// The highest position.
    pub upper: Option<f64>,
}

/// A joint of a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// The name.
    pub name: String,
    /// The type.
    pub kind: JointKind,
    /// The name of the parent link.
    pub parent: String,
    /// The name of the child link.
    pub child: String,
    /// The pose of the child link in the parent link, for the position 0.
    pub origin: Transform,
    /// The axis, in the child link; its length is 1.
    pub axis: DVec3,
    /// The range of positions, from `<limit>`.
    pub limits: Limits,
    /// The range of positions that a controller keeps, from `<safety_controller>`.
    pub soft_limits: Limits,
    /// The joint that this joint mimics.
    pub mimic: Option<Mimic>,
    /// The place of its first byte in the description.
    pub(super) place: usize,
}

impl Joint {
    /// Returns the pose of the child link in the parent link for a position, which is in radians or
    /// metres. Joints whose position is no single number keep their origin.
    #[must_use]
    pub fn pose(&self, position: f64) -> Transform {
        let Transform { translation, rotation } = self.origin;
        match self.kind {
            JointKind::Revolute | JointKind::Continuous => {
                Transform::new(translation, rotation * DQuat::from_axis_angle(self.axis, position))
            }
            JointKind::Prismatic => {
                Transform::new(translation + rotation * (self.axis * position), rotation)
            }
            JointKind::Fixed | JointKind::Planar | JointKind::Floating => self.origin,
        }
    }
}

/// Returns the rotation for angles about the fixed axes x, y and z, in this order, as in URDF.
pub(crate) fn rotation_of(roll: f64, pitch: f64, yaw: f64) -> DQuat {
    DQuat::from_rotation_z(yaw) * DQuat::from_rotation_y(pitch) * DQuat::from_rotation_x(roll)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    fn joint(kind: JointKind, origin: Transform, axis: DVec3) -> Joint {
        Joint {
            name: "joint".into(),
            kind,
            parent: "a".into(),
            child: "b".into(),
            origin,
            axis,
            limits: Limits::default(),
            soft_limits: Limits::default(),
            mimic: None,
            place: 0,
        }
    }

    fn at(found: DVec3, x: f64, y: f64, z: f64) {
        assert!((found - DVec3::new(x, y, z)).length() < 1e-12, "{found} is not {x} {y} {z}");
    }

    #[test]
    fn angles_are_about_fixed_axes_in_the_order_x_y_z() {
        // A quarter about x takes z to -y, and a quarter about the fixed z takes -y to x.
        at(rotation_of(FRAC_PI_2, 0.0, FRAC_PI_2) * DVec3::Z, 1.0, 0.0, 0.0);
        // A quarter about y takes x to -z, and a quarter about z leaves it there.
        at(rotation_of(0.0, FRAC_PI_2, FRAC_PI_2) * DVec3::X, 0.0, 0.0, -1.0);
        // With the order z, y, x the result would be another: x to y, which x takes to z.
        at(rotation_of(FRAC_PI_2, 0.0, FRAC_PI_2) * DVec3::X, 0.0, 1.0, 0.0);
    }

    #[test]
    fn a_revolute_joint_turns_about_its_axis_in_the_turned_frame() {
        // The child is 1 m above the parent, and turned by a quarter about z, so its x axis is the
        // parent's y axis.
        let origin = Transform::new(DVec3::Z, rotation_of(0.0, 0.0, FRAC_PI_2));
        let elbow = joint(JointKind::Revolute, origin, DVec3::X);
        let pose = elbow.pose(FRAC_PI_2);
        at(pose.translation, 0.0, 0.0, 1.0);
        // About the child's x axis, z goes to -y of the child, which is x of the parent.
        at(pose.transform_point(DVec3::Z), 1.0, 0.0, 1.0);
        at(elbow.pose(0.0).transform_point(DVec3::X), 0.0, 1.0, 1.0);
        let wheel = joint(JointKind::Continuous, Transform::IDENTITY, DVec3::Y);
        at(wheel.pose(-3.0 * PI).transform_point(DVec3::X), -1.0, 0.0, 0.0);
    }

    #[test]
    fn a_prismatic_joint_slides_along_its_axis_in_the_turned_frame() {
        let origin = Transform::new(DVec3::X, rotation_of(0.0, FRAC_PI_2, 0.0));
        let lift = joint(JointKind::Prismatic, origin, DVec3::X);
        // The child's x axis is the parent's -z axis.
        at(lift.pose(0.5).translation, 1.0, 0.0, -0.5);
        assert_eq!(lift.pose(0.5).rotation, origin.rotation);
    }

    #[test]
    fn other_joints_stay_at_their_origin() {
        let origin = Transform::from_translation(DVec3::Y);
        for kind in [JointKind::Fixed, JointKind::Planar, JointKind::Floating] {
            assert_eq!(joint(kind, origin, DVec3::X).pose(2.0), origin);
            assert!(!kind.is_movable());
        }
        assert!(JointKind::Planar.is_static() && !JointKind::Floating.is_static());
    }
}
