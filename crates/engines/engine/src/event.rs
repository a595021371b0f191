//! Events of endpoints, with the kinds of `rmw_event_type_t` (`rmw/event.h`).
//!
//! Counts named `total` start when the endpoint is created. Counts named `change` start when the
//! event was last taken.

pub mod counts;

use crate::qos::QosPolicyKind;

/// The change of a count since it was last reported.
///
/// ```
/// assert_eq!(feros_engine::event::difference(1, 3), -2);
/// ```
pub fn difference(now: u32, before: u32) -> i32 {
    i32::try_from(i64::from(now) - i64::from(before)).unwrap_or(i32::MAX)
}

/// The number of matching endpoints on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchedStatus {
    /// The number of endpoints that have matched so far, including those that no longer match.
    pub total: u32,
    /// The number of endpoints that have started to match since the event was last taken.
    pub total_change: u32,
    /// The number of endpoints that match now.
    pub current: u32,
    /// The change of `current` since the event was last taken.
    pub current_change: i32,
}

/// An event of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublisherEvent {
    /// A match with a subscription began or ended.
    Matched(MatchedStatus),
    /// A subscription on the topic requests policies that the publisher does not offer.
    OfferedQosIncompatible {
        /// The total count.
        total: u32,
        /// The count since the event was last taken.
        change: u32,
        /// The policy that was incompatible in the most recent case.
        last_policy: QosPolicyKind,
    },
    /// The publisher did not publish within its deadline.
    OfferedDeadlineMissed {
        /// The total count.
        total: u32,
        /// The count since the event was last taken.
        change: u32,
    },
    /// The publisher did not assert its liveliness within its lease.
    LivelinessLost {
        /// The total count.
        total: u32,
        /// The count since the event was last taken.
        change: u32,
    },
    /// A subscription on the topic has another type.
    IncompatibleType {
        /// The total count.
        total: u32,
        /// The count since the event was last taken.
        change: u32,
    },
}

/// An event of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionEvent {
    /// A match with a publisher began or ended.
    Matched(MatchedStatus),
    /// A publisher on the topic does not offer the policies that the subscription requests.
    RequestedQosIncompatible {
        /// The total count.
        total: u32,
        /// The count since the event was last taken.
        change: u32,
        /// The policy that was incompatible in the most recent case.
        last_policy: QosPolicyKind,
    },
    /// No message arrived within the requested deadline.
    RequestedDeadlineMissed {
        /// The total count.
        total: u32,
        /// The count since the event was last taken.
        change: u32,
    },
    /// A publisher became alive or is no longer alive.
    LivelinessChanged {
        /// The number of matched publishers that are alive.
        alive: u32,
        /// The number of matched publishers that are not alive.
        not_alive: u32,
        /// The change of `alive` since the event was last taken.
        alive_change: i32,
        /// The change of `not_alive` since the event was last taken.
        not_alive_change: i32,
    },
    /// Messages were lost: they did not arrive, or newer messages displaced them from the
    /// subscription's history before they were taken.
    MessageLost {
        /// The total count.
        total: u64,
        /// The count since the event was last taken.
        change: u64,
    },
    /// A publisher on the topic has another type.
    IncompatibleType {
        /// The total count.
        total: u32,
        /// The count since the event was last taken.
        change: u32,
    },
}
