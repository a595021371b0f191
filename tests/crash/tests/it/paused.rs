//! A process that is stopped for longer than its lease gets events for all messages that it missed,
//! and receives messages again. Without the change that Feros makes to the engine, the engine would
//! call a lost process only with its next announcement, an hour later.

use serde_json::json;

use crate::support::{Peer, Place, heard, number, signal, start_with_rare_announcements, until};

#[test]
fn losses_of_a_stopped_listener_are_reported_on_every_transport() {
    let place = Place::own_if_possible();
    for (transport, by_network) in [("network", true), ("shared_memory", false)] {
        let mut talker = start_with_rare_announcements(&place, "talker");
        talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
        let mut listener = start_with_rare_announcements(&place, "listener");
        let request = json!({"name": "sub", "topic": "image", "by_network": by_network});
        listener.ask("listen", request);
        talker.until_transport("pub", 1, transport);
        talker.ask("start", json!({"name": "pub", "period_us": 5000, "size": 1000}));
        let heard_by = |listener: &mut Peer, what| heard(&listener.of("report", "sub"), 1, what);
        until("messages come", || (heard_by(&mut listener, "count") > 50).then_some(()));
        signal(&listener, "STOP");
        until("the talker gives the listener up", || {
            (number(&talker.of("counts", "pub"), "/subscriptions") == 0).then_some(())
        });
        let given_up = number(&talker.of("progress", "pub"), "/last");
        until("some messages are for nobody", || {
            (number(&talker.of("progress", "pub"), "/last") > given_up + 100).then_some(())
        });
        signal(&listener, "CONT");
        until("messages come again", || {
            (heard_by(&mut listener, "last") > given_up + 100).then_some(())
        });
        talker.until_transport("pub", 1, transport);
        until("messages come by the transport again", || {
            let last = number(&talker.of("progress", "pub"), "/last");
            (heard_by(&mut listener, "last") + 10 > last).then_some(())
        });
        let last = number(&talker.of("stop", "pub"), "/last");
        let report = until("the last message comes", || {
            let report = listener.of("report", "sub");
            (heard(&report, 1, "last") == last).then_some(report)
        });
        let missing = heard(&report, 1, "missing");
        assert!(missing >= 100, "{transport}: {missing}");
        let told = until("all losses are told", || {
            let told = number(&listener.of("counts", "sub"), "/told_lost");
            (told >= missing).then_some(told)
        });
        // On a busy machine, the listener's queue may have dropped the first messages.
        let before_the_first = heard(&report, 1, "first") - 1;
        assert!(told <= missing + before_the_first, "{transport}: {told} were reported: {report}");
        listener.end();
        talker.end();
    }
}
