//! Tests of publishers and connections within one process: content, order, limits, refusals, and
//! remaining files.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use feros_engine::PayloadBytes;
use feros_shm::{
    Connection, ConnectionSettings, CreateError, HostNode, HostPublisher, HostPublisherSettings,
    HostSample, LoanError, OpenError, Refused, SampleHeader, SendError, TakeOutcome,
};

/// A space for one test. It is removed when the test ends.
struct Space {
    name: String,
    node: Option<Arc<HostNode>>,
}

impl Space {
    fn new(test: &str) -> Self {
        let name = format!("feros-test-{}-{test}", std::process::id());
        let node = Some(Arc::new(HostNode::new(&name).unwrap()));
        Self { name, node }
    }

    fn node(&self) -> &Arc<HostNode> {
        self.node.as_ref().unwrap()
    }

    /// A connection to publisher 1.
    fn connection(&self, depth: usize, type_hash: Option<[u8; 32]>) -> Connection {
        Connection::open(self.node(), 1, ConnectionSettings { depth, type_hash }).unwrap()
    }

    /// The names in `/dev/shm` that belong to the space, and the files in its folder.
    fn files(&self) -> Vec<String> {
        fn under(folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    under(&entry.path(), found);
                } else {
                    found.push(entry.path().display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        for entry in fs::read_dir("/dev/shm").unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(self.node().prefix()) {
                found.push(name);
            }
        }
        under(self.node().folder(), &mut found);
        found.sort();
        found
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.node = None;
        HostNode::remove_space(&self.name).unwrap();
    }
}

fn header(number: u64) -> SampleHeader {
    SampleHeader {
        stamp: number as i64 * 1000,
        publication_number: number,
        expires_nanos: 0,
        flags: 0,
    }
}

fn content(size: usize, number: u64) -> impl Iterator<Item = u8> {
    (0..size).map(move |index| (index as u64).wrapping_mul(31).wrapping_add(number * 7) as u8)
}

fn publish(publisher: &HostPublisher, size: usize, number: u64) -> usize {
    let mut loan = publisher.loan(size).unwrap();
    for (byte, value) in loan.iter_mut().zip(content(size, number)) {
        *byte = value;
    }
    publisher.refresh();
    publisher.send(loan, header(number)).unwrap()
}

fn taken(connection: &mut Connection) -> HostSample {
    match connection.take() {
        TakeOutcome::Sample(sample) => sample,
        other => panic!("no sample: {other:?}"),
    }
}

fn check(sample: &HostSample, size: usize, number: u64) {
    assert_eq!(sample.header(), header(number));
    assert!(
        sample.bytes().iter().copied().eq(content(size, number)),
        "content of message {number} of {size} bytes"
    );
    if size > 4 {
        assert_eq!((&raw const sample.bytes()[4]).addr() % 8, 0);
    }
}

const SETTINGS: ConnectionSettings = ConnectionSettings { depth: 8, type_hash: None };

#[test]
fn messages_of_all_sizes_arrive_unchanged_and_in_order() {
    let space = Space::new("sizes");
    let publisher = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let mut connection = Connection::open(space.node(), 1, SETTINGS).unwrap();
    let mut other = Connection::open(space.node(), 1, SETTINGS).unwrap();
    assert_eq!(publisher.subscriber_count(), 2);
    let mut number = 0;
    for size in [4, 5, 12, 100, 4096, 4097, 100_000, 17, 1 << 20, 5 << 20, 4] {
        number += 1;
        assert_eq!(publish(&publisher, size, number), 2);
        check(&taken(&mut connection), size, number);
        check(&taken(&mut other), size, number);
        assert!(matches!(connection.take(), TakeOutcome::Empty));
    }
    assert!(publisher.pool().growths > 1);
    assert_eq!((connection.lost(), connection.counts().taken), (0, number));
}

#[test]
fn a_growing_pool_keeps_order_and_loses_nothing() {
    let space = Space::new("growth");
    let publisher = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let mut connection = space.connection(16, None);
    // This message is lent before the pool grows, and it is sent after that.
    let mut early = publisher.loan(64).unwrap();
    early.fill(9);
    let sizes: Vec<usize> = (0..10).map(|power| 100 << (4 * (power / 2))).collect();
    for (index, size) in sizes.iter().enumerate() {
        publish(&publisher, *size, index as u64 + 1);
    }
    publisher.send(early, header(11)).unwrap();
    for (index, size) in sizes.iter().enumerate() {
        check(&taken(&mut connection), *size, index as u64 + 1);
    }
    let last = taken(&mut connection);
    assert_eq!((last.bytes(), last.header().publication_number), (&[9; 64][..], 11));
    assert!(matches!(connection.take(), TakeOutcome::Empty));
    assert_eq!(connection.lost(), 0);
    assert!(publisher.pool().growths >= 3, "{:?}", publisher.pool());
}

#[test]
fn a_full_queue_drops_the_oldest_and_the_loss_is_counted() {
    let space = Space::new("overflow");
    let publisher = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let mut connection = space.connection(3, None);
    publish(&publisher, 10, 1);
    check(&taken(&mut connection), 10, 1);
    for number in 2..=10 {
        publish(&publisher, 10, number);
    }
    for number in 8..=10 {
        check(&taken(&mut connection), 10, number);
    }
    assert_eq!(connection.lost(), 6);
}

#[test]
fn a_subscription_that_holds_all_its_views_gets_an_error() {
    let space = Space::new("views");
    let settings = HostPublisherSettings { max_views: 2, ..HostPublisherSettings::new(1) };
    let publisher = HostPublisher::create(space.node(), settings).unwrap();
    let mut connection = Connection::open(space.node(), 1, SETTINGS).unwrap();
    for number in 1..=4 {
        publish(&publisher, 10, number);
    }
    let first = taken(&mut connection);
    let second = taken(&mut connection);
    assert!(matches!(connection.take(), TakeOutcome::ViewsExhausted { max_views: 2 }));
    assert_eq!(connection.counts().views_exhausted, 1);
    drop(first);
    check(&taken(&mut connection), 10, 3);
    check(&second, 10, 2);
    check(&taken(&mut connection), 10, 4);
}

/// All queues are full, each subscription holds as many views as it may, none of which another
/// subscription holds, and all loans are lent.
#[test]
fn a_pool_has_memory_for_all_that_can_be_in_use() {
    let space = Space::new("in-use");
    let settings = HostPublisherSettings {
        largest_depth: 3,
        max_subscriptions: 4,
        max_views: 2,
        max_loans: 2,
        ..HostPublisherSettings::new(1)
    };
    let publisher = HostPublisher::create(space.node(), settings).unwrap();
    let mut connections: Vec<_> = (0..4).map(|_| space.connection(3, None)).collect();
    let (mut views, mut number) = (Vec::new(), 0);
    for connection in &mut connections {
        for _ in 0..2 {
            number += 1;
            publish(&publisher, 10, number);
            let newest = std::iter::repeat_with(|| taken(connection))
                .find(|sample| sample.header().publication_number == number);
            views.push((newest.unwrap(), number));
        }
    }
    for _ in 0..3 {
        number += 1;
        publish(&publisher, 10, number);
    }
    let loans: Vec<_> = (0..2).map(|_| publisher.loan(10).unwrap()).collect();
    for (view, number) in &views {
        check(view, 10, *number);
    }
    for connection in &mut connections {
        assert!(matches!(connection.take(), TakeOutcome::ViewsExhausted { max_views: 2 }));
    }
    let pool = publisher.pool();
    assert!((3 + 4 * 2 + 2..=pool.max_messages).contains(&pool.peak_messages), "{pool:?}");
    drop((loans, views));
    for connection in &mut connections {
        check(&taken(connection), 10, number - 2);
    }
}

#[test]
fn a_sample_outlives_its_connection_and_its_publisher_unchanged() {
    let space = Space::new("outlives");
    let publisher = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let mut connection = Connection::open(space.node(), 1, SETTINGS).unwrap();
    publish(&publisher, 1000, 1);
    let sample = taken(&mut connection);
    drop(connection);
    for number in 2..100 {
        publish(&publisher, 1000, number); // this would overwrite the sample if its memory had been freed
    }
    check(&sample, 1000, 1);
    drop(publisher);
    check(&sample, 1000, 1);
    std::thread::Builder::new()
        .name("dropper".into())
        .spawn(move || drop(sample))
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(
        space
            .files()
            .iter()
            .filter(|name| name.contains(".data") || name.contains("service"))
            .count(),
        0
    );
}

#[test]
fn errors_name_the_exhausted_resource() {
    let space = Space::new("exhausted");
    let settings = HostPublisherSettings {
        max_loans: 2,
        pool_limit_bytes: Some(100_000),
        ..HostPublisherSettings::new(1)
    };
    let publisher = HostPublisher::create(space.node(), settings).unwrap();
    let loans = [publisher.loan(10).unwrap(), publisher.loan(10).unwrap()];
    assert_eq!(publisher.loan(10).unwrap_err(), LoanError::TooManyLoans { max_loans: 2 });
    assert_eq!(publisher.pool().lent, 2);
    drop(loans);
    assert_eq!(publisher.pool().lent, 0);
    let first = publisher.loan(60_000).unwrap();
    assert!(matches!(
        publisher.loan(60_000),
        Err(LoanError::Exhausted { limit_bytes: 100_000, .. })
    ));
    drop(first);
    drop(publisher.loan(60_000).unwrap());
    assert!(matches!(publisher.loan(usize::MAX), Err(LoanError::TooLarge { .. })));
}

#[test]
fn a_wrong_type_is_refused_and_counted() {
    let space = Space::new("type");
    let settings =
        HostPublisherSettings { type_hash: Some([1; 32]), ..HostPublisherSettings::new(1) };
    let publisher = HostPublisher::create(space.node(), settings).unwrap();
    let mut right = space.connection(2, Some([1; 32]));
    let mut wrong = space.connection(2, Some([2; 32]));
    publish(&publisher, 10, 1);
    check(&taken(&mut right), 10, 1);
    assert!(matches!(wrong.take(), TakeOutcome::Refused(Refused::TypeHash { .. })));
    assert!(matches!(wrong.take(), TakeOutcome::Empty));
    assert_eq!(wrong.counts().refused, 1);
}

/// The files of the given kind in `/dev/shm`.
fn files_of(space: &Space, kind: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir("/dev/shm").unwrap().map(|entry| entry.unwrap().path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(space.node().prefix()) && name.ends_with(kind)
    };
    paths.filter(is_ours).collect()
}

/// Changes shared memory directly, as a faulty or hostile process of this user could do.
fn patch(space: &Space, find: &[u8], distance: isize, replace: &[u8]) {
    let data = files_of(space, ".data").remove(0);
    let content = fs::read(&data).unwrap();
    let found = content.windows(find.len()).position(|window| window == find).unwrap();
    let file = fs::OpenOptions::new().write(true).open(data).unwrap();
    file.write_all_at(replace, found.checked_add_signed(distance).unwrap() as u64).unwrap();
}

#[test]
fn messages_spoiled_by_another_process_are_refused_and_counted() {
    const HASH: [u8; 32] = [0xA7; 32];
    type Check = fn(Refused) -> bool;
    // The numbers are distances from the hash of the type: the version is at -8, and the length of
    // the message is at 16. The length is checked against the room in the chunk.
    const ROOM_BYTES: u64 = 3840;
    let cases: [(isize, &[u8], Check); 4] = [
        (-8, &77u32.to_ne_bytes(), |refused| matches!(refused, Refused::Version { found: 77, .. })),
        (0, &[1; 8], |refused| matches!(refused, Refused::TypeHash { .. })),
        (16, &(ROOM_BYTES as u32 + 1).to_ne_bytes(), |refused| {
            refused
                == Refused::Length { claimed_bytes: ROOM_BYTES + 1, available_bytes: ROOM_BYTES }
        }),
        (16, &u32::MAX.to_ne_bytes(), |refused| matches!(refused, Refused::Length { .. })),
    ];
    for (distance, replace, right) in cases {
        let space = Space::new("spoilt");
        let settings =
            HostPublisherSettings { type_hash: Some(HASH), ..HostPublisherSettings::new(1) };
        let publisher = HostPublisher::create(space.node(), settings).unwrap();
        let mut connection = space.connection(2, Some(HASH));
        publish(&publisher, 100, 1);
        assert_eq!(publisher.pool().message_bytes as u64, ROOM_BYTES);
        patch(&space, &HASH[..8], distance, replace);
        match connection.take() {
            TakeOutcome::Refused(refused) => assert!(right(refused), "{refused}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(connection.counts().refused, 1);
        publish(&publisher, 100, 2);
        check(&taken(&mut connection), 100, 2);
        assert!(matches!(connection.take(), TakeOutcome::Empty));
    }
}

#[test]
fn a_length_beyond_the_mapping_is_refused() {
    let space = Space::new("beyond");
    let settings =
        HostPublisherSettings { type_hash: Some([0xA7; 32]), ..HostPublisherSettings::new(1) };
    let publisher = HostPublisher::create(space.node(), settings).unwrap();
    let mut connection = Connection::open(space.node(), 1, SETTINGS).unwrap();
    publish(&publisher, 100, 1);
    // This overwrites the length of the message, and also the room for the message, which is stored
    // after the length.
    patch(&space, &[0xA7; 8], 16, &[0xff; 8]);
    const CLAIMED_BYTES: u64 = u32::MAX as u64;
    match connection.take() {
        TakeOutcome::Refused(Refused::Length { claimed_bytes: CLAIMED_BYTES, available_bytes }) => {
            assert!(available_bytes < CLAIMED_BYTES);
        }
        other => panic!("{other:?}"),
    }
}

/// No matter what another process writes into the rings, the worst effect is a loss of messages: no
/// memory is lent twice, and both sides continue.
#[test]
fn scribbled_rings_cost_messages_and_nothing_else() {
    let words = [0, 1, 7, 4096, 1 << 40, u64::MAX];
    for (index, word) in (0..36).flat_map(|index| words.map(|word| (index, word))) {
        let space = Space::new("queue");
        let settings = HostPublisherSettings { max_views: 2, ..HostPublisherSettings::new(1) };
        let publisher = HostPublisher::create(space.node(), settings).unwrap();
        let mut connection = space.connection(3, None);
        publish(&publisher, 100, 1);
        publish(&publisher, 100, 2);
        let held = taken(&mut connection);
        let path = files_of(&space, ".connection").remove(0);
        let bytes = fs::metadata(&path).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(&word.to_ne_bytes(), index * 8 % bytes).unwrap();
        for number in 3..20 {
            let mut lent: Vec<_> = (0..4).map(|_| publisher.loan(100).unwrap()).collect();
            let places: BTreeSet<_> = lent.iter().map(|loan| loan.as_ptr().addr()).collect();
            assert_eq!(places.len(), 4, "memory is lent twice");
            let mut loan = lent.remove(0);
            loan.fill(number as u8);
            publisher.send(loan, header(number)).unwrap();
            for _ in 0..10 {
                if matches!(connection.take(), TakeOutcome::Empty) {
                    break;
                }
            }
        }
        drop(held);
        drop(connection);
        let mut connection = Connection::open(space.node(), 1, SETTINGS).unwrap();
        publish(&publisher, 100, 20);
        check(&taken(&mut connection), 100, 20);
    }
}

/// One ring of the doorbell can announce both the last message of a pool and the first message of
/// the next pool.
#[test]
fn a_message_of_a_pool_that_has_grown_is_known_to_wait() {
    let space = Space::new("grown");
    let publisher = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let mut connection = Connection::open(space.node(), 1, SETTINGS).unwrap();
    assert!(!connection.has_message());
    publish(&publisher, 10, 1);
    publish(&publisher, 100_000, 2);
    assert!(connection.has_message());
    check(&taken(&mut connection), 10, 1);
    assert!(
        connection.has_message(),
        "the next one comes from a pool that the connection has not seen"
    );
    check(&taken(&mut connection), 100_000, 2);
    assert!(!connection.has_message());
}

#[test]
fn a_loan_outlives_its_publisher() {
    let space = Space::new("orphan");
    let publisher = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let mut small = publisher.loan(100).unwrap();
    let mut large = publisher.loan(100_000).unwrap();
    drop(publisher);
    assert!(files_of(&space, ".data").is_empty());
    small.fill(1);
    large.fill(2);
    assert!(small.iter().all(|byte| *byte == 1) && large.iter().all(|byte| *byte == 2));
}

#[test]
fn connections_and_publishers_come_and_go() {
    let space = Space::new("come-and-go");
    let before = space.files();
    assert!(matches!(
        Connection::open(space.node(), 7, SETTINGS),
        Err(OpenError::NotYet { id: 7 })
    ));
    for _ in 0..3 {
        let publisher = HostPublisher::create(
            space.node(),
            HostPublisherSettings { max_subscriptions: 1, ..HostPublisherSettings::new(7) },
        )
        .unwrap();
        assert!(matches!(
            HostPublisher::create(space.node(), HostPublisherSettings::new(7)),
            Err(CreateError::AlreadyExists { id: 7 })
        ));
        let mut connection = Connection::open(space.node(), 7, SETTINGS).unwrap();
        assert!(matches!(
            Connection::open(space.node(), 7, SETTINGS),
            Err(OpenError::TooMany { max_subscriptions: 1, .. })
        ));
        assert!(connection.is_connected());
        publish(&publisher, 10, 1);
        publish(&publisher, 10, 2);
        drop(publisher);
        assert!(!connection.is_connected());
        check(&taken(&mut connection), 10, 1);
        check(&taken(&mut connection), 10, 2);
        assert!(matches!(connection.take(), TakeOutcome::Empty));
        assert!(matches!(
            Connection::open(space.node(), 7, SETTINGS),
            Err(OpenError::NotYet { .. })
        ));
        drop(connection);
        assert_eq!(space.files(), before);
    }
}

#[test]
fn a_loan_of_another_publisher_is_refused() {
    let space = Space::new("foreign");
    let one = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let two = HostPublisher::create(space.node(), HostPublisherSettings::new(2)).unwrap();
    assert_eq!(two.send(one.loan(10).unwrap(), header(1)).unwrap_err(), SendError::Foreign);
    assert_eq!(one.pool().lent, 0);
}

#[test]
fn several_threads_publish_while_others_take() {
    const EACH: u64 = 2000;
    let space = Space::new("threads");
    let publisher = HostPublisher::create(space.node(), HostPublisherSettings::new(1)).unwrap();
    let mut connection = space.connection(16, None);
    std::thread::scope(|scope| {
        let publishers: Vec<_> = (0..3u64)
            .map(|thread| {
                let publisher = &publisher;
                scope.spawn(move || {
                    for number in 0..EACH {
                        publish(
                            publisher,
                            50 + (number as usize * 37) % 9000,
                            thread * EACH + number + 1,
                        );
                    }
                })
            })
            .collect();
        let mut last = [0; 3];
        loop {
            let done = publishers.iter().all(std::thread::ScopedJoinHandle::is_finished);
            match connection.take() {
                TakeOutcome::Sample(sample) => {
                    let number = sample.header().publication_number;
                    let thread = ((number - 1) / EACH) as usize;
                    assert!(number > last[thread], "order within a thread");
                    last[thread] = number;
                    check(&sample, sample.bytes().len(), number);
                }
                TakeOutcome::Empty if done => break,
                TakeOutcome::Empty => std::thread::yield_now(),
                other => panic!("{other:?}"),
            }
        }
    });
    let counts = connection.counts();
    assert!(counts.taken + counts.lost <= 3 * EACH && counts.taken > 0, "{counts:?}");
    assert_eq!(publisher.pool().lent, 0);
}

/// The growth of a pool must not wait for the lock of the user's folder, because a stopped process
/// may hold that lock forever.
#[test]
fn a_pool_does_not_wait_for_others_to_grow() {
    let space = Space::new("locked");
    let settings = HostPublisherSettings::new(1);
    let publisher = HostPublisher::create(space.node(), settings).unwrap();
    publisher.loan(100).unwrap();
    let folder = fs::File::open(space.node().folder()).unwrap();
    folder.lock().unwrap();
    assert_eq!(publisher.loan(1 << 20).err(), Some(LoanError::Busy));
    folder.unlock().unwrap();
    assert_eq!(publisher.loan(1 << 20).unwrap().len(), 1 << 20);
}
