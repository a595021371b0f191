//! A value whose drop may wait for another thread. The other thread may be waiting to call Python,
//! so the value is dropped without the interpreter lock. In a forked child the other threads do not
//! exist, so the value is leaked.

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
        self.value.as_ref().expect("the value is taken only on drop")
    }
}

impl<T: Send> Drop for Detached<T> {
    fn drop(&mut self) {
        let mut value = self.value.take();
        if self.process != std::process::id() {
            return std::mem::forget(value);
        }
        // This fails while the interpreter shuts down, when no other thread runs Python.
        let dropped = Python::try_attach(|py| {
            let value = value.take();
            py.detach(|| drop(value));
        });
        if dropped.is_none() {
            drop(value);
        }
    }
}
