//! Counts of repeated failures, each of which would fill the log if it were logged every time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts failures and says which of them to log: the 1st, 2nd, 4th, 8th and so on, as Abseil's
/// `LOG_EVERY_POW_2`.
///
/// ```
/// use feros_rmw::FailureCounter;
/// let refused = FailureCounter::new();
/// let logged: Vec<u64> = (0..10).filter_map(|_| refused.count()).collect();
/// assert_eq!(logged, [1, 2, 4, 8]);
/// assert_eq!(refused.total(), 10);
/// assert_eq!((refused.count_many(5), refused.count_many(5)), (None, Some(20)));
/// ```
#[derive(Debug, Default)]
pub struct FailureCounter(AtomicU64);

impl FailureCounter {
    /// A counter of no failures yet.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts one failure; returns the number of failures so far where it is to be logged.
    pub fn count(&self) -> Option<u64> {
        self.count_many(1)
    }

    /// Counts so many failures at once: they are logged where one of them would be.
    pub fn count_many(&self, failures: u64) -> Option<u64> {
        let before = self.0.fetch_add(failures, Ordering::Relaxed);
        let total = before.wrapping_add(failures);
        (before.checked_ilog2() != total.checked_ilog2()).then_some(total)
    }

    /// The number of failures so far.
    pub fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
