//! ROS 2 built for the shortest path: context, node, publisher, subscription, service, client, timer, clock, graph.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod logging;

pub use arguments::{ArgumentError, Arguments, LogLevel};
