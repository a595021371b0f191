//! Polls for work for a while before sleeping. A thread that polls need not be woken, so a message
//! costs neither the system call for a wake-up nor the time that a wake-up takes. The price is that
//! polling occupies a processor.
//!
//! A thread polls only as long as polling pays off. After a poll that found no work, the thread
//! does not poll before its next few sleeps, and the number of such sleeps about doubles with each
//! further poll that finds no work. A short sleep shows that work comes quickly again, and makes
//! the thread poll again.

use feros_sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of checks between two reads of the clock, since a read costs more than a check.
const LOOKS: u32 = 32;
/// After this many polls that found no work, the number of sleeps without a poll stops growing.
const MOST_MISSES: u32 = 6;

/// Decides when the threads of one executor poll before they sleep.
#[derive(Debug)]
pub(crate) struct BusyWait {
    limit: Duration,
    /// The number of consecutive polls that found no work.
    misses: AtomicU32,
    /// The number of coming sleeps without a poll before them.
    skipped: AtomicU32,
    /// Whether a thread polls now; at most one thread polls at a time.
    is_looking: AtomicBool,
    spent_nanos: AtomicU64,
}

impl BusyWait {
    /// Makes a value whose polls take at most `limit`.
    pub(crate) fn new(limit: Duration) -> Self {
        let [misses, skipped] = [(); 2].map(|()| AtomicU32::new(0));
        let (is_looking, spent_nanos) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { limit, misses, skipped, is_looking, spent_nanos }
    }

    /// Whether the calling thread should poll before it sleeps. Call this function exactly once per
    /// sleep, since each call counts as one sleep.
    pub(crate) fn is_due(&self) -> bool {
        let skipped = self.skipped.load(Ordering::Relaxed);
        if skipped > 0 {
            self.skipped.store(skipped - 1, Ordering::Relaxed);
            return false;
        }
        !self.is_looking.load(Ordering::Relaxed)
    }

    /// Polls until `is_there` returns true, or until `timeout` has passed, because a timer is then
    /// due.
    pub(crate) fn look(&self, timeout: Option<Duration>, is_there: impl Fn() -> bool) {
        if self.is_looking.swap(true, Ordering::Relaxed) {
            return;
        }
        let began = Instant::now();
        let limit = timeout.map_or(self.limit, |timeout| timeout.min(self.limit));
        let (spent, is_found) = loop {
            if (0..LOOKS).any(|_| is_there() || wait_a_little()) {
                break (began.elapsed(), true);
            }
            let spent = began.elapsed();
            if spent >= limit {
                break (spent, timeout.is_some_and(|timeout| timeout <= self.limit));
            }
        };
        self.is_looking.store(false, Ordering::Relaxed);
        let nanos = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
        self.spent_nanos.fetch_add(nanos, Ordering::Relaxed);
        let misses = if is_found { 0 } else { self.misses.load(Ordering::Relaxed) + 1 };
        let misses = misses.min(MOST_MISSES);
        self.misses.store(misses, Ordering::Relaxed);
        self.skipped.store((1 << misses) - 1, Ordering::Relaxed);
    }

    /// Records the length of a sleep. If a poll would have found the work that ended the sleep,
    /// polling pays off again.
    pub(crate) fn note_sleep(&self, slept: Duration) {
        if slept < self.limit {
            self.misses.store(0, Ordering::Relaxed);
            self.skipped.store(0, Ordering::Relaxed);
        }
    }

    /// The time that all threads spent polling.
    pub(crate) fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent_nanos.load(Ordering::Relaxed))
    }
}

/// Yields briefly to the processor's other hardware thread. Returns false, so that the call fits
/// between two checks in an `
/// ` chain.
fn wait_a_little() -> bool {
    std::hint::spin_loop();
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(1);

    #[test]
    fn looks_in_vain_become_rare_and_come_back_when_they_pay() {
        let busy_wait = BusyWait::new(LIMIT);
        let mut looks = 0;
        for _ in 0..1000 {
            if busy_wait.is_due() {
                busy_wait.look(None, || false);
                looks += 1;
            }
            busy_wait.note_sleep(2 * LIMIT);
        }
        // 1 + 3 + 7 + 15 + 31 sleeps without a poll, then 63 each time.
        assert!((15..=22).contains(&looks), "{looks}");
        assert!(busy_wait.spent() >= LIMIT * looks);
        busy_wait.note_sleep(LIMIT / 2);
        assert!(busy_wait.is_due(), "work comes soon again");
        busy_wait.look(None, || true);
        assert!(busy_wait.is_due(), "and is found");
    }

    #[test]
    fn a_timer_that_is_due_soon_ends_the_look_and_counts_as_found() {
        let busy_wait = BusyWait::new(Duration::from_secs(3600));
        busy_wait.look(Some(LIMIT), || false);
        assert!(busy_wait.spent() >= LIMIT && busy_wait.is_due());
    }
}
