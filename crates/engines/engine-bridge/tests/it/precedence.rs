//! Tests that each message arrives once if there are several bridges between the same domains.

use std::time::Duration;

use feros_engine::{EndpointKind, QosProfile};
use feros_engine_bridge::{Bridge, BridgeOptions};
use feros_test_support::{Watchdog, until};

use crate::ends::{Running, World, bridge_of, numbered};

/// The second bridge sees the names that the first bridge bridges, and does not bridge them. It
/// takes over when the first bridge ends.
#[test]
fn of_two_bridges_one_carries() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let talker = near.talker("/once", QosProfile::default());
    let back = far.talker("/back", QosProfile::default());
    let listener = far.listener("/once", QosProfile::keep_last(100));
    let heard_back = near.listener("/back", QosProfile::keep_last(100));
    let server = near.server("/asked");
    let caller = far.caller("/asked");
    let first = world.running();
    listener.wait_for_matches(1);
    heard_back.wait_for_matches(1);
    caller.wait_for_server();
    let sessions = [0, 1].map(|side| world.session(side));
    let options = BridgeOptions { settle: Duration::ZERO, ..BridgeOptions::default() };
    let second = bridge_of(&sessions, options);
    until("the names of the first one", || {
        let bridged = |side: usize, kind, name| {
            let graph = sessions[side].graph();
            graph.endpoints_of(kind, name).any(|end| end.announcement.is_some())
        };
        let [topic, want] = [EndpointKind::Publisher, EndpointKind::Subscription];
        let [server, client] = [EndpointKind::Service, EndpointKind::Client];
        bridged(1, topic, "/once")
            && bridged(0, want, "/once")
            && bridged(0, topic, "/back")
            && bridged(1, want, "/back")
            && bridged(1, server, "/asked")
            && bridged(0, client, "/asked")
    });
    let second = Running::start(second);
    until("both know each other", || {
        [&first, &second].iter().all(|bridge| bridge.look(Bridge::other_bridges) == 1)
    });
    for number in 0..20 {
        talker.say(&numbered(number));
        back.say(&numbered(number));
        assert_eq!([listener.next_number(), heard_back.next_number()], [number; 2]);
    }
    let asked = caller.ask(1);
    let (request, _) = server.next();
    server.respond(&request, 2);
    assert_eq!(caller.next(), (asked, 2));
    assert!(server.0.take_request().unwrap().is_none());
    assert!(listener.has_nothing() && heard_back.has_nothing());
    assert_eq!(second.bridged(), []);
    assert_eq!(first.finish().messages, 20);
    until("the second one's turn", || second.bridged().len() == 3);
    listener.wait_for_matches(1);
    talker.wait_for_matches(1);
    talker.say(&numbered(77));
    assert_eq!(listener.next_number(), 77);
}

/// Two bridges start to bridge a name at the same moment, without waiting to discover each other
/// first. One of them withdraws.
#[test]
fn of_two_bridges_that_begin_at_once_one_steps_back() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let talker = near.talker("/once", QosProfile::default());
    let listener = far.listener("/once", QosProfile::keep_last(100));
    let options = BridgeOptions { settle: Duration::ZERO, ..BridgeOptions::default() };
    let bridges = [(); 2].map(|()| world.bridge(options.clone()));
    let bridges = bridges.map(Running::start);
    let carrying = || bridges.iter().filter(|bridge| !bridge.bridged().is_empty()).count();
    until("one that bridges", || {
        let both_know = bridges.iter().all(|bridge| bridge.look(Bridge::other_bridges) == 1);
        both_know && carrying() == 1 && listener.0.matched_publishers() == 1
    });
    talker.wait_for_matches(1);
    for number in 0..20 {
        talker.say(&numbered(number));
        assert_eq!(listener.next_number(), number);
    }
    assert!(listener.has_nothing() && carrying() == 1);
}
