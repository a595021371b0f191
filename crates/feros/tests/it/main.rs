//! The client library on its real engine, within this process and over loopback only.
#![allow(clippy::unwrap_used)]

mod action;
mod blocked_call;
mod bounds;
mod clock;
mod executor;
mod graph;
mod intra_process;
mod lifecycle;
mod log;
mod node_options;
mod panic;
mod parameters;
mod service;
mod shared_memory;
mod support;
mod topic;
