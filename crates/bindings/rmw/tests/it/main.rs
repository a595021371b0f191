//! Tests `librmw_feros.so` under stock ROS 2: the suite that every rmw implementation has to pass,
//! and rclpy nodes on this library together with rclpy nodes on rmw_fastrtps. The tests run with
//! the distribution in the folder that `FEROS_ROS2` names, or else with Kilted.
//!
//! The tests build the library themselves, since cargo does not build a cdylib for tests.
//! tests/interop runs Feros nodes with rclpy nodes on this library if
//! `FEROS_INTEROP_PRELOAD=.../librmw_feros.so` is set.
#![allow(clippy::unwrap_used)]

mod between;
mod conformance;
mod distributions;
mod events;
mod executors;
mod humble;
mod installation;
mod lifetimes;
mod pairs;
mod support;
mod transports;
