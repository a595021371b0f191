//! Counters behind the events of an endpoint: what the engine reported, and what of it was already
//! taken.

use feros_cyclonedds_sys as sys;
use feros_rmw::{MatchedStatus, PublisherEvent, SubscriptionEvent};

use crate::qos::policy_kind;

/// A count that only grows.
#[derive(Debug, Default)]
pub(crate) struct Total<T = u32> {
    pub(crate) total: T,
    taken: T,
}

impl<T: Copy + PartialEq + std::ops::Sub<Output = T>> Total<T> {
    /// Total and change, if there is a change.
    fn take(&mut self) -> Option<(T, T)> {
        let change = self.total - self.taken;
        let changed = self.total != self.taken;
        self.taken = self.total;
        changed.then_some((self.total, change))
    }
}

impl Total<u64> {
    /// Strangers' numbers say how many: the total stays at its largest.
    pub(crate) fn add(&mut self, more: u64) {
        self.total = self.total.saturating_add(more);
    }
}

/// Incompatible endpoints and the policy that failed last.
#[derive(Debug, Default)]
pub(crate) struct IncompatibleQos {
    total: Total,
    policy: u32,
}

impl IncompatibleQos {
    pub(crate) fn set(&mut self, total: u32, policy: u32) {
        self.total.total = total;
        self.policy = policy;
    }
}

/// Matched endpoints.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    total: Total,
    current: u32,
    current_taken: u32,
}

impl Matched {
    pub(crate) fn set(&mut self, status: &sys::matched_status_t) {
        self.total.total = status.total_count;
        self.current = status.current_count;
    }

    fn take(&mut self) -> Option<MatchedStatus> {
        let current_change = difference(self.current, self.current_taken);
        self.current_taken = self.current;
        let total_change = self.total.take().map_or(0, |(_, change)| change);
        (total_change != 0 || current_change != 0).then_some(MatchedStatus {
            total: self.total.total,
            total_change,
            current: self.current,
            current_change,
        })
    }
}

/// Publishers that are alive, and that are not.
#[derive(Debug, Default)]
pub(crate) struct LivelinessChanged {
    now: (u32, u32),
    taken: (u32, u32),
}

impl LivelinessChanged {
    pub(crate) fn set(&mut self, alive: u32, not_alive: u32) {
        self.now = (alive, not_alive);
    }

    fn take(&mut self) -> Option<SubscriptionEvent> {
        let (now, taken) = (self.now, self.taken);
        self.taken = now;
        (now != taken).then(|| SubscriptionEvent::LivelinessChanged {
            alive: now.0,
            not_alive: now.1,
            alive_change: difference(now.0, taken.0),
            not_alive_change: difference(now.1, taken.1),
        })
    }
}

fn difference(now: u32, before: u32) -> i32 {
    i32::try_from(i64::from(now) - i64::from(before)).unwrap_or(i32::MAX)
}

/// Events of a publisher.
#[derive(Debug, Default)]
pub(crate) struct WriterStatus {
    pub(crate) matched: Matched,
    pub(crate) incompatible_qos: IncompatibleQos,
    pub(crate) deadline_missed: Total,
    pub(crate) liveliness_lost: Total,
    pub(crate) incompatible_type: Total,
}

impl WriterStatus {
    pub(crate) fn take(&mut self) -> Option<PublisherEvent> {
        if let Some(status) = self.matched.take() {
            return Some(PublisherEvent::Matched(status));
        }
        if let Some((total, change)) = self.incompatible_qos.total.take() {
            let last_policy = policy_kind(self.incompatible_qos.policy);
            return Some(PublisherEvent::OfferedQosIncompatible { total, change, last_policy });
        }
        if let Some((total, change)) = self.deadline_missed.take() {
            return Some(PublisherEvent::OfferedDeadlineMissed { total, change });
        }
        if let Some((total, change)) = self.liveliness_lost.take() {
            return Some(PublisherEvent::LivelinessLost { total, change });
        }
        let (total, change) = self.incompatible_type.take()?;
        Some(PublisherEvent::IncompatibleType { total, change })
    }
}

/// Events of a subscription.
#[derive(Debug, Default)]
pub(crate) struct ReaderStatus {
    pub(crate) matched: Matched,
    pub(crate) incompatible_qos: IncompatibleQos,
    pub(crate) deadline_missed: Total,
    pub(crate) liveliness: LivelinessChanged,
    pub(crate) lost: Total<u64>,
    pub(crate) incompatible_type: Total,
}

impl ReaderStatus {
    pub(crate) fn take(&mut self) -> Option<SubscriptionEvent> {
        if let Some(status) = self.matched.take() {
            return Some(SubscriptionEvent::Matched(status));
        }
        if let Some((total, change)) = self.incompatible_qos.total.take() {
            let last_policy = policy_kind(self.incompatible_qos.policy);
            return Some(SubscriptionEvent::RequestedQosIncompatible {
                total,
                change,
                last_policy,
            });
        }
        if let Some((total, change)) = self.deadline_missed.take() {
            return Some(SubscriptionEvent::RequestedDeadlineMissed { total, change });
        }
        if let Some(event) = self.liveliness.take() {
            return Some(event);
        }
        if let Some((total, change)) = self.lost.take() {
            return Some(SubscriptionEvent::MessageLost { total, change });
        }
        let (total, change) = self.incompatible_type.take()?;
        Some(SubscriptionEvent::IncompatibleType { total, change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_since_last_taken() {
        let mut status = ReaderStatus::default();
        assert_eq!(status.take(), None);
        let matched = |total_count, current_count| sys::matched_status_t {
            total_count,
            current_count,
            ..sys::matched_status_t::default()
        };
        status.matched.set(&matched(2, 2));
        status.lost.total = 5;
        let expected = MatchedStatus { total: 2, total_change: 2, current: 2, current_change: 2 };
        assert_eq!(status.take(), Some(SubscriptionEvent::Matched(expected)));
        assert_eq!(status.take(), Some(SubscriptionEvent::MessageLost { total: 5, change: 5 }));
        assert_eq!(status.take(), None);
        status.matched.set(&matched(2, 1));
        status.lost.total = 6;
        let expected = MatchedStatus { total: 2, total_change: 0, current: 1, current_change: -1 };
        assert_eq!(status.take(), Some(SubscriptionEvent::Matched(expected)));
        assert_eq!(status.take(), Some(SubscriptionEvent::MessageLost { total: 6, change: 1 }));
    }

    #[test]
    fn losses_that_strangers_claim_never_overflow() {
        let mut status = ReaderStatus::default();
        for claimed in [i64::MAX as u64 - 1, i64::MAX as u64 - 1, 7] {
            status.lost.add(claimed);
        }
        let (total, change) = (u64::MAX, u64::MAX);
        assert_eq!(status.take(), Some(SubscriptionEvent::MessageLost { total, change }));
        status.lost.add(1);
        assert_eq!(status.take(), None);
    }

    #[test]
    fn somebody_who_came_and_left_is_still_reported() {
        let mut status = WriterStatus::default();
        status.matched.set(&sys::matched_status_t { total_count: 1, ..Default::default() });
        let expected = MatchedStatus { total: 1, total_change: 1, current: 0, current_change: 0 };
        assert_eq!(status.take(), Some(PublisherEvent::Matched(expected)));
    }
}
