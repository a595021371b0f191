//! Tests that events are taken and counted by kind.

use feros_engine::{Payload, PublisherEvent, QosProfile, SubscriptionEvent};
use feros_shm::{Transport, TransportSet};
use feros_trace::Outbound;
use feros_transport::{PublisherEventKind, SubscriptionEventKind};

use crate::support::{Place, number, until};

#[test]
fn events_of_one_kind_leave_the_others_waiting() {
    let place = Place::new();
    let publisher = place.publisher(TransportSet::ALL, QosProfile::keep_last(10));
    let (subscription, _receiver) =
        place.subscription::<Payload>(TransportSet::ALL, QosProfile::keep_last(10));
    let reliable = QosProfile::keep_last(1).transient_local();
    let _demanding = place.subscription::<Payload>(TransportSet::ALL, reliable);
    let incompatible = until("the incompatible subscription", || {
        publisher.take_event_of(PublisherEventKind::OfferedQosIncompatible).unwrap()
    });
    assert!(matches!(incompatible, PublisherEvent::OfferedQosIncompatible { total: 1, .. }));
    let matched = until("the match", || publisher.take_event().unwrap());
    assert!(matches!(matched, PublisherEvent::Matched(status) if status.current == 1));
    assert_eq!(publisher.take_event(), Ok(None));
    assert_eq!(publisher.event_count(PublisherEventKind::OfferedQosIncompatible), Ok(1));
    assert_eq!(publisher.event_count(PublisherEventKind::LivelinessLost), Ok(0));
    let matched =
        until("the match", || subscription.take_event_of(SubscriptionEventKind::Matched).unwrap());
    assert!(matches!(matched, SubscriptionEvent::Matched(status) if status.total == 1));
}

#[test]
fn losses_within_the_process_are_an_event() {
    let place = Place::new();
    let only = TransportSet::from(Transport::IntraProcess);
    let publisher = place.publisher(only, QosProfile::keep_last(10));
    let (subscription, mut receiver) =
        place.subscription::<Payload>(only, QosProfile::keep_last(2));
    until("a match", || (publisher.matched_subscriptions() == 1).then_some(()));
    for data in 0..5 {
        publisher.publish_bytes(&number(data), &mut Outbound::publish()).unwrap();
    }
    let heard = std::iter::from_fn(|| receiver.take().unwrap()).count();
    assert_eq!(heard, 2);
    assert!(subscription.has_events());
    let lost = subscription.take_event_of(SubscriptionEventKind::MessageLost).unwrap();
    assert_eq!(lost, Some(SubscriptionEvent::MessageLost { total: 3, change: 3 }));
}
