//! Wakes the upkeep thread before its next period: a flag with a condition variable.

use std::time::{Duration, Instant};

use feros_sync::{Condvar, Mutex};

#[derive(Default)]
pub(crate) struct Bell {
    is_rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.is_rung.lock() = true;
        self.changed.notify_one();
    }

    /// Waits until the flag is set, for at most `longest`. Returns immediately if the flag was set
    /// since the last wait.
    pub(crate) fn wait(&self, longest: Duration) {
        let began = Instant::now();
        let mut is_rung = self.is_rung.lock();
        while !*is_rung && began.elapsed() < longest {
            is_rung = self.changed.wait_timeout(is_rung, longest.saturating_sub(began.elapsed()));
        }
        *is_rung = false;
    }
}
