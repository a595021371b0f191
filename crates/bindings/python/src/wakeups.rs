//! Wakes an asyncio event loop, through one file descriptor for everything that the loop waits for.
//! Waking the loop does not take the interpreter lock.

use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;
use std::task::{Wake, Waker};

use feros_sync::{Mutex, WakeDescriptor};
use pyo3::prelude::*;

use crate::error::error;

/// The descriptor that the loop watches, and the tokens of the tasks to wake.
pub(crate) struct Bell {
    descriptor: WakeDescriptor,
    ready: Mutex<Vec<u64>>,
}

impl Bell {
    fn ring(&self, token: u64) {
        let mut ready = self.ready.lock();
        let was_empty = ready.is_empty();
        if !ready.contains(&token) {
            ready.push(token);
        }
        drop(ready);
        if was_empty {
            self.descriptor.wake();
        }
    }
}

/// A waker that wakes one waiting task.
pub(crate) struct Ring {
    bell: Arc<Bell>,
    token: u64,
}

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.bell.ring(self.token);
    }
}

/// The wakeups of one event loop.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Wakeups(Arc<Bell>);

impl Wakeups {
    /// Returns a waker that wakes the loop for the task with this token.
    pub(crate) fn waker(&self, token: u64) -> Waker {
        Waker::from(Arc::new(Ring { bell: self.0.clone(), token }))
    }
}

#[pymethods]
impl Wakeups {
    #[new]
    fn new() -> PyResult<Self> {
        let descriptor = WakeDescriptor::new().map_err(error)?;
        Ok(Self(Arc::new(Bell { descriptor, ready: Mutex::default() })))
    }

    /// The descriptor, which is readable while there are tasks to wake.
    fn fileno(&self) -> i32 {
        self.0.descriptor.as_fd().as_raw_fd()
    }

    /// Takes the tokens of the tasks to wake.
    fn take(&self) -> Vec<u64> {
        self.0.descriptor.reset();
        std::mem::take(&mut *self.0.ready.lock())
    }
}
