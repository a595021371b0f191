//! Makes publishers wait for keep-all subscriptions whose inboxes are full.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use feros_sync::{Condvar, Mutex};

/// Counts the keep-all subscriptions of a session or process that are full. The publishers of the
/// session or process wait for these subscriptions.
#[derive(Debug, Default)]
pub struct Room {
    full: AtomicUsize,
    lock: Mutex<()>,
    made: Condvar,
}

impl Room {
    /// Counts a subscription that has become full.
    pub fn filled(&self) {
        self.full.fetch_add(1, Ordering::AcqRel);
    }

    /// Stops counting a subscription that has room again.
    pub fn emptied(&self) {
        let _lock = self.lock.lock();
        self.full.fetch_sub(1, Ordering::AcqRel);
        self.made.notify_all();
    }

    /// Waits until `is_full` returns false. Returns false if this takes longer than `longest`.
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
