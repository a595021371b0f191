//! Wakes a bridge thread: a flag with a condition variable. Engines set the flag from any of their
//! threads.

use std::sync::Arc;
use std::time::Duration;

use feros_engine::Notify;
use feros_sync::{Condvar, Mutex};

/// A flag that stays set until the next wait.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    is_rung: Mutex<bool>,
    rung: Condvar,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.is_rung.lock() = true;
        self.rung.notify_all();
    }

    /// Returns a notification that sets the flag and wakes the thread.
    pub(crate) fn notify(self: &Arc<Self>) -> Notify {
        let bell = self.clone();
        Arc::new(move || bell.ring())
    }

    /// Sleeps until the flag is set or the timeout expires. `None` means that there is no timeout.
    /// Returns immediately if the flag was set since the last wait. May return early.
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        let mut is_rung = self.is_rung.lock();
        if !*is_rung {
            is_rung = match timeout {
                Some(timeout) => self.rung.wait_timeout(is_rung, timeout),
                None => self.rung.wait(is_rung),
            };
        }
        *is_rung = false;
    }
}
