//! `feros ros1 bridge` between the real ROS 1 of Debian, rosmaster and rospy, and nodes of ROS 2.
#![allow(clippy::unwrap_used, missing_docs)]

mod actions;
mod cpp;
mod endings;
#[cfg(feature = "ros1")]
mod engine;
mod failures;
mod hostile;
mod hostile_masters;
mod leaving;
mod losses;
mod masters;
mod namespaces;
mod particular_topics;
mod partition;
mod peers;
mod recovery;
mod roscpp;
mod rules;
mod services;
mod topics;
