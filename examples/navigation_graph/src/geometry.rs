//! Poses in the plane, and the messages that carry them.

use feros::Clock;
use feros::msgs::geometry_msgs::msg::{Pose, TransformStamped};
use feros_tf2::Transform;
use feros_tf2::glam::{DQuat, DVec3};

/// A pose in the plane: metres, and radians from the x axis to the left.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Pose2 {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) heading: f64,
}

impl Pose2 {
    pub(crate) fn of(pose: &Pose) -> Self {
        let heading = 2.0 * pose.orientation.z.atan2(pose.orientation.w);
        Self { x: pose.position.x, y: pose.position.y, heading: within_half_turn(heading) }
    }

    pub(crate) fn to_message(self) -> Pose {
        self.in_space().into()
    }

    pub(crate) fn distance_to(self, other: Self) -> f64 {
        (other.x - self.x).hypot(other.y - self.y)
    }

    /// The angle by which to turn to the left to face a position.
    pub(crate) fn bearing_to(self, place: Self) -> f64 {
        within_half_turn((place.y - self.y).atan2(place.x - self.x) - self.heading)
    }

    /// Returns this pose as the current transform of `child` in `parent`.
    pub(crate) fn transform(self, clock: &Clock, parent: &str, child: &str) -> TransformStamped {
        self.in_space().to_stamped(parent, child, clock.now())
    }

    fn in_space(self) -> Transform {
        Transform::new(DVec3::new(self.x, self.y, 0.0), DQuat::from_rotation_z(self.heading))
    }
}

/// Reduces an angle to the range from minus to plus half a turn.
pub(crate) fn within_half_turn(angle: f64) -> f64 {
    angle.sin().atan2(angle.cos())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn poses_survive_messages_and_know_where_to_turn() {
        let pose = Pose2 { x: 1.0, y: 2.0, heading: -2.5 };
        let back = Pose2::of(&pose.to_message());
        assert!(
            pose.distance_to(back) < 1e-12 && (pose.heading - back.heading).abs() < 1e-12,
            "{back:?}"
        );
        let north = Pose2 { x: 0.0, y: 0.0, heading: FRAC_PI_2 };
        assert!(
            (north.bearing_to(Pose2 { x: -1.0, y: 0.0, heading: 0.0 }) - FRAC_PI_2).abs() < 1e-12
        );
        assert!((within_half_turn(3.5 * PI) + FRAC_PI_2).abs() < 1e-12);
    }
}
