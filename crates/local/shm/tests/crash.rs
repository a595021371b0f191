//! Tests that processes can be killed with SIGKILL at random points, that the surviving processes
//! continue, and that nothing is left in shared memory. A process may be killed while it makes
//! memory, lends, sends, connects, takes, holds messages, or lets memory grow. `FEROS_CRASH_ROUNDS`
//! sets the number of rounds (with two kills each), `FEROS_CRASH_MICROS` sets the longest lifetime
//! of a process that is going to be killed, and `FEROS_CRASH_SEED` sets the seed of these
//! lifetimes.
#![allow(clippy::unwrap_used)]

mod space;

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::PayloadBytes;
use feros_shm::{
    Connection, ConnectionSettings, CreateError, HostNode, HostPublisher, HostPublisherSettings,
    LoanError, SampleHeader, TakeOutcome,
};
use space::Space;

const ROLE: &str = "FEROS_CRASH_ROLE";
const SPACE: &str = "FEROS_CRASH_SPACE";
const ID: &str = "FEROS_CRASH_ID";
const SURVIVOR: u64 = 1;
const SETTINGS: ConnectionSettings = ConnectionSettings { depth: 4, type_hash: None };

/// A random number generator with a seed, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// The work of the child processes. In a normal test run, this test does nothing.
#[test]
fn role_of_a_child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let id: u64 = std::env::var(ID).unwrap().parse().unwrap();
    let node = Arc::new(HostNode::new(&std::env::var(SPACE).unwrap()).unwrap());
    let mut random = Random(id * 7919 + 1);
    match role.as_str() {
        "publisher" => publish_forever(&node, id, &mut random),
        "subscriber" => take_forever(&node, &mut random),
        _ => unreachable!(),
    }
}

fn publish_forever(node: &Arc<HostNode>, id: u64, random: &mut Random) {
    loop {
        let publisher = loop {
            match HostPublisher::create(node, HostPublisherSettings::new(id)) {
                // The survivor still has a connection to the publisher of the last iteration.
                Err(CreateError::AlreadyExists { .. }) => std::thread::yield_now(),
                created => break created.unwrap(),
            }
        };
        for number in 1..=200 + random.below(2000) {
            let size_bytes = 8 + random.below(1 << (4 + number % 16)) as usize;
            let mut loan = loop {
                match publisher.loan(size_bytes) {
                    Err(LoanError::Busy) => std::thread::yield_now(), // another process is cleaning up
                    lent => break lent.unwrap(),
                }
            };
            loan.fill(number as u8);
            if random.below(8) != 0 {
                publisher.refresh();
                publisher
                    .send(
                        loan,
                        SampleHeader { publication_number: number, ..SampleHeader::default() },
                    )
                    .unwrap();
            }
        }
    }
}

fn take_forever(node: &Arc<HostNode>, random: &mut Random) {
    loop {
        let Ok(mut connection) = Connection::open(node, SURVIVOR, SETTINGS) else { continue };
        let mut held = Vec::new();
        for _ in 0..200 + random.below(5000) {
            match connection.take() {
                TakeOutcome::Sample(sample) => held.push(sample),
                TakeOutcome::Empty => std::thread::yield_now(),
                TakeOutcome::ViewsExhausted { .. } => held.clear(),
                TakeOutcome::Refused(refused) => panic!("{refused}"),
            }
            if random.below(3) == 0 {
                held.pop();
            }
        }
    }
}

fn child(role: &str, space: &str, id: u64) -> Doomed {
    let child = feros_test_support::this_program()
        .args(["--exact", "role_of_a_child", "--nocapture"])
        .env(ROLE, role)
        .env(SPACE, space)
        .env(ID, id.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    Doomed(child.unwrap())
}

/// A child process, which is killed when this value is dropped.
struct Doomed(Child);

impl Doomed {
    /// Fails if the child has already ended.
    fn check(&mut self) {
        if let Some(status) = self.0.try_wait().unwrap() {
            let mut said = String::new();
            self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("a child ended by itself: {status}\n{said}");
        }
    }

    fn kill(mut self) {
        self.check();
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        // A child that has ended is only waited for.
        let _ = self.0.kill();
        self.0.wait().unwrap();
    }
}

/// The names in `/dev/shm` that belong to the space, and the files in its folder.
fn files(node: &HostNode) -> Vec<String> {
    fn under(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            found.push(entry.path().display().to_string());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                under(&entry.path(), found);
            }
        }
    }
    let mut found = Vec::new();
    for entry in fs::read_dir("/dev/shm").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(node.prefix()) {
            found.push(name);
        }
    }
    under(node.folder(), &mut found);
    found.sort();
    found
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_bytes() -> u64 {
    let pages: u64 =
        fs::read_to_string("/proc/self/statm").unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}

