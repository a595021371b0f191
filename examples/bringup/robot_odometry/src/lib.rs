//! Where a robot is, by the way that its two wheels have made.

use std::time::Duration;

feros::include_interfaces!();

use robot_msgs::msg::WheelSpeeds;

/// The sizes that decide which way the wheels make, in metres.
#[derive(Debug, Clone, Copy)]
pub struct Wheels {
    pub radius: f64,
    /// The distance between the wheels.
    pub track: f64,
}

/// A place on the floor, in metres, and a direction, in radians.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pose {
    pub x: f64,
    pub y: f64,
    pub yaw: f64,
}

impl Pose {
    /// The pose after the wheels have turned at these speeds for this time.
    pub fn after(self, speeds: &WheelSpeeds, wheels: Wheels, time: Duration) -> Self {
        let seconds = time.as_secs_f64();
        let way = (speeds.left + speeds.right) / 2.0 * wheels.radius * seconds;
        let turn = (speeds.right - speeds.left) * wheels.radius / wheels.track * seconds;
        let yaw = self.yaw + turn;
        Self { x: self.x + way * yaw.cos(), y: self.y + way * yaw.sin(), yaw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(left: f64, right: f64) -> Pose {
        let speeds = WheelSpeeds { left, right, ..WheelSpeeds::default() };
        let wheels = Wheels { radius: 0.5, track: 2.0 };
        Pose::default().after(&speeds, wheels, Duration::from_secs(2))
    }

    #[test]
    fn wheels_that_turn_against_each_other_go_nowhere() {
        assert_eq!(after(1.0, -1.0), Pose { x: 0.0, y: 0.0, yaw: -1.0 });
        assert_eq!(after(1.0, 1.0), Pose { x: 1.0, y: 0.0, yaw: 0.0 });
    }
}
