//! Publishes where the robot is, as a message and as a transform.

use std::time::Duration;

use feros::msgs::nav_msgs::msg::Odometry;
use feros::{Context, Error};
use feros_tf2::glam::{DQuat, DVec3};
use feros_tf2::{Transform, TransformBroadcaster};
use robot_odometry::robot_msgs::msg::WheelSpeeds;
use robot_odometry::{Pose, Wheels};

/// The time between two messages of the wheels.
const PERIOD: Duration = Duration::from_millis(100);

fn main() -> Result<(), Error> {
    let context = Context::from_env()?;
    let node = context.create_node("odometer")?;
    let radius = node.declare_parameter("wheel_radius", 0.1)?; // m
    let track = node.declare_parameter("track", 0.4)?; // m
    let publisher = node.create_publisher("odometry", 10)?;
    let transforms = TransformBroadcaster::new(&node)?;
    let clock = node.clock().clone();
    let mut pose = Pose::default();
    let _speeds = node.create_subscription("wheel_speeds", 10, move |speeds: WheelSpeeds| {
        pose = pose.after(&speeds, Wheels { radius: radius.get(), track: track.get() }, PERIOD);
        let place = DVec3::new(pose.x, pose.y, 0.0);
        let transform = Transform::new(place, DQuat::from_rotation_z(pose.yaw));
        let stamped = transform.to_stamped("odom", "base_link", clock.now());
        let mut odometry = Odometry {
            header: stamped.header.clone(),
            child_frame_id: stamped.child_frame_id.clone(),
            ..Odometry::default()
        };
        odometry.pose.pose = transform.into();
        let sent = publisher.publish(odometry);
        if let Err(error) = sent.and_then(|()| transforms.send_transform(stamped)) {
            eprintln!("{error}");
        }
    })?;
    feros::spin(&node)
}
