//! `librmw_feros.so` under stock ROS 2: the suite that every implementation of rmw has to pass, and
//! nodes of rclpy on it beside nodes of rclpy on rmw_fastrtps.
//!
//! The library is built by the tests themselves, since cargo builds no cdylib for tests. Nodes of
//! Feros beside nodes of rclpy on this library are what tests/interop becomes with
//! `FEROS_INTEROP_PRELOAD=.../librmw_feros.so`.
#![allow(clippy::unwrap_used)]

mod between;
mod conformance;
mod executors;
mod lifetimes;
mod support;
mod transports;
