//! Tests the order in which heads are taken. Lists are used instead of the engine and the
//! connections.
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;

use feros_doorbell::Ringer;
use feros_engine::{Gid, MessageInfo, Payload, QosProfile};

use super::*;
use crate::intra_process::queue::Envelope;
use crate::local_connection::ConnectionMessage;

const A: Gid = Gid([1; 16]);
const B: Gid = Gid([2; 16]);

/// Makes a sample whose stamp is equal to its number.
fn sample(publisher: Gid, stamp: i64) -> Sample {
    let info = MessageInfo {
        source_timestamp: Stamp(stamp).to_system_time(),
        received_timestamp: None,
        publication_sequence_number: u64::try_from(stamp).ok(),
        publisher_gid: publisher,
        from_same_session: false,
    };
    Sample { payload: Payload::new(vec![0, 1, 0, 0]), info }
}

struct Nothing;

impl From<Payload> for Nothing {
    fn from(_: Payload) -> Self {
        Self
    }
}

impl Object for Nothing {
    type Wish = ();

    fn size_bytes(&self) -> usize {
        0
    }
}

#[derive(Default)]
struct List {
    samples: VecDeque<Sample>,
    fast: Vec<Gid>,
}

impl EngineSource for List {
    fn take(&mut self) -> Option<Sample> {
        self.samples.pop_front()
    }

    fn comes_by_local_transport(&mut self, publisher: Gid) {
        self.fast.push(publisher);
    }
}

struct Connection(Gid, VecDeque<Sample>);

impl LocalConnection for Connection {
    fn publisher(&self) -> Gid {
        self.0
    }

    fn front(&mut self) -> Option<Stamp> {
        self.1.front().map(stamp_of)
    }

    fn take(&mut self) -> Option<ConnectionMessage> {
        let sample = self.1.pop_front()?;
        let number = sample.info.publication_sequence_number.unwrap();
        let envelope = Envelope {
            publisher: self.0,
            stamp: stamp_of(&sample),
            number,
            since: number,
            expires: None,
        };
        Some(ConnectionMessage { envelope, received: Stamp::MIN, payload: sample.payload })
    }
}

struct Bench {
    reorder: Reorder<Nothing>,
    connections: Vec<Connection>,
    engine: List,
    pending: Arc<AtomicBool>,
}

impl Bench {
    fn new() -> Self {
        let queue = Queue::new((), &QosProfile::keep_last(100), Ringer::new());
        let pending = Arc::new(AtomicBool::new(false));
        let reorder = Reorder::new(Gid([0; 16]), Arc::new(queue), pending.clone(), Arc::default());
        Self { reorder, connections: Vec::new(), engine: List::default(), pending }
    }

    fn by_engine(&mut self, publisher: Gid, stamps: &[i64]) {
        self.engine.samples.extend(stamps.iter().map(|stamp| sample(publisher, *stamp)));
        self.pending.store(true, Ordering::Relaxed);
    }

    fn by_process(&mut self, publisher: Gid, stamps: &[i64]) {
        for stamp in stamps {
            let number = u64::try_from(*stamp).unwrap();
            let envelope =
                Envelope { publisher, stamp: Stamp(*stamp), number, since: number, expires: None };
            self.reorder.queue.put(envelope, Nothing);
        }
    }

    fn by_connection(&mut self, publisher: Gid, stamps: &[i64]) {
        let samples = stamps.iter().map(|stamp| sample(publisher, *stamp)).collect();
        self.connections.push(Connection(publisher, samples));
    }

    fn all(&mut self) -> Vec<(Gid, i64)> {
        std::iter::from_fn(|| self.reorder.next(&mut self.connections, &mut self.engine))
            .map(|received| (received.publisher(), received.traced().stamp))
            .collect()
    }

    fn of(&mut self, publisher: Gid) -> Vec<i64> {
        self.all()
            .into_iter()
            .filter(|(gid, _)| *gid == publisher)
            .map(|(_, stamp)| stamp)
            .collect()
    }

    fn duplicates(&self) -> u64 {
        self.reorder.counters.duplicates.load(Ordering::Relaxed)
    }

    fn lost(&self) -> u64 {
        self.reorder.counters.lost.load(Ordering::Relaxed)
    }
}

#[test]
fn earlier_messages_of_the_engine_come_before_local_messages() {
    let mut bench = Bench::new();
    bench.by_process(A, &[3, 4]);
    bench.by_engine(B, &[100]);
    bench.by_engine(A, &[1, 2]);
    assert_eq!(bench.of(A), [1, 2, 3, 4]);
    assert_eq!(bench.engine.fast, [A]);
}

#[test]
fn the_engine_is_asked_before_the_first_fast_message_though_it_did_not_notify_yet() {
    let mut bench = Bench::new();
    bench.by_connection(A, &[3]);
    bench.by_engine(A, &[1, 2]);
    bench.pending.store(false, Ordering::Relaxed);
    assert_eq!(bench.of(A), [1, 2, 3]);
}

