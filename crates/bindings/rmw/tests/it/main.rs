//! Tests `librmw_feros.so` under stock ROS 2: the suite that every rmw implementation has to pass,
//! and rclpy nodes on this library together with rclpy nodes on rmw_fastrtps.
//!
//! The tests build the library themselves, since cargo does not build a cdylib for tests.
//! tests/interop runs Feros nodes with rclpy nodes on this library if
//! `FEROS_INTEROP_PRELOAD=.../librmw_feros.so` is set.
#![allow(clippy::unwrap_used)]

mod between;
mod conformance;
mod executors;
mod lifetimes;
mod support;
mod transports;
