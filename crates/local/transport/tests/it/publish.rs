//! Tests with messages over each transport, without an executor.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use feros_engine::{Payload, QosProfile};
use feros_shm::{Transport, TransportSet};
use feros_trace::Outbound;

use crate::support::{Place, next, number, until};

fn publish(publisher: &feros_transport::Publisher, data: i32) {
    publisher.publish_bytes(&number(data), &mut Outbound::publish()).unwrap();
}

/// Sends one message. The publisher must choose this transport without being told.
fn comes_by(transport: Transport) {
    let (here, there) = (Place::new(), Place::new());
    let only = TransportSet::from(transport).with(Transport::Network);
    let publisher = here.publisher(only, QosProfile::keep_last(10));
    let (subscription, mut receiver) =
        there.subscription::<Payload>(only, QosProfile::keep_last(10));
    until("the transport", || {
        publish(&publisher, -1);
        let found = publisher.transports();
        found.iter().any(|found| found.transport == Some(transport)).then_some(())
    });
    publish(&publisher, 7);
    let received = loop {
        let received = next(&mut receiver);
        if received.transport() == transport && **received.object() == *number(7) {
            break received;
        }
    };
    assert_eq!(received.publisher(), publisher.gid());
    assert!(received.info().publication_sequence_number.is_some());
    assert_eq!(receiver.poll(), Ok(false), "that was the last");
    let found = subscription.transports();
    assert_eq!(found[0].transport, Some(transport), "{found:?}");
}

#[test]
fn within_a_process() {
    comes_by(Transport::IntraProcess);
}

#[test]
fn by_shared_memory() {
    comes_by(Transport::SharedMemory);
}

#[test]
fn by_the_network() {
    comes_by(Transport::Network);
}

#[test]
fn connections_open_while_nobody_polls() {
    let (here, there) = (Place::new(), Place::new());
    let only = TransportSet::from(Transport::SharedMemory);
    let publisher = here.publisher(only, QosProfile::keep_last(10));
    let (_subscription, mut receiver) =
        there.subscription::<Payload>(only, QosProfile::keep_last(10));
    until("the connection", || {
        let found = publisher.transports();
        found.iter().any(|found| found.transport == Some(Transport::SharedMemory)).then_some(())
    });
    publish(&publisher, 3);
    let received = next(&mut receiver);
    assert_eq!(*received.into_object(), *number(3));
}

/// After the last message, the receiver must report that there are no more messages. Otherwise, an
/// executor would give the receiver a turn in which there is no message to take.
#[test]
fn after_the_last_message_of_a_connection_there_is_no_more() {
    let (here, there) = (Place::new(), Place::new());
    let only = TransportSet::from(Transport::SharedMemory);
    let publisher = here.publisher(only, QosProfile::keep_last(10));
    let (_subscription, mut receiver) =
        there.subscription::<Payload>(only, QosProfile::keep_last(10));
    until("the connection", || {
        let found = publisher.transports();
        found.iter().any(|found| found.transport == Some(Transport::SharedMemory)).then_some(())
    });
    publish(&publisher, 1);
    assert_eq!(*next(&mut receiver).into_object(), *number(1));
    until("the subscription is settled", || {
        receiver.poll().unwrap();
        (!receiver.may_have_more()).then_some(())
    });
    publish(&publisher, 2);
    publish(&publisher, 3);
    assert_eq!(*next(&mut receiver).into_object(), *number(2));
    assert!(receiver.may_have_more());
    assert_eq!(*next(&mut receiver).into_object(), *number(3));
    assert!(!receiver.may_have_more());
}

#[test]
fn a_poll_says_what_a_take_gives() {
    let place = Place::new();
    let publisher = place.publisher(TransportSet::ALL, QosProfile::keep_last(10));
    let (_subscription, mut receiver) =
        place.subscription::<Payload>(TransportSet::ALL, QosProfile::keep_last(10));
    until("a match", || (publisher.matched_subscriptions() == 1).then_some(()));
    assert_eq!(receiver.poll(), Ok(false));
    publish(&publisher, 1);
    until("the message", || receiver.poll().unwrap().then_some(()));
    assert_eq!(receiver.poll(), Ok(true), "it stays until it is taken");
    assert_eq!(*receiver.take().unwrap().unwrap().into_object(), *number(1));
    assert_eq!(receiver.poll(), Ok(false));
    assert!(receiver.take().unwrap().is_none());
}

#[test]
fn the_publishing_thread_delivers_as_long_as_that_is_wanted() {
    let place = Place::new();
    let publisher = place.publisher(TransportSet::ALL, QosProfile::keep_last(10));
    let (subscription, mut receiver) =
        place.subscription::<Payload>(TransportSet::ALL, QosProfile::keep_last(10));
    let calls = Arc::new(AtomicUsize::new(0));
    let called = calls.clone();
    let direct = subscription.dispatch_directly(move || {
        called.fetch_add(1, Ordering::Relaxed);
    });
    until("a match", || (publisher.matched_subscriptions() == 1).then_some(()));
    publish(&publisher, 1);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    drop(direct);
    publish(&publisher, 2);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let numbers = [next(&mut receiver), next(&mut receiver)].map(|one| one.into_object().to_vec());
    assert_eq!(numbers, [number(1), number(2)]);
}

#[test]
fn a_lent_message_comes_by_every_transport() {
    for transport in [Transport::IntraProcess, Transport::SharedMemory, Transport::Network] {
        let (here, there) = (Place::new(), Place::new());
        let only = TransportSet::from(transport);
        let publisher = here.publisher(only, QosProfile::keep_last(10));
        let (_subscription, mut receiver) =
            there.subscription::<Payload>(only, QosProfile::keep_last(10));
        until("the transport", || {
            let found = publisher.transports();
            found.iter().any(|found| found.transport == Some(transport)).then_some(())
        });
        let mut loan = publisher.lend(8).unwrap();
        assert_eq!(loan.is_shared(), transport == Transport::SharedMemory);
        loan.bytes_mut().copy_from_slice(&number(5));
        publisher.publish_loan(loan, &mut Outbound::publish()).unwrap();
        assert_eq!(*next(&mut receiver).into_object(), *number(5), "{transport}");
    }
}
