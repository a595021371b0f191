//! `feros ros1 bridge` between the real ROS 1 of Debian, rosmaster and rospy, and nodes of ROS 2.
#![allow(clippy::unwrap_used, missing_docs)]

mod actions;
#[cfg(feature = "ros1")]
mod engine;
mod failures;
mod hostile;
mod masters;
mod peers;
mod services;
mod topics;
