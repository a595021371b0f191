//! The counters from which the events of an endpoint are made: the counts that the engine reported,
//! and the part of them that the user has already taken.

use feros_engine::event::difference;
use feros_engine::{MatchedStatus, PublisherEvent, QosPolicyKind, SubscriptionEvent};

/// Returns the policy with this id in DDS (DDS 1.4, 2.3.3; DataRepresentation of XTypes 1.3).
pub fn policy_kind(id: u32) -> QosPolicyKind {
    match id {
        2 => QosPolicyKind::Durability,
        4 => QosPolicyKind::Deadline,
        8 => QosPolicyKind::Liveliness,
        11 => QosPolicyKind::Reliability,
        13 => QosPolicyKind::History,
        21 => QosPolicyKind::Lifespan,
        23 => QosPolicyKind::DataRepresentation,
        other => QosPolicyKind::Other(other),
    }
}

/// A count that only grows.
#[derive(Debug, Default)]
pub struct Total<T = u32> {
    /// The total count.
    pub total: T,
    taken: T,
}

impl<T: Copy + PartialEq + std::ops::Sub<Output = T>> Total<T> {
    /// Returns the total and its change since the last call, if it has changed.
    fn take(&mut self) -> Option<(T, T)> {
        let change = self.total - self.taken;
        let changed = self.total != self.taken;
        self.taken = self.total;
        changed.then_some((self.total, change))
    }
}

impl Total<u64> {
    /// Adds to the total. The number is from the network, so the addition saturates.
    pub fn add(&mut self, more: u64) {
        self.total = self.total.saturating_add(more);
    }
}

/// The number of incompatible endpoints, and the last policy that was incompatible.
#[derive(Debug, Default)]
pub struct IncompatibleQos {
    total: Total,
    policy: u32,
}

impl IncompatibleQos {
    /// Sets the counts that the engine reported.
    pub fn set(&mut self, total: u32, policy: u32) {
        self.total.total = total;
        self.policy = policy;
    }
}

/// The number of matched endpoints.
#[derive(Debug, Default)]
pub struct Matched {
    total: Total,
    current: u32,
    current_taken: u32,
}

impl Matched {
    /// Sets the counts that the engine reported.
    pub fn set(&mut self, total: u32, current: u32) {
        self.total.total = total;
        self.current = current;
    }

    /// Counts a new match.
    pub fn add(&mut self) {
        self.set(self.total.total + 1, self.current + 1);
    }

    /// Counts the end of a match.
    pub fn remove(&mut self) {
        self.current = self.current.saturating_sub(1);
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

/// The number of matched publishers that are alive, and the number of matched publishers that are
/// not alive.
#[derive(Debug, Default)]
pub struct LivelinessChanged {
    now: (u32, u32),
    taken: (u32, u32),
}

impl LivelinessChanged {
    /// Sets the counts that the engine reported.
    pub fn set(&mut self, alive: u32, not_alive: u32) {
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

/// The counters for the events of a publisher.
#[derive(Debug, Default)]
pub struct WriterStatus {
    /// The matching endpoints.
    pub matched: Matched,
    /// The endpoints with incompatible policies.
    pub incompatible_qos: IncompatibleQos,
    /// The missed deadlines.
    pub deadline_missed: Total,
    /// The liveliness leases that expired.
    pub liveliness_lost: Total,
    /// The endpoints with another type.
    pub incompatible_type: Total,
}

impl WriterStatus {
    /// Takes the next event that has not been taken.
    pub fn take(&mut self) -> Option<PublisherEvent> {
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

/// The counters for the events of a subscription.
#[derive(Debug, Default)]
pub struct ReaderStatus {
    /// The matching endpoints.
    pub matched: Matched,
    /// The endpoints with incompatible policies.
    pub incompatible_qos: IncompatibleQos,
    /// The missed deadlines.
    pub deadline_missed: Total,
    /// The publishers that are alive and not alive.
    pub liveliness: LivelinessChanged,
    /// The lost messages.
    pub lost: Total<u64>,
    /// The endpoints with another type.
    pub incompatible_type: Total,
}

impl ReaderStatus {
    /// Takes the next event that has not been taken.
    pub fn take(&mut self) -> Option<SubscriptionEvent> {
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
        status.matched.set(2, 2);
        status.lost.total = 5;
        let expected = MatchedStatus { total: 2, total_change: 2, current: 2, current_change: 2 };
        assert_eq!(status.take(), Some(SubscriptionEvent::Matched(expected)));
        assert_eq!(status.take(), Some(SubscriptionEvent::MessageLost { total: 5, change: 5 }));
        assert_eq!(status.take(), None);
        status.matched.set(2, 1);
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
        status.matched.add();
        status.matched.remove();
        let expected = MatchedStatus { total: 1, total_change: 1, current: 0, current_change: 0 };
        assert_eq!(status.take(), Some(PublisherEvent::Matched(expected)));
    }
}
