//! The simulated robot: its laser, wheels and frames.

use std::f64::consts::TAU;
use std::sync::Arc;

use example_composition::{Latest, Parts, component, header, log_failure, send};
use feros::msgs::geometry_msgs::msg::Twist;
use feros::msgs::nav_msgs::msg::Odometry;
use feros::msgs::sensor_msgs::msg::{Imu, JointState, LaserScan};
use feros::{Error, QosProfile};
use feros_tf2::{StaticTransformBroadcaster, TransformBroadcaster};

use crate::ROOM_METRES;
use crate::geometry::Pose2;

component!(
    /// Measures the distances to the surrounding walls.
    LaserDriver, "laser_driver", "navigation_graph::LaserDriver", laser_driver
);

fn laser_driver(parts: &mut Parts) -> Result<(), Error> {
    const BEAMS: usize = 360;
    const RATE_HZ: f64 = 10.0;
    let scans = parts.node().create_publisher::<LaserScan>("scan", QosProfile::sensor_data())?;
    let odometry = parts.newest::<Odometry>("odom", QosProfile::sensor_data())?;
    let clock = parts.node().clock().clone();
    parts.at_rate(RATE_HZ, move || {
        let Some(odometry) = odometry.read() else { return };
        let pose = Pose2::of(&odometry.pose.pose);
        let increment = TAU / BEAMS as f64;
        let ranges =
            (0..BEAMS).map(|beam| wall_distance(pose, beam as f64 * increment) as f32).collect();
        let scan = LaserScan {
            header: header(&clock, "base_scan"),
            angle_max: (TAU - increment) as f32,
            angle_increment: increment as f32,
            scan_time: (1.0 / RATE_HZ) as f32,
            range_min: 0.05,
            range_max: 20.0,
            ranges,
            intensities: vec![100.0; BEAMS],
            ..LaserScan::default()
        };
        send(&scans, scan);
    })
}

/// The distance to the wall in a direction, which is relative to the robot's orientation.
fn wall_distance(pose: Pose2, angle: f64) -> f64 {
    let (sin, cos) = (pose.heading + angle).sin_cos();
    let along = |position: f64, part: f64| {
        if part > 1e-9 {
            (ROOM_METRES - position) / part
        } else if part < -1e-9 {
            -position / part
        } else {
            f64::INFINITY
        }
    };
    along(pose.x, cos).min(along(pose.y, sin)).max(0.0)
}

component!(
    /// Moves according to `cmd_vel`, and publishes its pose.
    BaseDriver, "base_driver", "navigation_graph::BaseDriver", base_driver
);

fn base_driver(parts: &mut Parts) -> Result<(), Error> {
    const RATE_HZ: f64 = 50.0;
    const IMU_RATE_HZ: f64 = 100.0;
    /// The number of steps without a command after which the wheels stop: half a second.
    const PATIENCE_STEPS: u32 = 25;
    let start = |name, default| {
        parts
            .node()
            .build_parameter(name, default)
            .range(0.1..=ROOM_METRES - 0.1)
            .read_only()
            .declare()
    };
    let mut pose =
        Pose2 { x: start("start.x", 2.0)?.get(), y: start("start.y", 2.0)?.get(), heading: 0.0 };
    let node = parts.node().clone();
    let odometry = node.create_publisher::<Odometry>("odom", QosProfile::sensor_data())?;
    let transforms = TransformBroadcaster::new(&node)?;
    let joints = node.create_publisher::<JointState>("joint_states", 10)?;
    let commands = Latest::<Twist>::default();
    let (inside, clock) = (commands.clone(), node.clock().clone());
    parts.hear("cmd_vel", 10, move |command: Twist| inside.set(command))?;
    let (mut command, mut steps_without) = (Twist::default(), 0);
    let motion = Latest::<Twist>::default();
    let moved = motion.clone();
    parts.at_rate(RATE_HZ, move || {
        match commands.take() {
            Some(newer) => (command, steps_without) = (newer, 0),
            None if steps_without < PATIENCE_STEPS => steps_without += 1,
            None => command = Twist::default(),
        }
        pose = stepped(pose, &command, 1.0 / RATE_HZ);
        moved.set(command.clone());
        let mut odom = Odometry { header: header(&clock, "odom"), ..Odometry::default() };
        odom.child_frame_id = "base_link".to_owned();
        odom.pose.pose = pose.to_message();
        odom.twist.twist = command.clone();
        send(&odometry, odom);
        log_failure(transforms.send_transform(pose.transform(&clock, "odom", "base_link")));
        let (speed, turn) = (command.linear.x, command.angular.z);
        let joint_state = JointState {
            header: header(&clock, ""),
            name: vec!["wheel_left_joint".to_owned(), "wheel_right_joint".to_owned()],
            position: vec![pose.x, pose.y],
            velocity: vec![speed - 0.1 * turn, speed + 0.1 * turn],
            effort: Vec::new(),
        };
        send(&joints, joint_state);
    })?;
    let imu = node.create_publisher::<Imu>("imu", QosProfile::sensor_data())?;
    let clock = node.clock().clone();
    parts.at_rate(IMU_RATE_HZ, move || {
        let mut measured = Imu { header: header(&clock, "imu_link"), ..Imu::default() };
        measured.linear_acceleration.z = 9.81;
        if let Some(motion) = motion.read() {
            measured.angular_velocity.z = motion.angular.z;
        }
        send(&imu, measured);
    })
}

