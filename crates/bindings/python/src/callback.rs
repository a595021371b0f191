//! Calls Python from an executor. An exception in a callback ends the spinning and is raised to the
//! caller of `spin`, as in stock ROS 2 (`rclpy/rclpy/executors.py`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use feros::Stopper;
use feros_sync::Mutex;
use pyo3::prelude::*;

/// The exception that ends an executor's spinning.
pub(crate) struct Failure {
    error: Mutex<Option<PyErr>>,
    is_set: AtomicBool,
    stopper: Stopper,
}

impl Failure {
    pub(crate) fn new(stopper: Stopper) -> Arc<Self> {
        Arc::new(Self { error: Mutex::new(None), is_set: AtomicBool::new(false), stopper })
    }

    /// Whether there is an exception. The executor checks this after each callback.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Removes and returns the exception.
    pub(crate) fn take(&self) -> Option<PyErr> {
        let mut error = self.error.lock();
        self.is_set.store(false, Ordering::Release);
        error.take()
    }

    /// Stores the first exception. Further exceptions would be lost, so they are printed.
    pub(crate) fn set(&self, py: Python<'_>, error: PyErr) {
        let mut kept = self.error.lock();
        if kept.is_some() {
            drop(kept);
            error.print(py);
            return;
        }
        *kept = Some(error);
        self.is_set.store(true, Ordering::Release);
        drop(kept);
        self.stopper.stop();
    }
}

/// Where exceptions of a node's callbacks go: to the executor that currently spins the node.
#[derive(Default)]
pub(crate) struct Failures(Mutex<Option<Arc<Failure>>>);

impl Failures {
    /// Sets the executor that spins the node from now on; `None` if no executor does.
    pub(crate) fn go_to(&self, failure: Option<Arc<Failure>>) {
        *self.0.lock() = failure;
    }

    /// Runs Python; an exception ends the spinning.
    pub(crate) fn run(&self, call: impl FnOnce(Python<'_>) -> PyResult<()>) {
        // This fails while the interpreter shuts down, when the result no longer matters.
        let _ = Python::try_attach(|py| {
            if let Err(error) = call(py) {
                let failure = self.0.lock().clone();
                match failure {
                    Some(failure) => failure.set(py, error),
                    None => error.print(py),
                }
            }
        });
    }
}

/// The parts of a node that its entities need.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) node: &'a feros::Node,
    pub(crate) failures: &'a Arc<Failures>,
}
