//! Locks of this crate. A poisoned lock means that a callback panicked in another thread; what it guards are counters and
//! tables that are valid after every statement, so work goes on.

use std::sync::PoisonError;
pub(crate) use std::sync::{Condvar, MutexGuard};

/// A mutex without poisoning.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
