//! The doorbell of a bridge thread. Engines ring it from any of their threads.

use std::sync::Arc;
use std::time::Duration;

use feros_engine::Notify;
use feros_sync::{Condvar, Mutex};

/// A doorbell that remembers that it has been rung until the next wait.
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

    /// Returns a notification that rings the doorbell.
    pub(crate) fn notify(self: &Arc<Self>) -> Notify {
        let bell = self.clone();
        Arc::new(move || bell.ring())
    }

    /// Sleeps until the doorbell rings or the timeout expires. `None` means that there is no
    /// timeout. Returns immediately if the doorbell has rung since the last wait. May return early.
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
