//! The talker and the listener are repeatedly stopped and continued, for moments or for longer than
//! their lease: no process dies, and every message arrives or is reported as lost.
//!
//! `FEROS_CRASH_SECONDS` is the duration of the test.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    Peer, Place, Random, count_of, heard, number, resources, rounds, signal,
    start_with_short_lease, until,
};

const LEEWAY_KB: u64 = 32 * 1024;

#[test]
fn stopped_processes_miss_nothing_untold() {
    let duration = Duration::from_secs(count_of("FEROS_CRASH_SECONDS", 6).into());
    let place = Place::own_if_possible();
    let mut random = Random::new();
    let (mut talker, mut listener) =
        (start_with_short_lease(&place, "talker"), start_with_short_lease(&place, "listener"));
    let transports = [("network", true), ("shared_memory", false)];
    for (name, by_network) in transports {
        talker.ask("publisher", json!({"name": name, "topic": name, "id": 1}));
        listener.ask("listen", json!({"name": name, "topic": name, "by_network": by_network}));
    }
    for (name, _) in transports {
        talker.until_transport(name, 1, name);
        talker.ask("start", json!({"name": name, "period_us": 5000, "size": 2000}));
        until("messages come", || {
            (heard(&listener.of("report", name), 1, "count") > 20).then_some(())
        });
    }
    let before = (resources(&talker, &place), resources(&listener, &place));
    let (began, mut stops) = (Instant::now(), 0);
    while began.elapsed() < duration {
        let stopped = if random.below(2) == 0 { &talker } else { &listener };
        signal(stopped, "STOP");
        let is_long = random.below(8) == 0;
        let millis = if is_long { 1200 + random.below(1500) } else { random.below(200) };
        std::thread::sleep(Duration::from_millis(millis));
        signal(stopped, "CONT");
        std::thread::sleep(Duration::from_millis(random.below(300)));
        stops += 1;
    }
    talker.must_run();
    listener.must_run();
    for (name, _) in transports {
        talker.until_transport(name, 1, name);
        let stopped_at = number(&talker.of("progress", name), "/last");
        until("messages come again", || {
            (heard(&listener.of("report", name), 1, "last") > stopped_at).then_some(())
        });
        let stopped = talker.of("stop", name);
        assert_eq!(number(&stopped, "/errors"), 0, "{stopped}");
        let report = until("the last message comes", || {
            let report = listener.of("report", name);
            (heard(&report, 1, "last") == number(&stopped, "/last")).then_some(report)
        });
        assert_eq!((heard(&report, 1, "doubled"), number(&report, "/broken")), (0, 0), "{report}");
        let missing = heard(&report, 1, "missing");
        until("all losses are told", || {
            (number(&listener.of("counts", name), "/told_lost") >= missing).then_some(())
        });
        let counts = listener.of("counts", name);
        println!("{name}: {stops} stops in {duration:?}, {stopped}: {missing} missing, {counts}");
        let before_the_first = heard(&report, 1, "first") - 1;
        let told = number(&counts, "/told_lost");
        assert!(told <= missing + before_the_first, "{told} reported, {missing} missing: {report}");
    }
    let after = (resources(&talker, &place), resources(&listener, &place));
    println!("talker {:?} -> {:?}\nlistener {:?} -> {:?}", before.0, after.0, before.1, after.1);
    for (before, after) in [(before.0, after.0), (before.1, after.1)] {
        assert!(after.memory_kb < before.memory_kb + LEEWAY_KB, "{before:?} -> {after:?}");
        assert!(after.descriptors <= before.descriptors + 4, "{before:?} -> {after:?}");
    }
    listener.end();
    talker.end();
    place.must_be_swept();
}

/// The listener gives the stopped talker up. The talker does not learn this from the engine,
/// because only the talker announces a short lease.
#[test]
fn a_publisher_that_was_given_up_is_found_again() {
    let place = Place::own_if_possible();
    let (mut talker, mut listener) =
        (start_with_short_lease(&place, "talker"), Peer::start(&place, "listener"));
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    listener.ask("listen", json!({"name": "sub", "topic": "image", "by_network": false}));
    talker.until_transport("pub", 1, "shared_memory");
    talker.ask("start", json!({"name": "pub", "period_us": 5000, "size": 1000}));
    let by_shared_memory = |listener: &mut Peer| number(&listener.of("counts", "sub"), "/host");
    until("messages come", || (by_shared_memory(&mut listener) > 20).then_some(()));
    for _ in 0..rounds(2) {
        signal(&talker, "STOP");
        until("the listener gives the talker up", || {
            listener.transports("sub").is_empty().then_some(())
        });
        let before = by_shared_memory(&mut listener);
        signal(&talker, "CONT");
        until("messages come through shared memory again", || {
            (by_shared_memory(&mut listener) > before + 20).then_some(())
        });
        talker.until_transport("pub", 1, "shared_memory");
    }
    listener.end();
    talker.end();
    place.must_be_swept();
}

/// The same for a server that its client has given up, and for a client that its server has given
/// up.
#[test]
fn a_server_and_a_client_that_were_given_up_are_found_again() {
    let place = Place::own_if_possible();
    for is_server_stopped in [true, false] {
        let start = |name, is_stopped| {
            if is_stopped {
                start_with_short_lease(&place, name)
            } else {
                Peer::start(&place, name)
            }
        };
        let mut server = start("server", is_server_stopped);
        let mut caller = start("caller", !is_server_stopped);
        server.ask("server", json!({"name": "srv", "service": "count", "keeps": false}));
        caller.ask("caller", json!({"name": "cli", "service": "count"}));
        call_through_shared_memory(&mut caller);
        for _ in 0..rounds(2) {
            let (stopped, other, name) = if is_server_stopped {
                (&server, &mut caller, "cli")
            } else {
                (&caller, &mut server, "srv")
            };
            signal(stopped, "STOP");
            until("the other side gives it up", || other.transports(name).is_empty().then_some(()));
            signal(stopped, "CONT");
            call_through_shared_memory(&mut caller);
        }
        caller.end();
        server.end();
    }
    place.must_be_swept();
}

/// Waits until calls go through shared memory, then makes five.
fn call_through_shared_memory(caller: &mut Peer) {
    until("the server is there", || (caller.of("ready", "cli")["ready"] == true).then_some(()));
    caller.until_transport("cli", 1, "shared_memory");
    let before = number(&caller.of("counts", "cli"), "/host");
    let request = json!({"name": "cli", "times": 5, "timeout_ms": 20_000});
    assert_eq!(number(&caller.ask("call_times", request), "/answered"), 5);
    assert_eq!(number(&caller.of("counts", "cli"), "/host"), before + 5);
}
