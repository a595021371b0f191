//! A slow listener that keeps all messages takes a bounded number of them from the network: a
//! reliable publisher is slowed down, and lost messages of a best-effort publisher are reported.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Peer, Place, heard, number, resources, until};

/// A limit that exceeds the number of messages that a listener keeps, including messages on their
/// way.
const MOST_MESSAGES: u64 = 3000;
/// The corresponding limit on memory, for messages of 1 MB.
const MOST_MEMORY_KB: u64 = 300 << 10;

fn start(place: &Place, stall_ms: u64, best_effort: bool) -> (Peer, Peer) {
    let mut talker = Peer::start(place, "talker");
    let reliability = |mut request: serde_json::Value| {
        request["best_effort"] = json!(best_effort);
        request
    };
    let publisher = json!({"name": "pub", "topic": "image", "id": 1, "keep_all": true});
    talker.ask("publisher", reliability(publisher));
    let mut listener = Peer::start(place, "listener");
    let subscription = json!({
        "name": "sub", "topic": "image", "keep_all": true, "by_network": true, "stall_ms": stall_ms,
    });
    listener.ask("listen", reliability(subscription));
    talker.until_transport("pub", 1, "network");
    (talker, listener)
}

#[test]
fn a_reliable_publisher_is_slowed() {
    let place = Place::own_if_possible();
    let (mut talker, mut listener) = start(&place, 1, false);
    talker.ask("start", json!({"name": "pub", "period_us": 0, "size": 1000}));
    until("many messages are heard", || {
        let heard = heard(&listener.of("report", "sub"), 1, "last");
        let published = number(&talker.of("progress", "pub"), "/last");
        assert!(published < heard + MOST_MESSAGES, "{published} published, {heard} heard");
        (heard > 2000).then_some(())
    });
    let last = number(&talker.of("stop", "pub"), "/last");
    let report = until("the last message comes", || {
        let report = listener.of("report", "sub");
        (heard(&report, 1, "last") == last).then_some(report)
    });
    assert_eq!((heard(&report, 1, "missing"), heard(&report, 1, "doubled")), (0, 0), "{report}");
    listener.end();
    talker.end();
}

#[test]
fn large_messages_are_bounded_by_their_bytes() {
    let place = Place::own_if_possible();
    let (mut talker, mut listener) = start(&place, 10, false);
    talker.ask("start", json!({"name": "pub", "period_us": 0, "size": 1 << 20}));
    until("many messages are heard", || {
        let memory_kb = resources(&listener, &place).memory_kb;
        assert!(memory_kb < MOST_MEMORY_KB, "the listener has {memory_kb} kB");
        (heard(&listener.of("report", "sub"), 1, "last") > 200).then_some(())
    });
    talker.of("stop", "pub");
    let report = listener.of("report", "sub");
    assert_eq!((heard(&report, 1, "missing"), heard(&report, 1, "doubled")), (0, 0), "{report}");
    talker.end();
}

#[test]
fn losses_of_a_best_effort_publisher_are_reported() {
    let place = Place::own_if_possible();
    let (mut talker, mut listener) = start(&place, 1, true);
    talker.ask("start", json!({"name": "pub", "period_us": 0, "size": 1000}));
    let missing = until("messages are missing", || {
        let missing = heard(&listener.of("report", "sub"), 1, "missing");
        (missing > 1000).then_some(missing)
    });
    until("the losses are told", || {
        (number(&listener.of("counts", "sub"), "/told_lost") >= missing).then_some(())
    });
    talker.of("stop", "pub");
    talker.end();
}

#[test]
fn nothing_else_of_the_process_waits_for_a_full_listener() {
    let place = Place::own_if_possible();
    let (mut talker, mut listener) = start(&place, 86_400_000, false);
    talker.ask("start", json!({"name": "pub", "period_us": 0, "size": 1000}));
    let (mut before, mut since) = (0, Instant::now());
    until("publishing waits for room", || {
        let last = number(&talker.of("progress", "pub"), "/last");
        if last != before {
            (before, since) = (last, Instant::now());
        }
        (last > 1000 && since.elapsed() > Duration::from_millis(200)).then_some(())
    });
    listener.ask("listen", json!({"name": "other", "topic": "other", "by_network": true}));
    let mut newcomer = Peer::start(&place, "newcomer");
    newcomer.ask("publisher", json!({"name": "pub", "topic": "other", "id": 2}));
    listener.until_transport("other", 1, "network");
    newcomer.until_transport("pub", 1, "network");
    newcomer.end();
    talker.kill();
    listener.kill();
}
