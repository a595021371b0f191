//! The counters from which the events of an endpoint are made: the totals, and the part of them
//! that the user has already taken.

use feros_engine::event::counts::{LivelinessChanged, Matched, Total};
use feros_engine::{PublisherEvent, SubscriptionEvent};

/// The counters for the events of an endpoint.
#[derive(Debug, Default)]
pub struct Status {
    matched: Matched,
    liveliness: LivelinessChanged,
    incompatible_types: Total,
    lost: Total<u64>,
}

impl Status {
    /// Records a new match.
    pub fn appeared(&mut self) {
        self.matched.add();
    }

    /// Records the end of a match.
    pub fn left(&mut self) {
        self.matched.remove();
    }

    /// Records an endpoint with the same name and another type.
    pub fn clashed(&mut self) {
        self.incompatible_types.total = self.incompatible_types.total.saturating_add(1);
    }

    /// Records lost messages.
    pub fn lost(&mut self, messages: u64) {
        self.lost.add(messages);
    }

    /// Takes the next event of a publisher that has not been taken.
    pub fn take_of_publisher(&mut self) -> Option<PublisherEvent> {
        if let Some(status) = self.matched.take() {
            return Some(PublisherEvent::Matched(status));
        }
        let (total, change) = self.incompatible_types.take()?;
        Some(PublisherEvent::IncompatibleType { total, change })
    }

    /// Takes the next event of a subscription that has not been taken.
    pub fn take_of_subscription(&mut self) -> Option<SubscriptionEvent> {
        if let Some(status) = self.matched.take() {
            return Some(SubscriptionEvent::Matched(status));
        }
        // A publisher counts as alive as long as it is known.
        self.liveliness.set(self.matched.current(), 0);
        if let Some(event) = self.liveliness.take() {
            return Some(event);
        }
        if let Some((total, change)) = self.lost.take() {
            return Some(SubscriptionEvent::MessageLost { total, change });
        }
        let (total, change) = self.incompatible_types.take()?;
        Some(SubscriptionEvent::IncompatibleType { total, change })
    }
}

#[cfg(test)]
mod tests {
    use feros_engine::MatchedStatus;

    use super::*;

    #[test]
    fn changes_are_since_last_taken() {
        let mut status = Status::default();
        assert_eq!(status.take_of_subscription(), None);
        status.appeared();
        status.appeared();
        status.left();
        status.lost(5);
        let matched = MatchedStatus { total: 2, total_change: 2, current: 1, current_change: 1 };
        assert_eq!(status.take_of_subscription(), Some(SubscriptionEvent::Matched(matched)));
        let alive = SubscriptionEvent::LivelinessChanged {
            alive: 1,
            not_alive: 0,
            alive_change: 1,
            not_alive_change: 0,
        };
        assert_eq!(status.take_of_subscription(), Some(alive));
        let lost = |total, change| Some(SubscriptionEvent::MessageLost { total, change });
        assert_eq!(status.take_of_subscription(), lost(5, 5));
        assert_eq!(status.take_of_subscription(), None);
        status.lost(u64::MAX);
        assert_eq!(status.take_of_subscription(), lost(u64::MAX, u64::MAX - 5));
    }
}
