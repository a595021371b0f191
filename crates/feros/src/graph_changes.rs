//! What those who wait for the graph sleep on.

use std::time::Duration;

use feros_sync::{Condvar, Mutex};

/// Counts what those who wait have to look at again.
#[derive(Default)]
pub(crate) struct GraphChanges {
    count: Mutex<u64>,
    changed: Condvar,
}

impl GraphChanges {
    /// Has everybody who waits look again.
    pub(crate) fn announce(&self) {
        *self.count.lock() += 1;
        self.changed.notify_all();
    }

    /// How many changes there were.
    pub(crate) fn count(&self) -> u64 {
        *self.count.lock()
    }

    /// Waits for a change after those that were seen. May return early.
    pub(crate) fn wait_beyond(&self, seen: u64, timeout: Duration) {
        let count = self.count.lock();
        if *count == seen {
            drop(self.changed.wait_timeout(count, timeout));
        }
    }
}
