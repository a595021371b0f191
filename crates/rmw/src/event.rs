//! Events of endpoints: those of `rmw_event_type_t` (`rmw/event.h`).
//!
//! Counts named `total` run over the endpoint's life, `change` is since the event was last taken.

use crate::qos::QosPolicyKind;

/// What a count has changed by since it was told before.
///
/// ```
/// assert_eq!(feros_rmw::event::difference(1, 3), -2);
/// ```
pub fn difference(now: u32, before: u32) -> i32 {
    i32::try_from(i64::from(now) - i64::from(before)).unwrap_or(i32::MAX)
}

/// Endpoints of the other side that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchedStatus {
    /// All that ever matched.
    pub total: u32,
    /// New ones since the event was last taken.
    pub total_change: u32,
    /// Those that match now.
    pub current: u32,
    /// Difference of `current` since the event was last taken.
    pub current_change: i32,
}

/// What a publisher reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublisherEvent {
    /// A subscription matched or left.
    Matched(MatchedStatus),
    /// A subscription on the topic asks for more than is offered.
    OfferedQosIncompatible {
        /// How many ever.
        total: u32,
        /// How many since last taken.
        change: u32,
        /// The policy that failed last.
        last_policy: QosPolicyKind,
    },
    /// Nothing was published within the promised deadline.
    OfferedDeadlineMissed {
        /// How often ever.
        total: u32,
        /// How often since last taken.
        change: u32,
    },
    /// The publisher did not show that it is alive within its lease.
    LivelinessLost {
        /// How often ever.
        total: u32,
        /// How often since last taken.
        change: u32,
    },
    /// A subscription on the topic has another type.
    IncompatibleType {
        /// How many ever.
        total: u32,
        /// How many since last taken.
        change: u32,
    },
}

/// What a subscription reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionEvent {
    /// A publisher matched or left.
    Matched(MatchedStatus),
    /// A publisher on the topic offers less than is requested.
    RequestedQosIncompatible {
        /// How many ever.
        total: u32,
        /// How many since last taken.
        change: u32,
        /// The policy that failed last.
        last_policy: QosPolicyKind,
    },
    /// No message came within the requested deadline.
    RequestedDeadlineMissed {
        /// How often ever.
        total: u32,
        /// How often since last taken.
        change: u32,
    },
    /// A publisher came to life or is no longer alive.
    LivelinessChanged {
        /// Publishers that are alive now.
        alive: u32,
        /// Publishers that are matched but not alive now.
        not_alive: u32,
        /// Difference of `alive` since last taken.
        alive_change: i32,
        /// Difference of `not_alive` since last taken.
        not_alive_change: i32,
    },
    /// Messages were lost: not received, or pushed out of the subscription's history before they
    /// were taken.
    MessageLost {
        /// How many ever.
        total: u64,
        /// How many since last taken.
        change: u64,
    },
    /// A publisher on the topic has another type.
    IncompatibleType {
        /// How many ever.
        total: u32,
        /// How many since last taken.
        change: u32,
    },
}
