//! The extension module of the Python package `feros`: messages, nodes and executors. The folder
//! `python/feros` defines the Python interface; this crate has the parts that must be fast or that
//! need the Rust library.
//!
//! The folder `python/feros/compat` has packages with the names of stock ROS 2, built on `feros`.
//! The wheel puts this folder last on Python's path; `feros run` puts it first.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `context`, `node`, `executor`, `publisher`, `subscription`, `service`, `client`, `goal_statuses`, `timer`, `clock`, `lifecycle`, `parameter`, `tf2` | the objects of `feros`, for Python |
//! | `message`, `interfaces`, `qos` | encoding and decoding of messages, with a plan for each class; known interfaces; policies |
//! | `callback`, `callback_group`, `exclusive_group`, `entity_queue` | calls of Python from executors; `entity_queue` holds items for the callbacks of `rclpy` entities, so that almost no Python code runs before a callback |
//! | `wakeups`, `graph_listener`, `waiting` | waking of asyncio event loops, and waits that Ctrl-C ends |
//! | `detached` | values whose drop waits for other threads |
//! | `domain` | domains for tests |
//! | `events`, `error` | events and errors |
//! | `ffi` | the C interface of Python |
//!
//! # Invariants
//!
//! - The interpreter lock is not held while Rust waits, and no Rust lock is held while Python runs.
//! - Only `ffi` has `unsafe` code. Memory to which Python holds views is never given away.

mod callback;
mod callback_group;
mod client;
mod clock;
mod context;
mod detached;
mod domain;
mod entity_queue;
mod error;
mod events;
mod exclusive_group;
mod executor;
mod ffi;
mod goal_statuses;
mod graph_listener;
mod interfaces;
mod lifecycle;
mod message;
mod node;
mod parameter;
mod publisher;
mod qos;
mod service;
mod subscription;
mod tf2;
mod timer;
mod waiting;
mod wakeups;

use pyo3::prelude::*;

/// The extension module of feros. Use the package `feros`.
#[pymodule]
fn _feros(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(module)?;
    tf2::register(module)?;
    module.add_class::<client::Call>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<clock::Clock>()?;
    module.add_class::<clock::JumpHandle>()?;
    module.add_class::<context::Context>()?;
    module.add_class::<domain::ReservedDomain>()?;
    module.add_class::<entity_queue::EntityQueue>()?;
    module.add_class::<entity_queue::ReadyQueue>()?;
    module.add_class::<exclusive_group::ExclusiveGroup>()?;
    module.add_class::<executor::Executor>()?;
    module.add_class::<ffi::Block>()?;
    module.add_class::<ffi::LoanMemory>()?;
    module.add_class::<goal_statuses::GoalStatuses>()?;
    module.add_class::<graph_listener::GraphListener>()?;
    module.add_class::<interfaces::Interfaces>()?;
    module.add_class::<lifecycle::LifecycleNode>()?;
    module.add_class::<message::Field>()?;
    module.add_class::<message::MessageType>()?;
    module.add_class::<callback_group::CallbackGroup>()?;
    module.add_class::<node::Logger>()?;
    module.add_class::<node::Node>()?;
    module.add_class::<parameter::ParameterCallback>()?;
    module.add_class::<parameter::Parameters>()?;
    module.add_class::<publisher::Publisher>()?;
    module.add_class::<service::Responder>()?;
    module.add_class::<service::Service>()?;
    module.add_class::<subscription::Inbox>()?;
    module.add_class::<subscription::MessageInfo>()?;
    module.add_class::<subscription::Subscription>()?;
    module.add_class::<timer::GuardCondition>()?;
    module.add_class::<timer::Timer>()?;
    module.add_class::<wakeups::Wakeups>()?;
    module.add_function(wrap_pyfunction!(node::log, module)?)?;
    module.add_function(wrap_pyfunction!(node::set_log_level, module)?)?;
    module.add_function(wrap_pyfunction!(node::log_level, module)?)?;
    module.add_function(wrap_pyfunction!(node::own_log_level, module)?)?;
    module.add_function(wrap_pyfunction!(node::start_logging, module)?)?;
    module.add_function(wrap_pyfunction!(waiting::within, module)?)
}
