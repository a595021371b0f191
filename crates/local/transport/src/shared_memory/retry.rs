//! Decides when to try to open a connection.

use std::time::{Duration, Instant};

use feros_shm::{ConnectionObstacle, Obstacle};

/// How long to wait after an attempt that may have failed only because it was too early. If a
/// publisher signals in the meantime that it is ready, the wait ends. The wait doubles with each
/// attempt, up to [`LAST_RETRY`].
const FIRST_RETRY: Duration = Duration::from_millis(1);
/// The longest wait after an attempt that may have failed only because it was too early.
const LAST_RETRY: Duration = Duration::from_secs(1);
/// How long to wait after an attempt that failed because of an obstacle. The wait doubles with each
/// attempt, up to [`LAST_RETRY_OF_FAILED`] or [`LAST_RETRY_OF_CROWDED`].
const FIRST_RETRY_OF_FAILED: Duration = Duration::from_secs(1);
/// The longest wait after an attempt that failed because of an obstacle.
const LAST_RETRY_OF_FAILED: Duration = Duration::from_secs(16);
/// The longest wait if the publisher or the subscription already has the largest possible number of
/// connections. If hundreds of them share a topic, most pairs wait for a slot, and each attempt
/// takes a lock of the whole host.
const LAST_RETRY_OF_CROWDED: Duration = Duration::from_secs(256);
/// After this many failures to map the memory, the growth of the memory can no longer be the
/// reason.
const MAPPING_TRIES: u32 = 20;

/// The schedule of the attempts to open one connection.
#[derive(Debug, Default)]
pub(super) struct Retry {
    at: Option<Instant>,
    /// How many times the memory could not be mapped.
    unmapped: u32,
    /// Whether there is an obstacle that remains even if a publisher signals.
    is_obstructed: bool,
    /// The time from the last failure to the next attempt.
    patience: Option<Duration>,
}

impl Retry {
    /// Whether it is time to try. `is_reported`: whether a publisher has signalled that its memory
    /// was made. It may be the publisher of this connection, and it may not signal again.
    pub(super) fn is_due(&self, now: Instant, is_reported: bool) -> bool {
        is_reported && !self.is_obstructed || self.at.is_none_or(|at| at <= now)
    }

    /// Records a failed attempt and its obstacle. Returns the obstacle, or `None` if it may be
    /// enough to wait.
    pub(super) fn note(
        &mut self,
        obstacle: Option<ConnectionObstacle>,
        tried: Instant,
    ) -> Option<ConnectionObstacle> {
        if matches!(obstacle, Some(ConnectionObstacle::Unavailable(Obstacle::NotMapped))) {
            self.unmapped = self.unmapped.saturating_add(1);
        }
        let obstacle = obstacle.filter(|_| self.unmapped == 0 || self.unmapped >= MAPPING_TRIES);
        use ConnectionObstacle::{TooManyPublishers, TooManySubscriptions, Unavailable};
        let (first, last) = match obstacle {
            None => (FIRST_RETRY, LAST_RETRY),
            Some(Unavailable(_)) => (FIRST_RETRY_OF_FAILED, LAST_RETRY_OF_FAILED),
            Some(TooManyPublishers { .. } | TooManySubscriptions { .. }) => {
                (FIRST_RETRY_OF_FAILED, LAST_RETRY_OF_CROWDED)
            }
        };
        self.is_obstructed = obstacle.is_some();
        let patience = self.patience.map_or(first, |patience| (patience * 2).clamp(first, last));
        self.patience = Some(patience);
        self.at = Some(tried + patience);
        obstacle
    }

    /// The time of the next attempt.
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_that_says_it_is_ready_is_tried_at_once() {
        let now = Instant::now();
        let mut retry = Retry::default();
        assert!(retry.is_due(now, false), "never tried");
        assert_eq!(retry.note(None, now), None);
        assert!(!retry.is_due(now, false), "it has just been tried");
        assert!(retry.is_due(now, true));
        assert!(retry.is_due(now + FIRST_RETRY, false));
    }

    #[test]
    fn a_connection_without_a_place_is_tried_ever_more_seldom_whatever_publishers_say() {
        let mut retry = Retry::default();
        let crowded = Some(ConnectionObstacle::TooManySubscriptions { limit: 16 });
        let (start, mut now, mut tries) = (Instant::now(), Instant::now(), 0);
        while now < start + Duration::from_secs(3600) {
            assert_eq!(retry.note(crowded, now), crowded);
            assert!(!retry.is_due(now, true), "another publisher is ready");
            now = retry.at().expect("it has failed");
            assert!(retry.is_due(now, false));
            tries += 1;
        }
        assert_eq!(tries, 8 + 14, "at 0, 1, 3, ... 255 s, and each 256 s from then on");
    }
}
