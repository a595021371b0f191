//! The extension module of the Python package `feros`: messages, nodes and executors.
//! `python/feros` defines the Python interface; this crate has the parts that must be fast or need
//! the Rust library.
//!
//! No Rust lock is held while Python runs, and the interpreter lock is not held while Rust waits.

mod callback;
mod callback_group;
mod client;
mod clock;
mod context;
mod detached;
mod entity_queue;
mod error;
mod events;
mod exclusive_group;
mod executor;
mod ffi;
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
    module.add_class::<entity_queue::EntityQueue>()?;
    module.add_class::<entity_queue::ReadyQueue>()?;
    module.add_class::<exclusive_group::ExclusiveGroup>()?;
    module.add_class::<executor::Executor>()?;
    module.add_class::<ffi::Block>()?;
    module.add_class::<ffi::LoanMemory>()?;
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
    module.add_function(wrap_pyfunction!(node::start_logging, module)?)
}
