//! Tests of bridges whose last side has a prefix, as the bridges of a fleet's robots: `/scan` of a
//! robot is `/robot1/scan` on the side of the fleet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use feros_engine::{EndpointKind, NamePrefix, NodeName, QosProfile, Selection, Session};
use feros_engine_bridge::{Bridge, BridgeError, BridgeOptions};
use feros_test_support::{Watchdog, until};

use crate::ends::{Caller, Robot, Running, Server, World, bridge_of, number_in, numbered};

fn below(prefix: &str) -> BridgeOptions {
    let prefixes = BTreeMap::from([(1, NamePrefix::new(prefix).unwrap())]);
    BridgeOptions { prefixes, ..BridgeOptions::default() }
}

/// The bridge of a robot with this prefix, between the robot's side and the fleet's side.
fn bridge_to(robot: Arc<dyn Session>, fleet: Arc<dyn Session>, prefix: &str) -> Running {
    Running::start(bridge_of(&[robot, fleet], below(prefix)))
}

fn calls(caller: &Caller, server: &Server, number: u32) {
    caller.wait_for_server();
    let asked = caller.ask(number);
    let (request, question) = server.next();
    assert_eq!(number_in(&question.payload), number);
    server.respond(&request, number + 1);
    assert_eq!(caller.next(), (asked, number + 1));
}

/// Topics, latched topics and services pass in both directions. Their names have the prefix on one
/// side only, and so has the bridge's node.
#[test]
fn names_have_the_prefix_on_one_side() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [robot, fleet] = [0, 1].map(|side| world.robot(side, "node"));
    let bridge = bridge_to(world.session(0), world.session(1), "/site/robot1");
    let latched = QosProfile::keep_last(1).transient_local();

    let scan = robot.talker("/scan", QosProfile::default());
    let seen = fleet.listener("/site/robot1/scan", QosProfile::default());
    let command = fleet.talker("/site/robot1/arm/command", QosProfile::default());
    let obeyed = robot.listener("/arm/command", QosProfile::default());
    for (talker, listener) in [(&scan, &seen), (&command, &obeyed)] {
        talker.wait_for_matches(1);
        listener.wait_for_matches(1);
        talker.say(&numbered(7));
        assert_eq!(listener.next_number(), 7);
    }
    let map = robot.talker("/map", latched);
    map.say(&numbered(8));
    for _ in 0..2 {
        let late = fleet.listener("/site/robot1/map", latched);
        assert_eq!(late.next_number(), 8);
    }
    let (of_robot, of_fleet) = (robot.server("/enable"), fleet.server("/site/robot1/ask"));
    calls(&fleet.caller("/site/robot1/enable"), &of_robot, 1);
    calls(&robot.caller("/ask"), &of_fleet, 2);

    let names = [0, 1].map(|side| bridge.look(|bridge| bridge.name_on(side, "/a").into_owned()));
    assert_eq!(names, ["/a", "/site/robot1/a"]);
    for (end, namespace, other) in
        [(&robot, "/", "/site/robot1/scan"), (&fleet, "/site/robot1", "/scan")]
    {
        let graph = end.session.graph();
        let node = NodeName::new(namespace, "feros_bridge").unwrap();
        assert!(graph.nodes.iter().any(|found| found.name == node), "{:?}", graph.nodes);
        assert!(graph.endpoints.iter().all(|endpoint| endpoint.name != other), "{other}");
    }
}

/// On the side with the prefix, the bridge neither takes nor brings any other name.
#[test]
fn names_without_the_prefix_are_left_alone() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [robot, fleet] = [0, 1].map(|side| world.robot(side, "node"));
    let bridge = bridge_to(world.session(0), world.session(1), "robot1");
    let wanted = robot.listener("/scan", QosProfile::default());
    let heard = ["/scan", "/robot10/scan", "/robot1"].map(|topic| {
        let talker = fleet.talker(topic, QosProfile::default());
        (talker, fleet.listener(topic, QosProfile::default()))
    });
    let _back = robot.talker("/scan", QosProfile::default());
    let right = fleet.talker("/robot1/scan", QosProfile::default());
    right.wait_for_matches(1);
    wanted.wait_for_matches(2);
    for (talker, listener) in &heard {
        talker.say(&numbered(1));
        assert_eq!(listener.next_number(), 1);
        assert_eq!(talker.0.matched_subscriptions(), 1);
        assert_eq!(listener.0.matched_publishers(), 1);
    }
    right.say(&numbered(2));
    assert_eq!(wanted.next_number(), 2);
    assert!(wanted.has_nothing());
    assert_eq!(bridge.bridged(), [("/scan".to_owned(), 1, 0)]);
}

/// Robots with the same names share the side of the fleet. Each gets the messages for it, and their
/// bridges do not wait for each other.
#[test]
fn robots_with_the_same_names_share_a_fleet() {
    let _watchdog = Watchdog::start();
    let world = World::of(3);
    let fleet = world.robot(2, "operator");
    let robots = [0, 1].map(|side| {
        let robot = world.robot(side, "node");
        let prefix = format!("/robot{side}");
        let bridge = bridge_to(world.session(side), world.session(2), &prefix);
        (robot, prefix, bridge)
    });
    let ends = robots.each_ref().map(|(robot, prefix, _)| Ends::new(robot, &fleet, prefix));
    for (number, end) in (10..).zip(&ends) {
        end.pass(number);
    }
    for end in &ends {
        assert!(end.obeyed.has_nothing() && end.seen.has_nothing());
    }
    for (_, _, bridge) in &robots {
        assert_eq!(bridge.look(Bridge::other_bridges), 0);
    }
}

