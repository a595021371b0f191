//! Adds up the distance that the wheels make.

use std::time::Duration;

use feros::msgs::std_msgs::msg::Float64;
use feros::{Context, Error};
use robot_base::robot_msgs::msg::WheelSpeeds;

fn main() -> Result<(), Error> {
    let context = Context::from_env()?;
    let node = context.create_node("odometer")?;
    let radius = node.declare_parameter("wheel_radius", 0.1)?; // m
    let publisher = node.create_publisher("distance", 10)?;
    let mut metres = 0.0;
    let _speeds = node.create_subscription("wheel_speeds", 10, move |speeds: WheelSpeeds| {
        metres += robot_base::distance(&speeds, radius.get(), Duration::from_millis(100));
        if let Err(error) = publisher.publish(Float64 { data: metres }) {
            eprintln!("{error}");
        }
    })?;
    feros::spin(&node)
}
