//! Tests of the client library with its real engine, within this process and over loopback only.
#![allow(clippy::unwrap_used)]

mod action;
mod blocked_call;
mod bounds;
mod callback_state;
mod calls;
mod clock;
mod content_filter;
mod diagnostics;
mod executor;
mod floods;
mod graph;
mod intra_process;
mod lifecycle;
mod log;
mod logger;
mod node_options;
mod panic;
mod parameter_struct;
mod parameters;
mod qos_overrides;
mod service;
mod service_introspection;
mod shared_memory;
mod signals;
mod support;
mod time;
mod topic;
mod topic_statistics;
mod two_engines;
mod type_description;