/// The endpoints of a robot, and those of an operator for this robot.
struct Ends {
    state: crate::ends::Talker,
    seen: crate::ends::Listener,
    command: crate::ends::Talker,
    obeyed: crate::ends::Listener,
    server: Server,
    caller: Caller,
}

impl Ends {
    fn new(robot: &Robot, fleet: &Robot, prefix: &str) -> Self {
        Self {
            state: robot.talker("/state", QosProfile::default()),
            seen: fleet.listener(&format!("{prefix}/state"), QosProfile::default()),
            command: fleet.talker(&format!("{prefix}/command"), QosProfile::default()),
            obeyed: robot.listener("/command", QosProfile::default()),
            server: robot.server("/enable"),
            caller: fleet.caller(&format!("{prefix}/enable")),
        }
    }

    fn pass(&self, number: u32) {
        for (talker, listener) in [(&self.state, &self.seen), (&self.command, &self.obeyed)] {
            talker.wait_for_matches(1);
            listener.wait_for_matches(1);
            talker.say(&numbered(number));
            assert_eq!(listener.next_number(), number);
        }
        calls(&self.caller, &self.server, number);
    }
}

/// Two bridges of one robot recognize each other, and each message arrives once. The second bridge
/// takes over when the first one ends.
#[test]
fn of_two_bridges_of_a_robot_one_carries() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [robot, fleet] = [0, 1].map(|side| world.robot(side, "node"));
    let ends = Ends::new(&robot, &fleet, "/robot1");
    let first = bridge_to(world.session(0), world.session(1), "/robot1");
    ends.pass(1);
    let options = BridgeOptions { settle: Duration::ZERO, ..below("/robot1") };
    let sessions = [0, 1].map(|side| world.session(side));
    let second = bridge_of(&sessions, options);
    until("the names of the first one", || {
        let marked = |side: usize, kind, name: &str| {
            let graph = sessions[side].graph();
            graph.endpoints_of(kind, name).any(|end| end.announcement.is_some())
        };
        let [offer, want] = [EndpointKind::Publisher, EndpointKind::Subscription];
        let [server, client] = [EndpointKind::Service, EndpointKind::Client];
        marked(1, offer, "/robot1/state")
            && marked(0, want, "/state")
            && marked(0, offer, "/command")
            && marked(1, want, "/robot1/command")
            && marked(1, server, "/robot1/enable")
            && marked(0, client, "/enable")
    });
    let second = Running::start(second);
    until("both know each other", || {
        [&first, &second].iter().all(|bridge| bridge.look(Bridge::other_bridges) == 1)
    });
    (2..12).for_each(|number| ends.pass(number));
    assert!(ends.seen.has_nothing() && ends.obeyed.has_nothing());
    assert_eq!(second.bridged(), []);
    drop(first);
    until("the second one's turn", || second.bridged().len() == 3);
    ends.pass(12);
}

/// A process that has both names itself needs no bridge for them, and the options choose names
/// without the prefix.
#[test]
fn processes_on_both_sides_and_choices_are_known_without_the_prefix() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [robot, fleet] = [0, 1].map(|side| world.robot(side, "node"));
    let options = BridgeOptions {
        topics: Selection::of(&["/both".to_owned(), "/arm/*".to_owned()]).unwrap(),
        all_topics: true,
        ..below("/robot1")
    };
    let bridge = Running::start(world.bridge(options));
    let of_process = "4,1-2-3-4,0,1,2,3,phn,5";
    let both = [(&robot, "/both"), (&fleet, "/robot1/both")].map(|(end, topic)| {
        end.talker_that_announces(topic, crate::ends::STRING, QosProfile::default(), of_process)
    });
    let _others = ["/arm/state", "/robot1/arm/state", "/leg/state"]
        .map(|topic| robot.talker(topic, QosProfile::default()));
    until("the graph of the fleet", || {
        fleet.session.graph().count(EndpointKind::Publisher, "/robot1/arm/state") == 1
    });
    assert_eq!(bridge.bridged(), [("/arm/state".to_owned(), 0, 1)]);
    drop(both);
}

#[test]
fn a_prefix_for_no_side_is_refused() {
    let world = World::new();
    let sides = [0, 1].map(|side| (format!("side {side}"), world.session(side)));
    let prefixes = BTreeMap::from([(2, NamePrefix::new("/robot1").unwrap())]);
    let options = BridgeOptions { prefixes, ..BridgeOptions::default() };
    let Err(error) = Bridge::new(sides.into(), options) else { panic!("it was accepted") };
    assert!(matches!(error, BridgeError::NoSide { side: 2, sides: 2 }), "{error}");
    assert!(error.to_string().contains("the last of the 2 sides is 1"), "{error}");
}
