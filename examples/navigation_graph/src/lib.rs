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
//! | [`PlannerServer`] | `global_costmap/costmap` | action `compute_path`, `plan` |
//! | [`SmootherServer`] | `plan` | `plan_smoothed` |
//! | [`ControllerServer`] | `plan_smoothed`, `odom`, `local_costmap/costmap` | `cmd_vel_nav`, `local_plan` at 20 Hz |
//! | [`BehaviorServer`] | | action `spin`, `cmd_vel_nav` while it spins |
//! | [`BtNavigator`] | `goal_pose`, `odom` | action `navigate_to_pose`, a tick at 100 Hz, a goal for the planner each second, `navigation_state` |
//! | [`VelocitySmoother`] | `cmd_vel_nav` | `cmd_vel_smoothed` at 20 Hz |
//! | [`CollisionMonitor`] | `cmd_vel_smoothed`, `scan` | `cmd_vel` |
//! | [`LifecycleManager`] | | configures and activates the servers, asks for their states in turn, `diagnostics` |
//!
//! The servers, from [`MapServer`] to [`CollisionMonitor`], are managed nodes: they do nothing
//! until the manager has activated them. The manager also activates a server that has been
//! restarted.
//!
//! The graph is a closed control loop in a room of 10 x 10 metres. The algorithms are the simplest
//! that work, since only the message traffic matters. The types of the actions are in
//! `interfaces/navigation_interfaces`.
#![forbid(unsafe_code)]

mod behaviors;
mod control;
mod costmaps;
mod geometry;
mod lifecycle_manager;
mod localization;
mod navigator;
mod planning;
mod robot;

pub use behaviors::BehaviorServer;
pub use control::{CollisionMonitor, ControllerServer, VelocitySmoother};
pub use costmaps::{GlobalCostmap, LocalCostmap};
pub use lifecycle_manager::LifecycleManager;
pub use localization::{Amcl, MapServer};
pub use navigator::BtNavigator;
pub use planning::{PlannerServer, SmootherServer};
pub use robot::{BaseDriver, LaserDriver, RobotStatePublisher};

feros::include_interfaces!();

/// The side of the room and of its map, in metres. The room is a square with walls around it.
const ROOM_METRES: f64 = 10.0;
