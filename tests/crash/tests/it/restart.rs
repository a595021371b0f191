//! A killed process is started again under the same names at once; nothing stale is in its way.

use std::time::{Duration, Instant};

use serde_json::json;

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
        until("messages come by shared memory", || {
            (number(&listener.of("counts", "sub"), "/host") >= 10).then_some(())
        });
        slowest = slowest.max(began.elapsed());
        talker.kill();
        listener.kill();
    }
    println!("slowest from the start of the processes to the shared-memory transport: {slowest:?}");
    place.must_be_swept();
}

/// Starts the listener of a running talker, waits until it has heard a few messages, and kills it,
/// again and again. Returns the longest time to the first messages, and how many listeners heard
/// them by shared memory before all their predecessors were forgotten by the engine.
fn restart_listeners(talker: &mut Peer, place: &Place, transport: Option<&str>) -> (Duration, u32) {
    let (mut slowest, mut soon) = (Duration::ZERO, 0);
    for round in 0..rounds(10) {
        let began = Instant::now();
        let mut listener = Peer::start(place, "listener");
        listener.ask("listen", json!({"name": "sub", "topic": "image"}));
        until("the listener hears", || {
            let counts = listener.of("counts", "sub");
            let all = ["/host", "/network"].map(|pointer| number(&counts, pointer)).iter().sum();
            let few = transport.map_or(all, |transport| number(&counts, transport));
            (few >= 10).then_some(())
        });
        slowest = slowest.max(began.elapsed());
        soon += u32::from(round > 0 && talker.transports("pub").len() > 1);
        listener.kill();
    }
    (slowest, soon)
}

#[test]
fn a_restarted_listener_hears_a_running_talker_each_time() {
    let place = Place::of_host();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    talker.ask("start", json!({"name": "pub", "period_us": 500, "size": 100}));
    let (slowest, _) = restart_listeners(&mut talker, &place, None);
    println!("slowest from the start of the listener to its first messages: {slowest:?}");
    talker.end();
    place.must_be_swept();
}

/// The publisher serves a subscription by shared memory when that one has acknowledged the engine's
/// messages; the killed ones, which the engine has not forgotten yet, are not waited for.
#[test]
fn a_restarted_listener_takes_the_shared_memory_transport_before_its_predecessor_is_forgotten() {
    let place = Place::of_host();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    talker.ask("start", json!({"name": "pub", "period_us": 500, "size": 100}));
    let (slowest, soon) = restart_listeners(&mut talker, &place, Some("/host"));
    talker.end();
    place.must_be_swept();
    // A round on a busy machine may take as long as the engine remembers the dead; most do not.
    assert!(
        2 * soon > rounds(10),
        "{soon}, slowest from the start of the listener to the shared-memory transport: {slowest:?}"
    );
}
