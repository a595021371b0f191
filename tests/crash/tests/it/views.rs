//! A listener that holds as many views as allowed does not disturb other listeners, and receives
//! messages again after it has released the views.

use serde_json::json;

use crate::support::{Peer, Place, heard, number, until};

#[test]
fn a_listener_that_holds_all_views_disturbs_nobody() {
    let place = Place::own_if_possible();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    let mut other = Peer::start(&place, "other");
    other.ask("listen", json!({"name": "sub", "topic": "image", "depth": 100}));
    let mut holder = Peer::start(&place, "holder");
    holder.ask("listen", json!({"name": "sub", "topic": "image", "form": "view", "hold": 1000}));
    talker.until_transport("pub", 2, "shared_memory");
    talker.ask("start", json!({"name": "pub", "period_us": 1000, "size": 50_000}));
    until("the holder holds all it may", || {
        let counts = number(&holder.of("counts", "sub"), "/host");
        let far = heard(&other.of("report", "sub"), 1, "last") > 300;
        (counts == 8 && far).then_some(())
    });
    let held = holder.of("check_held", "sub");
    assert_eq!((number(&held, "/held"), number(&held, "/broken")), (8, 0), "{held}");
    let stopped_at = heard(&holder.of("report", "sub"), 1, "last");
    holder.of("release", "sub");
    let before = heard(&other.of("report", "sub"), 1, "last");
    until("the holder hears on", || {
        (heard(&holder.of("report", "sub"), 1, "last") > before + 100).then_some(())
    });
    let stopped = talker.of("stop", "pub");
    for peer in [&mut holder, &mut other] {
        let report = until("the last message comes", || {
            let report = peer.of("report", "sub");
            (heard(&report, 1, "last") == number(&stopped, "/last")).then_some(report)
        });
        assert_eq!(heard(&report, 1, "doubled"), 0);
        // Messages that the queue could not hold are reported as lost; all listeners were started
        // before the first message.
        let missing = heard(&report, 1, "last") - heard(&report, 1, "count");
        let told = number(&peer.of("counts", "sub"), "/lost_on_local_transports");
        assert_eq!(missing, told, "{report}");
        println!("{report}");
    }
    println!("the holder held eight views while {stopped_at} to {before} were published");
    let counts = talker.of("counts", "pub");
    assert_eq!(
        (number(&stopped, "/errors"), number(&counts, "/shared_memory_failures")),
        (0, 0),
        "{counts}"
    );
    holder.end();
    other.end();
    talker.end();
    place.must_be_swept();
}
