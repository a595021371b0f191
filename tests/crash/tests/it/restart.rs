//! A killed process is started again immediately, with the same names; leftovers of the killed
//! process do not hinder the new process.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Peer, Place, number, rounds, until};

#[test]
fn restarted_processes_take_the_shared_memory_transport_each_time() {
    let place = Place::of_host();
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds(10) {
        let began = Instant::now();
        let mut listener = Peer::start(&place, "listener");
        listener.ask("listen", json!({"name": "sub", "topic": "image"}));
        let mut talker = Peer::start(&place, "talker");
        talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
        talker.ask("start", json!({"name": "pub", "period_us": 500, "size": 100}));
        until("messages come through shared memory", || {
            (number(&listener.of("counts", "sub"), "/host") >= 10).then_some(())
        });
        slowest = slowest.max(began.elapsed());
        talker.kill();
        listener.kill();
    }
    println!("slowest from the start of the processes to the shared-memory transport: {slowest:?}");
    place.must_be_swept();
}

#[test]
fn a_restarted_listener_hears_a_running_talker_each_time() {
    let place = Place::of_host();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    talker.ask("start", json!({"name": "pub", "period_us": 500, "size": 100}));
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds(10) {
        let began = Instant::now();
        let mut listener = Peer::start(&place, "listener");
        listener.ask("listen", json!({"name": "sub", "topic": "image"}));
        until("the listener hears", || {
            let counts = listener.of("counts", "sub");
            let all: u64 =
                ["/host", "/network"].map(|pointer| number(&counts, pointer)).iter().sum();
            (all >= 10).then_some(())
        });
        slowest = slowest.max(began.elapsed());
        listener.kill();
    }
    println!("slowest from the start of the listener to its first messages: {slowest:?}");
    talker.end();
    place.must_be_swept();
}

/// Starts a talker that keeps all transports busy, or its listener. The talker sends many large
/// messages, so the engine soon waits for readers that do not acknowledge.
fn start(place: &Place, name: &str) -> Peer {
    let mut peer = Peer::start(place, name);
    if name == "talker" {
        let publisher = json!({"name": "pub", "topic": "image", "id": 1, "keep_all": true});
        peer.ask("publisher", publisher);
        peer.ask("start", json!({"name": "pub", "period_us": 500, "size": 100_000}));
    } else {
        peer.ask("listen", json!({"name": "sub", "topic": "image", "keep_all": true}));
    }
    peer
}

/// The endpoints that the process's endpoint `name` matches.
fn matches(peer: &mut Peer, name: &str) -> BTreeSet<String> {
    let found = peer.of("transports", name);
    let gid = |found: &Value| found["gid"].as_str().unwrap().to_owned();
    found.as_array().unwrap().iter().map(gid).collect()
}

/// Kills a process early and starts it again immediately. The new process must share memory while
/// the engine of the witness still knows the killed process; the witness notices the death only
/// when the lease ends, since they find each other by the network.
fn restart(killed: (&str, &str), survivor: &str, witness: (&str, &str)) {
    let place = Place::of_host().without_neighbours();
    let mut observer = Peer::start(&place, "witness");
    let of_topic = json!({"topic": "image", "name": witness.1, "id": 2, "by_network": true});
    observer.ask(witness.0, of_topic);
    let other = start(&place, survivor);
    let (mut late, mut slowest) = (0, Duration::ZERO);
    let restarts = rounds(10);
    for _ in 0..restarts {
        let before = matches(&mut observer, witness.1);
        let doomed = start(&place, killed.0);
        let predecessor = until("the witness knows it", || {
            matches(&mut observer, witness.1).difference(&before).next().cloned()
        });
        doomed.kill();
        let began = Instant::now();
        let mut successor = start(&place, killed.0);
        until("the successor shares memory", || {
            (number(&successor.of("counts", killed.1), "/host") >= 10).then_some(())
        });
        slowest = slowest.max(began.elapsed());
        late += u32::from(!matches(&mut observer, witness.1).contains(&predecessor));
        successor.kill();
    }
    println!("{}: {late} of {restarts} late, slowest {slowest:?}", killed.0);
    assert_eq!(late, 0, "the lease of the predecessor had ended, after at most {slowest:?}");
    [other, observer].into_iter().for_each(Peer::end);
    place.must_be_swept();
}

#[test]
fn a_restarted_talker_shares_memory_before_the_lease_of_its_predecessor_ends() {
    restart(("talker", "pub"), "listener", ("listen", "sub"));
}

#[test]
fn a_restarted_listener_shares_memory_before_the_lease_of_its_predecessor_ends() {
    restart(("listener", "sub"), "talker", ("publisher", "pub"));
}
