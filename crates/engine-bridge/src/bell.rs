//! What a thread of the bridge sleeps on: engines ring it, from any of their threads.

use std::sync::Arc;
use std::time::Duration;

use feros_rmw::Notify;
use feros_sync::{Condvar, Mutex};

/// Remembers that it was rung until somebody has waited for it.
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

    /// The notification that rings it.
    pub(crate) fn notify(self: &Arc<Self>) -> Notify {
        let bell = self.clone();
        Arc::new(move || bell.ring())
    }

    /// Sleeps until it is rung, or was since the last wait, or time runs out; `None` waits for
    /// ever. May return early.
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
