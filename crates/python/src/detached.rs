//! What may wait for another thread when it is dropped, and so is dropped without the lock of the
//! interpreter: the other thread may be about to call Python. In a child of the process there are
//! no other threads, so that nobody would answer: there it is left alone.

use std::ops::Deref;

use pyo3::prelude::*;

/// A value that is dropped while other threads may run Python.
pub(crate) struct Detached<T: Send> {
    value: Option<T>,
    process: u32,
}

impl<T: Send> Detached<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() }
    }
}

impl<T: Send> Deref for Detached<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is taken only when it is dropped")
    }
}

impl<T: Send> Drop for Detached<T> {
    fn drop(&mut self) {
        let mut value = self.value.take();
        if self.process != std::process::id() {
            return std::mem::forget(value);
        }
        // None where the interpreter ends: nobody runs Python any more then.
        let dropped = Python::try_attach(|py| {
            let value = value.take();
            py.detach(|| drop(value));
        });
        if dropped.is_none() {
            drop(value);
        }
    }
}