/// The pose that the robot reaches with a command after a short time; walls stop it.
fn stepped(pose: Pose2, command: &Twist, seconds: f64) -> Pose2 {
    let heading = pose.heading + command.angular.z * seconds;
    let length = command.linear.x * seconds;
    if !heading.is_finite() || !length.is_finite() {
        return pose;
    }
    let within = |position: f64| position.clamp(0.1, ROOM_METRES - 0.1);
    Pose2 {
        x: within(pose.x + length * heading.cos()),
        y: within(pose.y + length * heading.sin()),
        heading,
    }
}

component!(
    /// Publishes the frames of the wheels, which it computes from the joints, and the frames of the
    /// sensors, which never move.
    RobotStatePublisher, "robot_state_publisher", "navigation_graph::RobotStatePublisher", robot_state_publisher
);

fn robot_state_publisher(parts: &mut Parts) -> Result<(), Error> {
    let clock = parts.node().clock().clone();
    let fixed = StaticTransformBroadcaster::new(parts.node())?;
    let mounts = [("base_scan", -0.03), ("imu_link", 0.0), ("camera_link", 0.07)];
    let mount = |(child, x): (&str, f64)| {
        Pose2 { x, ..Pose2::default() }.transform(&clock, "base_link", child)
    };
    log_failure(fixed.send_transforms(mounts.into_iter().map(mount).collect()));
    parts.keep(fixed);
    let transforms = TransformBroadcaster::new(parts.node())?;
    parts.hear("joint_states", 10, move |joints: Arc<JointState>| {
        let wheel = |(name, position): (&String, &f64)| {
            let turned = Pose2 { heading: *position, ..Pose2::default() };
            turned.transform(&clock, "base_link", name)
        };
        let wheels = joints.name.iter().zip(&joints.position).map(wheel).collect();
        log_failure(transforms.send_transforms(wheels));
    })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn the_laser_sees_the_walls() {
        let pose = Pose2 { x: 2.0, y: 3.0, heading: 0.0 };
        for (angle, distance) in [(0.0, 8.0), (PI / 2.0, 7.0), (PI, 2.0), (1.5 * PI, 3.0)] {
            assert!((wall_distance(pose, angle) - distance).abs() < 1e-9, "{angle}");
        }
    }

    #[test]
    fn the_robot_moves_along_its_heading_and_no_command_brings_it_out_of_the_room() {
        let mut command = Twist::default();
        command.linear.x = 1.0;
        let pose = stepped(Pose2 { x: 2.0, y: 2.0, heading: PI / 2.0 }, &command, 0.5);
        assert!((pose.x - 2.0).abs() < 1e-9 && (pose.y - 2.5).abs() < 1e-9, "{pose:?}");
        for speed in [1e300, -1e300, f64::NAN, f64::INFINITY] {
            command.linear.x = speed;
            let pose = stepped(pose, &command, 0.5);
            assert!(
                (0.0..=ROOM_METRES).contains(&pose.x) && (0.0..=ROOM_METRES).contains(&pose.y),
                "{pose:?}"
            );
        }
    }
}
