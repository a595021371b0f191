//! The counters from which the events of an endpoint are made: what has happened so far, and the
//! part of it that the user has already taken.

use super::{MatchedStatus, SubscriptionEvent, difference};
use crate::qos::QosPolicyKind;

/// A count that only grows.
#[derive(Debug, Default)]
pub struct Total<T = u32> {
    /// The total count.
    pub total: T,
    taken: T,
}

impl<T: Copy + PartialEq + std::ops::Sub<Output = T>> Total<T> {
    /// Returns the total and its change since the last call, if it has changed.
    pub fn take(&mut self) -> Option<(T, T)> {
        let change = self.total - self.taken;
        let changed = self.total != self.taken;
        self.taken = self.total;
        changed.then_some((self.total, change))
    }
}

impl Total<u64> {
    /// Adds to the total. The number comes from the network, so the addition saturates.
    pub fn add(&mut self, more: u64) {
        self.total = self.total.saturating_add(more);
    }
}

/// The number of incompatible endpoints, and the last policy that was incompatible.
#[derive(Debug, Default)]
pub struct IncompatibleQos {
    total: Total,
    last_policy: Option<QosPolicyKind>,
}

impl IncompatibleQos {
    /// Sets the number and the policy.
    pub fn set(&mut self, total: u32, last_policy: QosPolicyKind) {
        self.total.total = total;
        self.last_policy = Some(last_policy);
    }

    /// Returns the number, its change since the last call, and the policy, if the number has
    /// changed.
    pub fn take(&mut self) -> Option<(u32, u32, QosPolicyKind)> {
        let (total, change) = self.total.take()?;
        Some((total, change, self.last_policy?))
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
    /// Sets the number of all matches so far and the number of matches now.
    pub fn set(&mut self, total: u32, current: u32) {
        self.total.total = total;
        self.current = current;
    }

    /// Counts a new match.
    pub fn add(&mut self) {
        self.set(self.total.total.saturating_add(1), self.current + 1);
    }

    /// Counts the end of a match.
    pub fn remove(&mut self) {
        self.current = self.current.saturating_sub(1);
    }

    /// The number of matches now.
    pub fn current(&self) -> u32 {
        self.current
    }

    /// Returns the numbers and their changes since the last call, if they have changed.
    pub fn take(&mut self) -> Option<MatchedStatus> {
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

/// The number of matched publishers that are alive, and the number of those that are not.
#[derive(Debug, Default)]
pub struct LivelinessChanged {
    now: (u32, u32),
    taken: (u32, u32),
}

impl LivelinessChanged {
    /// Sets the numbers.
    pub fn set(&mut self, alive: u32, not_alive: u32) {
        self.now = (alive, not_alive);
    }

    /// Returns the numbers and their changes since the last call, if they have changed.
    pub fn take(&mut self) -> Option<SubscriptionEvent> {
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
