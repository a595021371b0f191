//! Room in the subscriptions of a session or process: publishers wait for subscriptions that keep
//! all and are full.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use feros_sync::{Condvar, Mutex};

/// Counts the subscriptions of a session or process that keep all and are full; its publishers wait
/// for them.
#[derive(Debug, Default)]
pub struct Room {
    full: AtomicUsize,
    lock: Mutex<()>,
    made: Condvar,
}

impl Room {
    /// Counts a subscription that became full.
    pub fn filled(&self) {
        self.full.fetch_add(1, Ordering::AcqRel);
    }

    /// Uncounts a subscription that has room again.
    pub fn emptied(&self) {
        let _lock = self.lock.lock();
        self.full.fetch_sub(1, Ordering::AcqRel);
        self.made.notify_all();
    }

    /// Waits until `is_full` returns false; returns false after the timeout.
    pub fn wait(&self, longest: Duration, is_full: impl Fn() -> bool) -> bool {
        if self.full.load(Ordering::Acquire) == 0 {
            return true;
        }
        let deadline = Instant::now() + longest;
        let mut lock = self.lock.lock();
        while self.full.load(Ordering::Acquire) > 0 && is_full() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            lock = self.made.wait_timeout(lock, left);
        }
        true
    }
}
