//! The client library on its real engine, within this process and over loopback only.
#![allow(clippy::unwrap_used)]

mod clock;
mod executor;
mod graph;
mod host_path;
mod log;
mod node_options;
mod panic;
mod parameters;
mod process_path;
mod service;
mod support;
mod topic;
