//! Publishers that have no free slot for another subscription.
//!
//! To find out whether a publisher has a free slot, a subscription must take the lock of the host's
//! shared memory and open the publisher's service. If hundreds of subscriptions share a topic, most
//! publishers have no free slot for most of them. So one subscription asks, and the other
//! subscriptions of its process use the same answer.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use feros_shm::ConnectionObstacle;
use feros_sync::Mutex;

/// How long the first answer of a publisher remains valid. Each further answer remains valid for
/// twice as long as the answer before it, up to [`LAST_HOLD`].
const FIRST_HOLD: Duration = Duration::from_secs(1);
/// The longest time that an answer remains valid.
const LAST_HOLD: Duration = Duration::from_secs(16);

/// The publishers for which a subscription of this process has found no free slot.
pub(super) static CROWDED: Crowded = Crowded(Mutex::new(BTreeMap::new()));

pub(super) struct Crowded(Mutex<BTreeMap<NonZeroU64, Answer>>);

struct Answer {
    obstacle: ConnectionObstacle,
    given: Instant,
    hold: Duration,
}

impl Crowded {
    /// The last answer of the publisher, if this answer is still valid.
    pub(super) fn obstacle(
        &self,
        publisher: NonZeroU64,
        now: Instant,
    ) -> Option<ConnectionObstacle> {
        let answers = self.0.lock();
        let answer = answers.get(&publisher)?;
        (now.saturating_duration_since(answer.given) < answer.hold).then_some(answer.obstacle)
    }

    /// Records the answer of the publisher: that it has no free slot, or `None` if it has a free
    /// slot.
    pub(super) fn note(
        &self,
        publisher: NonZeroU64,
        obstacle: Option<ConnectionObstacle>,
        now: Instant,
    ) {
        let mut answers = self.0.lock();
        let former = answers.remove(&publisher);
        let Some(obstacle @ ConnectionObstacle::TooManySubscriptions { .. }) = obstacle else {
            return;
        };
        // No subscription asks a publisher that has left, so the answers of such publishers are
        // removed when they are old enough.
        answers.retain(|_, answer| now.saturating_duration_since(answer.given) < 2 * LAST_HOLD);
        let hold = former.map_or(FIRST_HOLD, |former| (former.hold * 2).min(LAST_HOLD));
        answers.insert(publisher, Answer { obstacle, given: now, hold });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHER: NonZeroU64 = NonZeroU64::MIN;
    const FULL: ConnectionObstacle = ConnectionObstacle::TooManySubscriptions { limit: 16 };

    #[test]
    fn one_of_many_subscriptions_asks_a_publisher_without_a_place() {
        let crowded = Crowded(Mutex::default());
        let (start, mut asked) = (Instant::now(), 0);
        for second in 0..3600 {
            let now = start + Duration::from_secs(second);
            for _subscription in 0..30 {
                if crowded.obstacle(PUBLISHER, now).is_none() {
                    asked += 1;
                    crowded.note(PUBLISHER, Some(FULL), now);
                }
            }
        }
        assert_eq!(asked, 5 + 224, "at 0, 1, 3, 7, 15 s, and each 16 s from then on");
    }

    #[test]
    fn a_publisher_that_has_a_place_is_asked_by_all() {
        let crowded = Crowded(Mutex::default());
        let now = Instant::now();
        crowded.note(PUBLISHER, Some(FULL), now);
        assert_eq!(crowded.obstacle(PUBLISHER, now), Some(FULL));
        crowded.note(PUBLISHER, None, now);
        assert_eq!(crowded.obstacle(PUBLISHER, now), None);
        let of_the_subscription = ConnectionObstacle::TooManyPublishers { limit: 32 };
        crowded.note(PUBLISHER, Some(of_the_subscription), now);
        assert_eq!(crowded.obstacle(PUBLISHER, now), None, "others may have a place");
    }

    #[test]
    fn publishers_that_have_gone_are_forgotten() {
        let crowded = Crowded(Mutex::default());
        let now = Instant::now();
        crowded.note(PUBLISHER, Some(FULL), now);
        let later = NonZeroU64::new(2).expect("not 0");
        crowded.note(later, Some(FULL), now + 2 * LAST_HOLD);
        assert_eq!(crowded.0.lock().keys().collect::<Vec<_>>(), [&later]);
    }
}
