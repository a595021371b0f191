//! A listener that is too slow for its queue gets an event for every message that it loses, on both
//! transports.

use serde_json::json;

use crate::support::{Peer, Place, heard, number, until};

#[test]
fn losses_of_a_slow_listener_are_reported_on_every_transport() {
    let place = Place::own_if_possible();
    for transport in ["network", "host"] {
        let mut talker = Peer::start(&place, "talker");
        talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
        let mut slow = Peer::start(&place, "slow");
        let by_network = transport == "network";
        slow.ask(
            "listen",
            json!({"name": "sub", "topic": "image", "stall_ms": 20, "by_network": by_network}),
        );
        talker.until_transport("pub", 1, if by_network { "network" } else { "shared_memory" });
        talker.ask("start", json!({"name": "pub", "period_us": 1000, "size": 2000}));
        until("its queue of ten overflows", || {
            (heard(&slow.of("report", "sub"), 1, "missing") > 50).then_some(())
        });
        let last = number(&talker.of("stop", "pub"), "/last");
        let report = until("the last message comes", || {
            let report = slow.of("report", "sub");
            (heard(&report, 1, "last") == last).then_some(report)
        });
        let missing = heard(&report, 1, "missing");
        let counts = until("all losses are told", || {
            let counts = slow.of("counts", "sub");
            (number(&counts, "/told_lost") >= missing).then_some(counts)
        });
        println!("{transport}: {report}, {counts}");
        // The listener started before the first message, but the queue may have dropped that
        // message too.
        let before_the_first = heard(&report, 1, "first") - 1;
        let told = number(&counts, "/told_lost");
        assert!(told <= missing + before_the_first, "{transport}: {report}, {counts}");
        assert_eq!(
            number(&counts, "/lost_on_local_transports") > 0,
            !by_network,
            "{transport}: {report}, {counts}"
        );
        slow.end();
        talker.end();
    }
    place.must_be_swept();
}
