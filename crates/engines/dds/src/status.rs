//! The counters from which the events of an endpoint are made: the counts of the library, and the
//! part of them that the user has already taken.

use feros_engine::event::counts::{IncompatibleQos, LivelinessChanged, Matched, Total};
use feros_engine::{PublisherEvent, QosPolicyKind, SubscriptionEvent};

/// Returns the policy with this id in DDS (DDS 1.4, 2.3.3). DataRepresentation is 23 in XTypes 1.3,
/// and 25 in Cyclone DDS.
pub fn policy_kind(id: u32) -> QosPolicyKind {
    match id {
        2 => QosPolicyKind::Durability,
        4 => QosPolicyKind::Deadline,
        8 => QosPolicyKind::Liveliness,
        11 => QosPolicyKind::Reliability,
        13 => QosPolicyKind::History,
        21 => QosPolicyKind::Lifespan,
        23 | 25 => QosPolicyKind::DataRepresentation,
        other => QosPolicyKind::Other(other),
    }
}

/// The counters for the events that publishers and subscriptions both have.
#[derive(Debug, Default)]
pub struct EndpointStatus {
    /// The matching endpoints.
    pub matched: Matched,
    /// The endpoints with incompatible policies.
    pub incompatible_qos: IncompatibleQos,
    /// The missed deadlines.
    pub deadline_missed: Total,
    /// The endpoints with another type.
    pub incompatible_type: Total,
}

/// The counters for the events of a publisher or subscription.
pub trait Status: Default + Send + 'static {
    /// The form in which users get an event.
    type Event;

    /// The counters for the events that publishers and subscriptions both have.
    fn shared(&mut self) -> &mut EndpointStatus;

    /// Takes the next event that has not been taken.
    fn take(&mut self) -> Option<Self::Event>;
}

/// The counters for the events of a publisher.
#[derive(Debug, Default)]
pub struct WriterStatus {
    shared: EndpointStatus,
    /// The liveliness leases that expired.
    pub liveliness_lost: Total,
}

impl Status for WriterStatus {
    type Event = PublisherEvent;

    fn shared(&mut self) -> &mut EndpointStatus {
        &mut self.shared
    }

    fn take(&mut self) -> Option<PublisherEvent> {
        if let Some(status) = self.shared.matched.take() {
            return Some(PublisherEvent::Matched(status));
        }
        if let Some((total, change, last_policy)) = self.shared.incompatible_qos.take() {
            return Some(PublisherEvent::OfferedQosIncompatible { total, change, last_policy });
        }
        if let Some((total, change)) = self.shared.deadline_missed.take() {
            return Some(PublisherEvent::OfferedDeadlineMissed { total, change });
        }
        if let Some((total, change)) = self.liveliness_lost.take() {
            return Some(PublisherEvent::LivelinessLost { total, change });
        }
        let (total, change) = self.shared.incompatible_type.take()?;
        Some(PublisherEvent::IncompatibleType { total, change })
    }
}

/// The counters for the events of a subscription.
#[derive(Debug, Default)]
pub struct ReaderStatus {
    shared: EndpointStatus,
    /// The publishers that are alive and not alive.
    pub liveliness: LivelinessChanged,
    /// The lost messages.
    pub lost: Total<u64>,
}

impl Status for ReaderStatus {
    type Event = SubscriptionEvent;

    fn shared(&mut self) -> &mut EndpointStatus {
        &mut self.shared
    }

    fn take(&mut self) -> Option<SubscriptionEvent> {
        if let Some(status) = self.shared.matched.take() {
            return Some(SubscriptionEvent::Matched(status));
        }
        if let Some((total, change, last_policy)) = self.shared.incompatible_qos.take() {
            return Some(SubscriptionEvent::RequestedQosIncompatible {
                total,
                change,
                last_policy,
            });
        }
        if let Some((total, change)) = self.shared.deadline_missed.take() {
            return Some(SubscriptionEvent::RequestedDeadlineMissed { total, change });
        }
        if let Some(event) = self.liveliness.take() {
            return Some(event);
        }
        if let Some((total, change)) = self.lost.take() {
            return Some(SubscriptionEvent::MessageLost { total, change });
        }
        let (total, change) = self.shared.incompatible_type.take()?;
        Some(SubscriptionEvent::IncompatibleType { total, change })
    }
}

#[cfg(test)]
mod tests {
    use feros_engine::{MatchedStatus, QosPolicy};

    use super::*;

    #[test]
    fn changes_are_since_last_taken() {
        let mut status = ReaderStatus::default();
        assert_eq!(status.take(), None);
        status.shared.matched.set(2, 2);
        status.lost.total = 5;
        let expected = MatchedStatus { total: 2, total_change: 2, current: 2, current_change: 2 };
        assert_eq!(status.take(), Some(SubscriptionEvent::Matched(expected)));
        assert_eq!(status.take(), Some(SubscriptionEvent::MessageLost { total: 5, change: 5 }));
        assert_eq!(status.take(), None);
        status.shared.matched.set(2, 1);
        status.lost.total = 6;
        let expected = MatchedStatus { total: 2, total_change: 0, current: 1, current_change: -1 };
        assert_eq!(status.take(), Some(SubscriptionEvent::Matched(expected)));
        assert_eq!(status.take(), Some(SubscriptionEvent::MessageLost { total: 6, change: 1 }));
    }

    #[test]
    fn a_policy_has_its_name_in_each_library() {
        assert_eq!(policy_kind(11), QosPolicyKind::Reliability);
        assert_eq!([23, 25].map(policy_kind), [QosPolicyKind::DataRepresentation; 2]);
        assert_eq!(policy_kind(10), QosPolicyKind::Other(10));
    }

    #[test]
    fn every_policy_has_an_id() {
        let known: Vec<_> = (0..32).map(policy_kind).collect();
        for kind in QosPolicy::ALL.into_iter().filter_map(QosPolicyKind::of) {
            assert!(known.contains(&kind), "{kind}");
        }
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
    fn a_match_that_came_and_went_is_still_reported() {
        let mut status = WriterStatus::default();
        status.shared.matched.add();
        status.shared.matched.remove();
        let expected = MatchedStatus { total: 1, total_change: 1, current: 0, current_change: 0 };
        assert_eq!(status.take(), Some(PublisherEvent::Matched(expected)));
    }
}
