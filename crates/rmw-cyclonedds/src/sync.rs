//! Locks of this crate. A poisoned lock means that a callback panicked in another thread; what it
//! guards are counters and tables that are valid after every statement, so work goes on.
//!
//! Under `cfg(loom)` they are loom's: `tests/queue_under_loom` checks the queue with them.

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, MutexGuard};

#[cfg(loom)]
use loom::sync::Mutex as Lock;
#[cfg(not(loom))]
use std::sync::Mutex as Lock;

/// A mutex without poisoning.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(Lock<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Lock::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
