//! The counters from which the events of an endpoint are made: the totals, and the part of them
//! that the user has already taken.

use feros_engine::event::difference;
use feros_engine::{MatchedStatus, PublisherEvent, SubscriptionEvent};

/// A count that only grows.
#[derive(Debug, Default)]
struct Total {
    total: u64,
    taken: u64,
}

impl Total {
    fn add(&mut self, more: u64) {
        // The addition saturates because the network can send huge numbers.
        self.total = self.total.saturating_add(more);
    }

    /// Returns the total and its change since the last call, if it has changed.
    fn take(&mut self) -> Option<(u64, u64)> {
        let change = self.total - self.taken;
        self.taken = self.total;
        (change > 0).then_some((self.total, change))
    }

    fn take_small(&mut self) -> Option<(u32, u32)> {
        let small = |number| u32::try_from(number).unwrap_or(u32::MAX);
        self.take().map(|(total, change)| (small(total), small(change)))
    }
}

/// The counters for the events of an endpoint.
#[derive(Debug, Default)]
pub struct Status {
    matched: Total,
    current: u32,
    current_taken: u32,
    alive_taken: u32,
    incompatible_types: Total,
    lost: Total,
}

impl Status {
    /// Records a new match.
    pub fn appeared(&mut self) {
        self.matched.add(1);
        self.current += 1;
    }

    /// Records the end of a match.
    pub fn left(&mut self) {
        self.current = self.current.saturating_sub(1);
    }

    /// Records an endpoint with the same name and another type.
    pub fn clashed(&mut self) {
        self.incompatible_types.add(1);
    }

    /// Records lost messages.
    pub fn lost(&mut self, messages: u64) {
        self.lost.add(messages);
    }

    fn take_matched(&mut self) -> Option<MatchedStatus> {
        let current_change = difference(self.current, self.current_taken);
        self.current_taken = self.current;
        let change = self.matched.take_small();
        let total_change = change.map_or(0, |(_, change)| change);
        (total_change != 0 || current_change != 0).then(|| MatchedStatus {
            total: u32::try_from(self.matched.total).unwrap_or(u32::MAX),
            total_change,
            current: self.current,
            current_change,
        })
    }

    /// Takes the next event of a publisher that has not been taken.
    pub fn take_of_publisher(&mut self) -> Option<PublisherEvent> {
        if let Some(status) = self.take_matched() {
            return Some(PublisherEvent::Matched(status));
        }
        let (total, change) = self.incompatible_types.take_small()?;
        Some(PublisherEvent::IncompatibleType { total, change })
    }

    /// Takes the next event of a subscription that has not been taken.
    pub fn take_of_subscription(&mut self) -> Option<SubscriptionEvent> {
        if let Some(status) = self.take_matched() {
            return Some(SubscriptionEvent::Matched(status));
        }
        // A publisher counts as alive while it is known.
        let alive_change = difference(self.current, self.alive_taken);
        self.alive_taken = self.current;
        if alive_change != 0 {
            return Some(SubscriptionEvent::LivelinessChanged {
                alive: self.current,
                not_alive: 0,
                alive_change,
                not_alive_change: 0,
            });
        }
        if let Some((total, change)) = self.lost.take() {
            return Some(SubscriptionEvent::MessageLost { total, change });
        }
        let (total, change) = self.incompatible_types.take_small()?;
        Some(SubscriptionEvent::IncompatibleType { total, change })
    }
}

#[cfg(test)]
mod tests {
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
