//! Calls Python from an executor. An exception there ends the spinning, whose caller gets it, as in
//! stock ROS 2.

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

    /// Whether there is an exception; checked after each callback.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Takes the exception, so that there is none afterwards.
    pub(crate) fn take(&self) -> Option<PyErr> {
        let mut error = self.error.lock();
        self.is_set.store(false, Ordering::Release);
        error.take()
    }

    /// Keeps the first exception; others would be lost, so they are printed.
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

/// The destination of exceptions of a node's callbacks: the executor that spins the node now.
#[derive(Default)]
pub(crate) struct Failures(Mutex<Option<Arc<Failure>>>);

impl Failures {
    /// Sets the executor that spins the node from now on, or none.
    pub(crate) fn go_to(&self, failure: Option<Arc<Failure>>) {
        *self.0.lock() = failure;
    }

    /// Runs Python; an exception ends the spinning.
    pub(crate) fn run(&self, call: impl FnOnce(Python<'_>) -> PyResult<()>) {
        // Fails while the interpreter ends: nobody would see a result then.
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
