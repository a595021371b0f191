//! Measures how soon matches return after a router or a peer has been killed and replaced. The time
//! is measured from the start of the new process. The results are in
//! `docs/measurements/0020-engines.md`. The file `hosts.rs` measures partitions of the network.
//!
//! ```console
//! cargo test --manifest-path crates/engines/zenoh/Cargo.toml --test matches_back -- --ignored --nocapture
//! ```
#![allow(clippy::unwrap_used)]

mod ends;
mod measured;
mod network;

use std::io::Read as _;
use std::process::Command;
use std::time::Instant;

use feros_conformance::TestNode;
use feros_engine::QosProfile;
use feros_test_support::TestProcess;

use ends::{STRING, wire_node};
use measured::{RETRY_OF_RMW_ZENOH, pause, rounds};
use network::{Network, session};

const TOPIC: &str = "/wire/back";
/// The variable that makes a process a peer. Its value is the address of the peer's router.
const PEER_VARIABLE: &str = "FEROS_TEST_ZENOH_PEER";

fn end(network: &Network, mode: &str, setting: &str, name: &str) -> TestNode {
    wire_node(network.open(mode, setting).unwrap(), name)
}

#[test]
#[ignore = "a measurement that takes minutes"]
fn how_soon_matches_come_back() {
    for (name, setting) in [("retry of rmw_zenoh", RETRY_OF_RMW_ZENOH), ("retry of Feros", "")] {
        clients(name, setting);
        sites(name, setting);
        peers(name, setting);
    }
    clients("retry of Feros, scouting/delay=0", "scouting/delay=0");
    peer_process();
}

/// Measures two sessions that are connected only through the router.
fn clients(name: &str, setting: &str) {
    let mut network = Network::configured("tcp", setting);
    let near = end(&network, "client", setting, "near");
    let far = end(&network, "client", setting, "far");
    let publisher = near.publisher_of(TOPIC, STRING, QosProfile::default());
    let subscription = far.subscription_of(TOPIC, STRING, QosProfile::default());
    publisher.wait_for_matches(1);
    rounds(&format!("router restarted, two clients; {name}"), |round| {
        network.kill();
        publisher.wait_for_matches(0);
        subscription.wait_for_matches(0);
        std::thread::sleep(pause(round));
        let back = Instant::now();
        network.restart();
        publisher.wait_for_matches(1);
        subscription.wait_for_matches(1);
        back.elapsed()
    });
}

/// Measures two clients, each of which is connected to its own router. One router connects to the
/// other, and that other router is killed.
fn sites(name: &str, setting: &str) {
    let mut here = Network::configured("tcp", setting);
    let joined = format!("connect/endpoints=[\"{}\"];{setting}", here.endpoint);
    let there = Network::configured("tcp", &joined);
    let near = end(&here, "client", setting, "near");
    let far = end(&there, "client", setting, "far");
    let publisher = near.publisher_of(TOPIC, STRING, QosProfile::default());
    let subscription = far.subscription_of(TOPIC, STRING, QosProfile::default());
    publisher.wait_for_matches(1);
    rounds(&format!("router restarted, another router and a client; {name}"), |round| {
        here.kill();
        publisher.wait_for_matches(0);
        subscription.wait_for_matches(0);
        std::thread::sleep(pause(round));
        let back = Instant::now();
        here.restart();
        publisher.wait_for_matches(1);
        subscription.wait_for_matches(1);
        back.elapsed()
    });
}

/// Measures when a restarted router connects a new peer to an existing one. The peer is new,
/// because peers that know each other would stay matched without the router.
fn peers(name: &str, setting: &str) {
    let mut network = Network::configured("tcp", setting);
    let near = end(&network, "peer", setting, "near");
    let publisher = near.publisher_of(TOPIC, STRING, QosProfile::default());
    rounds(&format!("router restarted, a peer finds a new one; {name}"), |round| {
        network.kill();
        std::thread::sleep(pause(round));
        let back = Instant::now();
        network.restart();
        let later = end(&network, "peer", setting, "later");
        let subscription = later.subscription_of(TOPIC, STRING, QosProfile::default());
        publisher.wait_for_matches(1);
        subscription.wait_for_matches(1);
        let took = back.elapsed();
        drop((subscription, later));
        publisher.wait_for_matches(0);
        took
    });
}

/// Measures a peer whose process is killed and replaced, with the default settings.
fn peer_process() {
    let network = Network::new();
    let near = wire_node(network.peer(), "near");
    let publisher = near.publisher_of(TOPIC, STRING, QosProfile::default());
    let mut peer = start_peer(&network);
    rounds("peer's process killed and started", |_| {
        publisher.wait_for_matches(1);
        peer.kill();
        publisher.wait_for_matches(0);
        let back = Instant::now();
        peer = start_peer(&network);
        publisher.wait_for_matches(1);
        back.elapsed()
    });
}

fn start_peer(network: &Network) -> TestProcess {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(PEER_VARIABLE, &network.endpoint);
    TestProcess::start(command, "peer_process_role")
}

/// A peer that subscribes until its parent process ends. In a normal test run, this test does
/// nothing.
#[test]
fn peer_process_role() {
    let Ok(endpoint) = std::env::var(PEER_VARIABLE) else { return };
    let end = wire_node(session(&endpoint, "peer"), "process");
    let _subscription = end.subscription_of(TOPIC, STRING, QosProfile::default());
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
