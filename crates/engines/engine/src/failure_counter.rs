//! Counts repeated failures. If each of them were logged, they would flood the log.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_sync::Mutex;

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

/// The limit on the names of [`FailureCounters`]. All further names share one counter, so that
/// names from the network cannot fill the memory.
const MOST_NAMES: usize = 4096;

/// The name of the counter that all names beyond [`MOST_NAMES`] share.
const OTHER_NAMES: &str = "";

/// One [`FailureCounter`] for each name, such as the name of a topic. A process may have hundreds
/// of endpoints of one topic, and one cause makes all of them fail. If each endpoint counted for
/// itself, the log would have the same failure hundreds of times.
///
/// ```
/// use feros_engine::FailureCounters;
/// static REFUSED: FailureCounters = FailureCounters::new();
/// // The counters of two topics, each with many subscriptions.
/// let logged = |topic| (0..10).filter_map(|_| REFUSED.count(topic)).collect::<Vec<_>>();
/// assert_eq!((logged("/tf"), logged("/scan")), (vec![1, 2, 4, 8], vec![1, 2, 4, 8]));
/// ```
#[derive(Debug, Default)]
pub struct FailureCounters(Mutex<BTreeMap<String, FailureCounter>>);

impl FailureCounters {
    /// Creates counters that start at zero.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Counts one failure of this name. Returns the number of failures of this name so far if this
    /// failure should be logged.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.count_many(name, 1)
    }

    /// Counts several failures of this name with one call. Returns the number of failures of this
    /// name so far if one of these failures should be logged.
    pub fn count_many(&self, name: &str, failures: u64) -> Option<u64> {
        if failures == 0 {
            return None;
        }
        self.count_with(name, |counter| counter.count_many(failures))
    }

    /// Counts one failure of this name. Returns the number of failures of this name so far if this
    /// failure should be logged. The first `first` failures are all logged. This is meant for
    /// failures whose log messages differ from each other.
    pub fn count_after(&self, name: &str, first: u64) -> Option<u64> {
        self.count_with(name, |counter| counter.is_logged(first).then(|| counter.total()))
    }

    fn count_with(
        &self,
        name: &str,
        count: impl FnOnce(&FailureCounter) -> Option<u64>,
    ) -> Option<u64> {
        let mut counters = self.0.lock();
        if let Some(counter) = counters.get(name) {
            return count(counter);
        }
        let name = if counters.len() < MOST_NAMES { name } else { OTHER_NAMES };
        count(counters.entry(name.to_owned()).or_default())
    }

    /// Counts one failure of this name. If the failure should be logged, returns the end of the log
    /// message, as [`FailureCounter::so_far`] does.
    pub fn so_far(&self, name: &str) -> Option<SoFar> {
        self.count(name).map(SoFar)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_endpoints_of_a_topic_count_together() {
        let counters = FailureCounters::new();
        let logged: Vec<u64> = (0..40 * 40).filter_map(|_| counters.count("/tf")).collect();
        assert_eq!(logged, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
        assert_eq!(counters.count("/scan"), Some(1), "another topic");
        assert_eq!(counters.count_many("/scan", 0), None);
        assert_eq!(counters.count_many("/scan", 3), Some(4));
        let so_far = counters.so_far("/odom").map(|so_far| format!("lost{so_far}"));
        assert_eq!(so_far.as_deref(), Some("lost"));
        let after: Vec<u64> = (0..20).filter_map(|_| counters.count_after("/map", 3)).collect();
        assert_eq!(after, [1, 2, 3, 4, 8, 16]);
    }

    #[test]
    fn the_names_are_bounded() {
        let counters = FailureCounters::new();
        for number in 0..MOST_NAMES {
            assert_eq!(counters.count(&number.to_string()), Some(1));
        }
        let beyond = (0..8).filter_map(|number| counters.count(&format!("beyond {number}")));
        assert_eq!(beyond.collect::<Vec<_>>(), [1, 2, 4, 8], "they count together");
        assert_eq!(counters.count("7"), Some(2), "a name that is known has its own counter");
        assert_eq!(counters.0.lock().len(), MOST_NAMES + 1);
    }
}