#[test]
fn messages_that_come_twice_are_delivered_once() {
    let mut bench = Bench::new();
    bench.by_engine(A, &[1, 2, 3, 4, 5]);
    bench.by_connection(A, &[2, 3, 4, 5]);
    bench.by_engine(B, &[7]);
    assert_eq!(bench.of(A), [1, 2, 3, 4, 5]);
    assert_eq!(bench.duplicates(), 4);
    // The duplicate of a message may arrive long after the original.
    bench.by_process(B, &[8]);
    assert_eq!(bench.all(), [(B, 8)]);
    bench.by_engine(B, &[8]);
    assert_eq!(bench.all(), []);
    assert_eq!(bench.duplicates(), 5);
}

#[test]
fn a_message_that_found_no_room_on_the_local_transport_keeps_its_place() {
    let mut bench = Bench::new();
    bench.by_connection(A, &[1, 2, 5]);
    bench.by_engine(A, &[3, 4]);
    assert_eq!(bench.of(A), [1, 2, 3, 4, 5]);
    assert_eq!(bench.duplicates(), 0);
}

#[test]
fn the_older_of_a_publishers_heads_is_found_behind_others() {
    let mut bench = Bench::new();
    bench.by_process(B, &[50, 51]);
    bench.by_process(A, &[1]);
    bench.all();
    bench.by_process(B, &[52, 53]);
    bench.by_process(A, &[2]);
    bench.by_engine(A, &[2, 3]);
    let all = bench.all();
    let of =
        |publisher| all.iter().filter(move |(gid, _)| *gid == publisher).map(|(_, stamp)| *stamp);
    assert_eq!(of(A).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(of(B).collect::<Vec<_>>(), [52, 53]);
}

#[test]
fn nobody_starves() {
    let mut bench = Bench::new();
    bench.by_process(A, &(1..=50).collect::<Vec<_>>());
    bench.by_connection(Gid([3; 16]), &(1..=50).collect::<Vec<_>>());
    bench.all();
    bench.connections.clear();
    bench.by_process(A, &(51..=100).collect::<Vec<_>>());
    bench.by_connection(Gid([3; 16]), &(51..=100).collect::<Vec<_>>());
    bench.by_engine(B, &(1..=50).collect::<Vec<_>>());
    let all = bench.all();
    assert_eq!(all.len(), 150);
    for publisher in [A, B, Gid([3; 16])] {
        let last = all.iter().take(60).filter(|(gid, _)| *gid == publisher).count();
        assert!(last >= 10, "{publisher} had {last} of the first 60");
    }
}

#[test]
fn expired_messages_are_not_delivered() {
    let mut bench = Bench::new();
    let expires = Some(Instant::now());
    let envelope = Envelope { publisher: A, stamp: Stamp(1), number: 1, since: 1, expires };
    bench.reorder.queue.put(envelope, Nothing);
    bench.by_process(A, &[2]);
    assert_eq!(bench.of(A), [2]);
}

#[test]
fn messages_missing_on_all_transports_are_lost() {
    let mut bench = Bench::new();
    bench.by_process(A, &[5]);
    assert_eq!((bench.all().len(), bench.lost()), (1, 0));
    // Messages 6 and 9 arrive over no transport; message 7 has arrived through the engine.
    bench.by_engine(A, &[7]);
    bench.all();
    bench.by_process(A, &[8]);
    assert_eq!((bench.all().len(), bench.lost()), (1, 1));
    bench.by_process(A, &[10]);
    assert_eq!((bench.all().len(), bench.lost()), (1, 2));
}

#[test]
fn losses_that_publishers_claim_never_overflow() {
    let mut bench = Bench::new();
    for publisher in [A, B, Gid([3; 16])] {
        bench.by_process(publisher, &[1, i64::MAX]);
    }
    bench.all();
    assert_eq!(bench.lost(), u64::MAX);
}

#[test]
fn messages_sent_while_the_publisher_was_away_are_lost() {
    let mut bench = Bench::new();
    bench.by_connection(A, &[5]);
    bench.all();
    bench.connections.clear();
    bench.reorder.note_who_left(|_| false);
    bench.by_engine(A, &[8]);
    assert_eq!(bench.of(A), [8]);
    assert_eq!(bench.lost(), 2, "reported without another message on the local transport");
    bench.by_connection(A, &[9]);
    assert_eq!(bench.of(A), [9]);
    assert_eq!((bench.engine.fast.as_slice(), bench.lost()), ([A, A].as_slice(), 2));
}

#[test]
fn the_first_of_many_publishers_that_left_are_forgotten() {
    let mut bench = Bench::new();
    let publishers: Vec<Gid> = (0..100).map(|number| Gid([number; 16])).collect();
    for publisher in &publishers {
        bench.by_process(*publisher, &[5]);
    }
    bench.all();
    bench.reorder.note_who_left(|publisher| publisher == publishers[0]);
    assert_eq!(bench.reorder.local.len(), 1 + REMEMBERED_PUBLISHERS);
    assert!(bench.reorder.local.iter().any(|known| known.gid == publishers[0]));
    assert!(bench.reorder.local.iter().any(|known| known.gid == publishers[99]));
}