/// Sends one message from the survivor's publisher to the survivor's own connection, and takes it
/// there.
fn exchange(publisher: &HostPublisher, connection: &mut Connection, number: u64) {
    let mut loan = match publisher.loan(1000) {
        Err(LoanError::TooManyLoans { .. }) => panic!("a loan leaked"),
        other => other.unwrap(),
    };
    loan.fill(number as u8);
    publisher.refresh(); // in the meantime, other subscriptions have started and ended
    publisher
        .send(loan, SampleHeader { publication_number: number, ..SampleHeader::default() })
        .unwrap();
    let TakeOutcome::Sample(sample) = connection.take() else {
        panic!("the survivors' own message is missing")
    };
    assert_eq!(sample.header().publication_number, number);
    assert!(sample.bytes().iter().all(|byte| *byte == number as u8));
}

#[test]
fn killed_processes_harm_nobody() {
    let rounds: u64 =
        std::env::var("FEROS_CRASH_ROUNDS").map_or(30, |rounds| rounds.parse().unwrap());
    let window_micros =
        std::env::var("FEROS_CRASH_MICROS").map_or(80_000, |micros| micros.parse().unwrap());
    let space = format!("feros-test-{}-crash", std::process::id());
    let _removed = Space(space.clone());
    let node = Arc::new(HostNode::new(&space).unwrap());
    let publisher = HostPublisher::create(&node, HostPublisherSettings::new(SURVIVOR)).unwrap();
    let mut connection = Connection::open(&node, SURVIVOR, SETTINGS).unwrap();
    let mut random =
        Random(std::env::var("FEROS_CRASH_SEED").map_or(0x5eed, |seed| seed.parse().unwrap()));
    let mut number = 0;
    let mut from_doomed: HashMap<u64, u64> = HashMap::new();
    let (mut swept, mut failed) = (0, 0);
    let mut slowest_clean_up = Duration::ZERO;
    exchange(&publisher, &mut connection, number);
    let before = files(&node);
    let mut baseline = (0, 0);
    for round in 0..rounds {
        let id = 100 + round;
        let mut doomed_publisher = child("publisher", &space, id);
        let doomed_subscriber = child("subscriber", &space, id);
        // In each third round, the time begins with the first message from the doomed publisher. In
        // the other rounds, the processes may be killed while they start.
        let lifetime = Duration::from_micros(random.below(window_micros));
        let mut until = (round % 3 != 0).then(|| Instant::now() + lifetime);
        let mut doomed_connection = None;
        while until.is_none_or(|until| Instant::now() < until) {
            number += 1;
            exchange(&publisher, &mut connection, number);
            doomed_publisher.check();
            match &mut doomed_connection {
                None => doomed_connection = Connection::open(&node, id, SETTINGS).ok(),
                Some(doomed) => {
                    while let TakeOutcome::Sample(sample) = doomed.take() {
                        let expected = sample.header().publication_number as u8;
                        assert!(sample.bytes().iter().all(|byte| *byte == expected));
                        *from_doomed.entry(id).or_default() += 1;
                        until.get_or_insert_with(|| Instant::now() + lifetime);
                    }
                    if !doomed.is_connected() {
                        doomed_connection = None; // the child has made a new publisher
                    }
                }
            }
        }
        doomed_publisher.kill();
        doomed_subscriber.kill();
        let start = Instant::now();
        let clean_up = node.clean_up();
        swept += clean_up.swept;
        failed += clean_up.failed;
        slowest_clean_up = slowest_clean_up.max(start.elapsed());
        publisher.refresh();
        for _ in 0..20 {
            number += 1;
            exchange(&publisher, &mut connection, number);
        }
        // Messages in the queue can still be read after the death of the publisher.
        if let Some(mut doomed) = doomed_connection {
            while let TakeOutcome::Sample(_) = doomed.take() {}
            assert!(
                !doomed.is_connected(),
                "round {round}: still registered after {clean_up:?}, then {:?}, connected {}, files {:#?}",
                node.clean_up(),
                doomed.is_connected(),
                files(&node)
            );
        }
        assert_eq!(
            publisher.subscriber_count(),
            1,
            "round {round}: the killed subscription's slot is free"
        );
        // The id can be used again at once.
        drop(HostPublisher::create(&node, HostPublisherSettings::new(id)).unwrap());
        if round == rounds / 3 {
            baseline = (descriptors(), resident_bytes());
        }
    }
    assert!(from_doomed.len() as u64 >= rounds / 3, "messages came from {from_doomed:?}");
    // Clean up once more: what the survivor shared with a killed process is removed only when
    // neither of them uses it any longer.
    node.clean_up();
    let after = (descriptors(), resident_bytes());
    println!(
        "{} kills, {} publishers heard before, {swept} files swept, {failed} clean-ups failed, slowest clean-up {slowest_clean_up:?}, descriptors and bytes {baseline:?} -> {after:?}, pool {:?}",
        2 * rounds,
        from_doomed.len(),
        publisher.pool()
    );
    assert_eq!(files(&node), before, "files left behind");
    assert_eq!(after.0, baseline.0, "descriptors left open");
    assert!(after.1 < baseline.1 + (4 << 20), "memory grew: {baseline:?} -> {after:?}");
    drop(connection);
    drop(publisher);
    let prefix = node.prefix().to_owned();
    drop(node);
    let left = fs::read_dir("/dev/shm")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> =
        left.filter(|name| name.starts_with(&prefix) || *name == space).collect();
    assert!(left.is_empty(), "the last one left {left:?}");
}
