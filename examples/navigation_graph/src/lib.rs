//! A robot drives to a goal: 15 nodes with the topics, services, sizes and rates of a navigation
//! system such as Nav2.
//!
//! | node | takes | gives |
//! |---|---|---|
//! | [`LaserDriver`] | `odom` | `scan` (360 ranges) at 10 Hz |
//! | [`BaseDriver`] | `cmd_vel` | `odom`, `tf`, `joint_states` at 50 Hz, `imu` at 100 Hz |
//! | [`RobotStatePublisher`] | `joint_states` | `tf`, `tf_static` |
//! | [`MapServer`] | | `map` (200 x 200), service `map_server/map` |
//! | [`Amcl`] | `scan`, `odom`, `map`, `initialpose` | `amcl_pose`, `particle_cloud` (500 poses) and `tf` at 10 Hz |
//! | [`GlobalCostmap`] | `map`, `scan`, `odom` | `global_costmap/costmap` (200 x 200) at 1 Hz, its footprint, service to clear |
//! | [`LocalCostmap`] | `scan`, `odom` | `local_costmap/costmap` (60 x 60) at 5 Hz, its footprint, service to clear |
//! | [`PlannerServer`] | `global_costmap/costmap` | service `compute_path`, `plan` |
//! | [`SmootherServer`] | `plan` | `plan_smoothed` |
//! | [`ControllerServer`] | `plan_smoothed`, `odom`, `local_costmap/costmap` | `cmd_vel_nav`, `local_plan` at 20 Hz |
//! | [`BehaviorServer`] | | services `spin` and `stop`, `cmd_vel_nav` while it spins |
//! | [`BtNavigator`] | `goal_pose`, `odom` | a tick at 100 Hz, a request to the planner each second, `navigation_state` |
//! | [`VelocitySmoother`] | `cmd_vel_nav` | `cmd_vel_smoothed` at 20 Hz |
//! | [`CollisionMonitor`] | `cmd_vel_smoothed`, `scan` | `cmd_vel` |
//! | [`LifecycleManager`] | | asks the servers for their state in turn, `diagnostics` |
//!
//! It is a closed loop in a room of 10 x 10 metres: the algorithms are the simplest that work, the
//! traffic is what counts. Actions are services and topics here, until Feros has an interface for
//! them.
#![forbid(unsafe_code)]

mod behaviors;
mod control;
mod costmaps;
mod geometry;
mod localization;
mod planning;
mod robot;

pub use behaviors::{BehaviorServer, BtNavigator, LifecycleManager};
pub use control::{CollisionMonitor, ControllerServer, VelocitySmoother};
pub use costmaps::{GlobalCostmap, LocalCostmap};
pub use localization::{Amcl, MapServer};
pub use planning::{PlannerServer, SmootherServer};
pub use robot::{BaseDriver, LaserDriver, RobotStatePublisher};

use example_composition::Parts;
use feros::Error;
use feros::msgs::lifecycle_msgs::msg::State;
use feros::msgs::lifecycle_msgs::srv::{GetState, GetState_Request, GetState_Response};

/// The room and the map of it: a square with walls around.
const ROOM_METRES: f64 = 10.0;

/// Answers who asks for the node's state, as a managed node does; these are active from the
/// beginning.
fn serve_state(parts: &mut Parts) -> Result<(), Error> {
    parts.serve::<GetState, _>("~/get_state", |_: GetState_Request| GetState_Response {
        current_state: State { id: State::PRIMARY_STATE_ACTIVE, label: "active".to_owned() },
    })
}
