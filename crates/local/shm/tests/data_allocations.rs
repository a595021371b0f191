//! Tests that no memory is allocated when messages are lent, sent, taken and held, if messages of
//! the same size have occurred before.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use feros_engine::{Payload, PayloadBytes};
use feros_shm::{
    Connection, ConnectionSettings, HostNode, HostPublisher, HostPublisherSettings, SampleHeader,
    TakeOutcome,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

#[allow(unsafe_code)]
// SAFETY: the allocator of the system does all the work, and the count is a plain number that
// belongs to the thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let _ = LIVE.try_with(|live| live.set(live.get() + 1));
        // SAFETY: the caller gives the guarantees that the allocator of the system requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = LIVE.try_with(|live| live.set(live.get() - 1));
        // SAFETY: the caller gives the guarantees that the allocator of the system requires.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Removes the space at the end, even after a failed test. The variable is declared before the
/// node, so that it is dropped after the node.
struct Space(String);

impl Drop for Space {
    fn drop(&mut self) {
        let _ = HostNode::remove_space(&self.0);
    }
}

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
    let (before, live) = (ALLOCATIONS.get(), LIVE.get());
    for _ in 0..100 {
        round(&publisher, &mut connections);
    }
    assert_eq!((ALLOCATIONS.get(), LIVE.get()), (before, live));
    drop(connections);
    drop(publisher);
    drop(node);
}
