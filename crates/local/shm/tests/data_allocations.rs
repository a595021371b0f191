//! Tests that no memory is allocated when messages are lent, sent, taken and held, if messages of
//! the same size have occurred before.
#![allow(clippy::unwrap_used)]

mod space;

use std::sync::Arc;

use allocation_counter::measure;
use feros_engine::{Payload, PayloadBytes};
use feros_shm::{
    Connection, ConnectionSettings, HostNode, HostPublisher, HostPublisherSettings, SampleHeader,
    TakeOutcome,
};
use space::Space;

#[test]
fn publish_and_take_allocate_nothing_after_warm_up() {
    let space = format!("feros-test-{}-allocations", std::process::id());
    let _removed = Space(space.clone());
    let node = Arc::new(HostNode::new(&space).unwrap());
    let publisher = HostPublisher::create(&node, HostPublisherSettings::new(1)).unwrap();
    let mut connections: Vec<_> = (0..3)
        .map(|_| {
            Connection::open(&node, 1, ConnectionSettings { depth: 4, type_hash: None }).unwrap()
        })
        .collect();
    publisher.refresh();
    let round = |publisher: &HostPublisher, connections: &mut Vec<Connection>| {
        for size in [1 << 20, 256, 70_000, 4] {
            let mut loan = publisher.loan(size).unwrap();
            loan[0] = 1;
            assert_eq!(publisher.send(loan, SampleHeader::default()).unwrap(), 3);
            drop(publisher.loan(size).unwrap());
            for connection in &mut *connections {
                let TakeOutcome::Sample(sample) = connection.take() else { panic!("no sample") };
                // The client library holds messages in this form.
                let payload = Payload::new(sample.into_bytes());
                assert_eq!((payload.len(), payload[0]), (size, 1));
                assert!(matches!(connection.take(), TakeOutcome::Empty));
            }
        }
        // The queue is full, and all views are in use.
        for _ in 0..10 {
            publisher.send(publisher.loan(256).unwrap(), SampleHeader::default()).unwrap();
        }
        let mut held: [Option<feros_shm::HostSample>; 4] = [const { None }; 4];
        for slot in &mut held {
            let TakeOutcome::Sample(sample) = connections[0].take() else { panic!("no sample") };
            assert_eq!(sample.bytes().len(), 256);
            *slot = Some(sample);
        }
        for connection in &mut *connections {
            while let TakeOutcome::Sample(_) = connection.take() {}
        }
    };
    for _ in 0..3 {
        round(&publisher, &mut connections);
    }
    let allocations = measure(|| {
        for _ in 0..100 {
            round(&publisher, &mut connections);
        }
    });
    assert_eq!((allocations.count_total, allocations.count_current), (0, 0));
    drop(connections);
    drop(publisher);
    drop(node);
}
