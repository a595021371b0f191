//! Bridges actions: the five topics of an actionlib action become a ROS 2 action, and vice versa.

mod ends;
mod goals;
mod of_ros1;
mod of_ros2;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) use of_ros1::OfRos1;
pub(crate) use of_ros2::OfRos2;

/// The limit on goals of one action that are active, or that have ended and are still remembered.
const MOST_GOALS: usize = 256;
/// If an action's server has been absent for this long, its goals are aborted.
const GONE_AFTER: Duration = Duration::from_secs(5);

/// Returns the current time in the format of ROS 1 messages.
fn now() -> (u32, u32) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (u32::try_from(since.as_secs()).unwrap_or(u32::MAX), since.subsec_nanos())
}
