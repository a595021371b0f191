//! A publisher that waits for room in a listener's queue goes on when that listener is killed.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Peer, Place, heard, largest_gap_ms, number, until};

/// The number of messages after the death. If each of them waited for the dead listener again (100
/// ms), the engine would have forgotten the listener (after 10 s) before all messages were
/// published.
const AFTERWARDS: u64 = 200;

#[test]
fn publishing_goes_on_when_the_listener_that_it_waits_for_is_killed() {
    let place = Place::own_if_possible();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1, "keep_all": true}));
    let mut survivor = Peer::start(&place, "survivor");
    survivor.ask("listen", json!({"name": "sub", "topic": "image", "keep_all": true}));
    let mut doomed = Peer::start(&place, "doomed");
    // The callback of the first message never returns.
    doomed.ask(
        "listen",
        json!({"name": "sub", "topic": "image", "keep_all": true, "stall_ms": 86_400_000}),
    );
    // All connections are opened before the first message, which the doomed listener gets only once
    // all connections are on the shared-memory transport.
    talker.until_transport("pub", 2, "shared_memory");
    talker.ask("start", json!({"name": "pub", "period_us": 0, "size": 1000}));
    let mut before = 0;
    let mut since = Instant::now();
    let stuck = until("publishing waits for room", || {
        let last = number(&talker.of("progress", "pub"), "/last");
        if last != before {
            (before, since) = (last, Instant::now());
        }
        (last > 100 && since.elapsed() > Duration::from_millis(200)).then_some(last)
    });
    survivor.of("report", "sub");
    let killed = Instant::now();
    doomed.kill();
    until("publishing goes on", || {
        (number(&talker.of("progress", "pub"), "/last") >= stuck + AFTERWARDS).then_some(())
    });
    let needed = killed.elapsed();
    let matches = talker.transports("pub").len();
    let stopped = talker.of("stop", "pub");
    let report = until("all of it arrives", || {
        let report = survivor.of("report", "sub");
        (heard(&report, 1, "last") == number(&stopped, "/last")).then_some(report)
    });
    println!(
        "stuck after {stuck}; {AFTERWARDS} messages after the death in {needed:?} ({matches} matches then), \
         largest gap of the other listener {} ms, {stopped}",
        largest_gap_ms(&report)
    );
    assert_eq!(
        matches, 2,
        "publishing continued only after the engine had forgotten the dead listener: {needed:?}"
    );
    assert_eq!((heard(&report, 1, "missing"), heard(&report, 1, "doubled")), (0, 0), "{report}");
    assert_eq!(heard(&report, 1, "first"), 1, "{report}");
    survivor.end();
    talker.end();
    place.must_be_swept();
}
