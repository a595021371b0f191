//! Counts repeated failures. If each of them were logged, they would flood the log.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts failures and decides which of them to log: the 1st, 2nd, 4th, 8th and so on, like
/// Abseil's `LOG_EVERY_POW_2`.
///
/// ```
/// use feros_engine::FailureCounter;
/// let refused = FailureCounter::new();
/// let logged: Vec<u64> = (0..10).filter_map(|_| refused.count()).collect();
/// assert_eq!(logged, [1, 2, 4, 8]);
/// assert_eq!(refused.total(), 10);
/// assert_eq!((refused.count_many(5), refused.count_many(5)), (None, Some(20)));
/// ```
#[derive(Debug, Default)]
pub struct FailureCounter(AtomicU64);

impl FailureCounter {
    /// Creates a counter that starts at zero.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts one failure. Returns the number of failures so far if this failure should be logged.
    pub fn count(&self) -> Option<u64> {
        self.count_many(1)
    }

    /// Counts several failures with one call. Returns the number of failures so far if one of these
    /// failures should be logged.
    pub fn count_many(&self, failures: u64) -> Option<u64> {
        let before = self.0.fetch_add(failures, Ordering::Relaxed);
        let total = before.wrapping_add(failures);
        (before.checked_ilog2() != total.checked_ilog2()).then_some(total)
    }

    /// Counts one failure. If the failure should be logged, returns the end of the log message,
    /// which is empty for the first failure and then ` (2 so far)`, ` (4 so far)` and so on.
    ///
    /// ```
    /// let failed = feros_engine::FailureCounter::new();
    /// let logged = (0..4).filter_map(|_| failed.so_far()).map(|so_far| format!("lost{so_far}"));
    /// assert!(logged.eq(["lost", "lost (2 so far)", "lost (4 so far)"]));
    /// ```
    pub fn so_far(&self) -> Option<SoFar> {
        self.count().map(SoFar)
    }

    /// Counts one failure and returns whether it should be logged. The first `first` failures are
    /// all logged. This is meant for log lines of a library, which differ from each other.
    pub fn is_logged(&self, first: u64) -> bool {
        let is_power_of_two = self.count().is_some();
        is_power_of_two || self.total() <= first
    }

    /// The number of failures so far.
    pub fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The number of failures so far, formatted as the end of a log message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoFar(u64);

impl fmt::Display for SoFar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { Ok(()) } else { write!(f, " ({} so far)", self.0) }
    }
}
