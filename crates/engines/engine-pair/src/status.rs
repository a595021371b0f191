//! The events of an endpoint, joined from both engines.
//!
//! Matches are counted by the identity of the endpoint, so an endpoint on both engines counts once.
//! Other events are reported only as numbers: missed deadlines, endpoints with incompatible
//! policies or types, and publishers that are not alive. For these, the larger count of the two
//! engines is used, because both engines report most of these events.

use std::collections::HashSet;

use feros_engine::event::counts::{self, LivelinessChanged, Total};
use feros_engine::{Gid, MatchedStatus, PublisherEvent, QosPolicyKind, SubscriptionEvent};

/// A count that both engines report. The larger value is used.
#[derive(Default)]
struct Larger {
    of: [u32; 2],
    larger: Total,
}

impl Larger {
    fn set(&mut self, side: usize, total: u32) {
        self.of[side] = total;
        self.larger.total = self.of[0].max(self.of[1]);
    }

    fn take(&mut self) -> Option<(u32, u32)> {
        self.larger.take()
    }
}

/// The matching endpoints and their numbers.
#[derive(Default)]
struct Matched {
    current: HashSet<Gid>,
    total: u32,
    counts: counts::Matched,
}

impl Matched {
    fn set(&mut self, now: impl Iterator<Item = Gid>) {
        let now: HashSet<Gid> = now.collect();
        self.total += count(now.difference(&self.current).count());
        self.current = now;
        self.counts.set(self.total, count(self.current.len()));
    }

    fn take(&mut self) -> Option<MatchedStatus> {
        self.counts.take()
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The joined events of a publisher.
#[derive(Default)]
pub(crate) struct PublisherStatus {
    matched: Matched,
    incompatible_qos: Larger,
    policy: Option<QosPolicyKind>,
    deadline_missed: Larger,
    liveliness_lost: Larger,
    incompatible_type: Larger,
}

impl PublisherStatus {
    pub(crate) fn set_matched(&mut self, now: impl Iterator<Item = Gid>) {
        self.matched.set(now);
    }

    /// Records an event of one engine.
    pub(crate) fn note(&mut self, side: usize, event: PublisherEvent) {
        match event {
            PublisherEvent::OfferedQosIncompatible { total, last_policy, .. } => {
                self.incompatible_qos.set(side, total);
                self.policy = Some(last_policy);
            }
            PublisherEvent::OfferedDeadlineMissed { total, .. } => {
                self.deadline_missed.set(side, total);
            }
            PublisherEvent::LivelinessLost { total, .. } => self.liveliness_lost.set(side, total),
            PublisherEvent::IncompatibleType { total, .. } => {
                self.incompatible_type.set(side, total);
            }
            // Matches are counted at another place, by identity.
            _ => {}
        }
    }

    /// Takes the next event that has not been taken.
    pub(crate) fn take(&mut self) -> Option<PublisherEvent> {
        if let Some(status) = self.matched.take() {
            return Some(PublisherEvent::Matched(status));
        }
        if let Some((total, change)) = self.incompatible_qos.take() {
            let last_policy = self.policy?;
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

/// The joined events of a subscription.
#[derive(Default)]
pub(crate) struct SubscriptionStatus {
    matched: Matched,
    incompatible_qos: Larger,
    policy: Option<QosPolicyKind>,
    deadline_missed: Larger,
    /// The number of matched publishers that are not alive, for each engine.
    not_alive: [u32; 2],
    liveliness: LivelinessChanged,
    lost: Total<u64>,
    incompatible_type: Larger,
}

impl SubscriptionStatus {
    pub(crate) fn set_matched(&mut self, now: impl Iterator<Item = Gid>) {
        self.matched.set(now);
    }

    pub(crate) fn add_lost(&mut self, more: u64) {
        self.lost.add(more);
    }

    /// Records an event of one engine. Ignores losses, because they are counted from the messages
    /// that the two engines deliver.
    pub(crate) fn note(&mut self, side: usize, event: SubscriptionEvent) {
        match event {
            SubscriptionEvent::RequestedQosIncompatible { total, last_policy, .. } => {
                self.incompatible_qos.set(side, total);
                self.policy = Some(last_policy);
            }
            SubscriptionEvent::RequestedDeadlineMissed { total, .. } => {
                self.deadline_missed.set(side, total);
            }
            SubscriptionEvent::LivelinessChanged { not_alive, .. } => {
                self.not_alive[side] = not_alive;
            }
            SubscriptionEvent::IncompatibleType { total, .. } => {
                self.incompatible_type.set(side, total);
            }
            _ => {}
        }
    }

    fn take_liveliness(&mut self) -> Option<SubscriptionEvent> {
        let current = count(self.matched.current.len());
        let not_alive = self.not_alive[0].max(self.not_alive[1]).min(current);
        self.liveliness.set(current - not_alive, not_alive);
        self.liveliness.take()
    }

    /// Takes the next event that has not been taken.
    pub(crate) fn take(&mut self) -> Option<SubscriptionEvent> {
        if let Some(status) = self.matched.take() {
            return Some(SubscriptionEvent::Matched(status));
        }
        if let Some((total, change)) = self.incompatible_qos.take() {
            let last_policy = self.policy?;
            return Some(SubscriptionEvent::RequestedQosIncompatible {
                total,
                change,
                last_policy,
            });
        }
        if let Some((total, change)) = self.deadline_missed.take() {
            return Some(SubscriptionEvent::RequestedDeadlineMissed { total, change });
        }
        if let Some(event) = self.take_liveliness() {
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
    fn events_of_both_engines_are_reported_once() {
        let mut status = SubscriptionStatus::default();
        let twins = [Gid([1; 16]), Gid([2; 16])];
        status.set_matched(twins.into_iter());
        for side in [0, 1] {
            status.note(side, SubscriptionEvent::IncompatibleType { total: 2, change: 2 });
        }
        let matched = MatchedStatus { total: 2, total_change: 2, current: 2, current_change: 2 };
        assert_eq!(status.take(), Some(SubscriptionEvent::Matched(matched)));
        let alive = |alive, not_alive, alive_change, not_alive_change| {
            let event = SubscriptionEvent::LivelinessChanged {
                alive,
                not_alive,
                alive_change,
                not_alive_change,
            };
            Some(event)
        };
        assert_eq!(status.take(), alive(2, 0, 2, 0));
        let clash = SubscriptionEvent::IncompatibleType { total: 2, change: 2 };
        assert_eq!(status.take(), Some(clash));
        assert_eq!(status.take(), None);
        // One engine enforces leases and reports a publisher that is not alive. The other engine
        // has no leases.
        let silent = SubscriptionEvent::LivelinessChanged {
            alive: 1,
            not_alive: 1,
            alive_change: -1,
            not_alive_change: 1,
        };
        status.note(0, silent);
        assert_eq!(status.take(), alive(1, 1, -1, 1));
        status.set_matched(twins.into_iter().take(1));
        let left = MatchedStatus { total: 2, total_change: 0, current: 1, current_change: -1 };
        assert_eq!(status.take(), Some(SubscriptionEvent::Matched(left)));
    }
}
