//! A killed process is started again under the same names at once; nothing stale is in its way.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Peer, Place, number, rounds, until};

#[test]
fn restarted_processes_take_the_host_path_each_time() {
    let place = Place::of_host();
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds(10) {
        let began = Instant::now();
        let mut listener = Peer::start(&place, "listener");
        listener.ask("listen", json!({"name": "sub", "topic": "image"}));
        let mut talker = Peer::start(&place, "talker");
        talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
        talker.ask("start", json!({"name": "pub", "period_us": 500, "size": 100}));
        until("messages come by shared memory", || {
            (number(&listener.of("counts", "sub"), "/host") >= 10).then_some(())
        });
        slowest = slowest.max(began.elapsed());
        talker.kill();
        listener.kill();
    }
    println!("slowest from the start of the processes to the host path: {slowest:?}");
    place.must_be_swept();
}

#[test]
fn a_restarted_listener_of_a_running_talker_takes_the_host_path_each_time() {
    let place = Place::of_host();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    talker.ask("start", json!({"name": "pub", "period_us": 500, "size": 100}));
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds(10) {
        let began = Instant::now();
        let mut listener = Peer::start(&place, "listener");
        listener.ask("listen", json!({"name": "sub", "topic": "image"}));
        until("messages come by shared memory", || {
            (number(&listener.of("counts", "sub"), "/host") >= 10).then_some(())
        });
        slowest = slowest.max(began.elapsed());
        listener.kill();
    }
    println!("slowest from the start of the listener to the host path: {slowest:?}");
    talker.end();
    place.must_be_swept();
}
