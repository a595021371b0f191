//! A robot follows a bright spot on the floor: camera -> detector -> tracker -> planner ->
//! controller.
//!
//! | component | takes | gives |
//! |---|---|---|
//! | [`Camera`] | | `image`: the floor in front of the robot, drawn in the memory that subscriptions read |
//! | [`Detector`] | `image` | `detection`: the position of the spot, in metres from the robot |
//! | [`Tracker`] | `detection` | `target`: the spot's position and velocity |
//! | [`Planner`] | `target` | `path`: the way to the target |
//! | [`Controller`] | `path` | `cmd_vel`: forward speed and turn rate; zero when there is no longer a path |
//!
//! The components do not depend on their placement: the files in `launch/` run them in five
//! processes, in one program, in a container, and in a container with a process for each component.
//! Once a second, each component reports on `/diagnostics` how many messages of its input came on
//! each transport.
#![forbid(unsafe_code)]

mod camera;
mod controller;
mod detector;
mod input_report;
mod planner;
mod tracker;

pub use camera::Camera;
pub use controller::Controller;
pub use detector::Detector;
pub use planner::Planner;
pub use tracker::Tracker;

use feros::Clock;
use feros::msgs::builtin_interfaces::msg::Time;

/// The frame of all positions: its origin is the middle of the robot, x points ahead, y to the
/// left.
const ROBOT_FRAME: &str = "base_link";

/// Converts the time of a clock to the type in messages.
fn now(clock: &Clock) -> Time {
    Time::from_nanos(clock.now().as_nanos())
}
