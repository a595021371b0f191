//! Tests of topics: bytes, stamps, policies, and delivery to late subscriptions.

use feros_engine::{
    BridgeMark, Durability, EndpointKind, QosProfile, Reliability, Selection, Stamp, TypeHash, twin,
};
use feros_engine_bridge::BridgeOptions;
use feros_test_support::{Watchdog, until};

use crate::ends::{HASH, Running, STRING, World, bridge_of, number_in, numbered};

#[test]
fn messages_go_both_ways_as_they_are() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    for (from, to) in [(&near, &far), (&far, &near)] {
        let talker = from.talker("/chatter", QosProfile::default());
        let listener = to.listener("/chatter", QosProfile::default());
        talker.wait_for_matches(1);
        listener.wait_for_matches(1);
        let text: Vec<u8> = [0, 1, 0, 0].into_iter().chain((0..200_000).map(|n| n as u8)).collect();
        talker.say_at(Stamp(1_700_000_000_123_456_789), &text);
        let sample = listener.next();
        assert!(sample.payload[..text.len()] == text[..], "the bytes are the same");
        assert_eq!(sample.info.stamp(), Some(Stamp(1_700_000_000_123_456_789)));
    }
    until("the counts", || [(0, 1), (1, 0)].map(|(a, b)| bridge.counts(a, b).messages) == [1, 1]);
}

/// The other side sees the type and the policies of the original publisher.
#[test]
fn type_hash_and_policies_are_those_of_the_publisher() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let _bridge = world.running();
    let offered = QosProfile::keep_last(7)
        .best_effort()
        .lifespan(std::time::Duration::from_secs(9))
        .deadline(std::time::Duration::from_secs(3));
    let _talker = near.talker("/scan", offered);
    let listener = far.listener("/scan", QosProfile::sensor_data());
    listener.wait_for_matches(1);
    let graph = far.session.graph();
    let found = graph.endpoints_of(EndpointKind::Publisher, "/scan").next().unwrap();
    assert_eq!((&*found.type_name, found.type_hash), (STRING, Some(HASH)));
    let qos = found.qos;
    assert_eq!((qos.reliability, qos.depth), (Reliability::BestEffort, 7));
    assert_eq!((qos.lifespan, qos.deadline), (offered.lifespan, offered.deadline));
}

/// A late subscription gets each latched message of several publishers once, as on `/tf_static`. It
/// gets no messages of publishers that have left.
#[test]
fn latched_messages_reach_late_subscriptions() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let latched = QosProfile::keep_last(1).transient_local();
    let talkers = [1, 2, 3].map(|number| {
        let talker = near.talker("/tf_static", latched);
        talker.say(&numbered(100 + number));
        talker.say(&numbered(number));
        talker
    });
    let wanted = QosProfile::keep_last(100).transient_local();
    let take_three = |late: &crate::ends::Listener| {
        let mut numbers = [(); 3].map(|()| late.next_number());
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3]);
    };
    let late = far.listener("/tf_static", wanted);
    take_three(&late);
    let later = far.listener("/tf_static", wanted);
    take_three(&later);
    talkers[0].say(&numbered(4));
    assert_eq!([late.next_number(), later.next_number()], [4, 4]);
    let [first, rest @ ..] = talkers;
    drop(first);
    later.wait_for_matches(2);
    let last = far.listener("/tf_static", wanted);
    let mut numbers = [(); 2].map(|()| last.next_number());
    numbers.sort_unstable();
    assert_eq!(numbers, [2, 3], "messages of departed publishers are not kept");
    rest[0].say(&numbered(5));
    assert_eq!([late.next_number(), later.next_number(), last.next_number()], [5; 3]);
    assert_eq!(bridge.counts(0, 1).lost, 0);
}

/// A best-effort publisher does not degrade a reliable publisher of the same topic. A reliable
/// subscription gets the reliable messages, and no message arrives twice.
#[test]
fn publishers_of_other_policies_are_bridged_beside_each_other() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let _bridge = world.running();
    let reliable = near.talker("/mixed", QosProfile::default());
    let best_effort = near.talker("/mixed", QosProfile::sensor_data());
    let strict = far.listener("/mixed", QosProfile::default());
    let lenient = far.listener("/mixed", QosProfile::keep_last(100).best_effort());
    strict.wait_for_matches(1);
    lenient.wait_for_matches(2);
    // The reliable publisher matches two subscriptions of the bridge.
    reliable.wait_for_matches(2);
    best_effort.wait_for_matches(1);
    for number in 0..10 {
        reliable.say(&numbered(number));
        assert_eq!([strict.next_number(), lenient.next_number()], [number; 2]);
        best_effort.say(&numbered(1000 + number));
        assert_eq!(lenient.next_number(), 1000 + number);
    }
    assert!(strict.has_nothing() && lenient.has_nothing());
}

#[test]
fn a_burst_arrives_whole_and_in_order() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let talker = near.talker("/burst", QosProfile::keep_all());
    let listener = far.listener("/burst", QosProfile::keep_all());
    talker.wait_for_matches(1);
    listener.wait_for_matches(1);
    std::thread::scope(|scope| {
        scope.spawn(|| (0..3000).for_each(|number| talker.say(&numbered(number))));
        (0..3000).for_each(|number| assert_eq!(listener.next_number(), number));
    });
    drop(talker);
    let counts = bridge.finish();
    assert_eq!((counts.messages, counts.lost, counts.failed), (3000, 0, 0));
}

/// The last messages of a publisher arrive, even though the publisher leaves.
#[test]
fn messages_of_a_leaving_publisher_arrive() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let _bridge = world.running();
    let listener = far.listener("/words", QosProfile::keep_last(100));
    for round in 0..5 {
        let talker = near.talker("/words", QosProfile::default());
        talker.wait_for_matches(1);
        listener.wait_for_matches(1);
        (0..5).for_each(|number| talker.say(&numbered(round * 10 + number)));
        until("acknowledgement", || talker.0.wait_for_all_acked(Default::default()).is_ok());
        drop(talker);
        (0..5).for_each(|number| assert_eq!(listener.next_number(), round * 10 + number));
        listener.wait_for_matches(0);
    }
}

#[test]
fn nothing_is_there_for_nobody() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let talker = near.talker("/wanted", QosProfile::default());
    let unwanted = near.talker("/unwanted", QosProfile::default());
    let listener = far.listener("/wanted", QosProfile::default());
    listener.wait_for_matches(1);
    talker.wait_for_matches(1);
    assert_eq!(bridge.bridged(), [("/wanted".to_owned(), 0, 1)]);
    assert_eq!(unwanted.0.matched_subscriptions(), 0);
    assert_eq!(far.session.graph().count(EndpointKind::Publisher, "/unwanted"), 0);
    drop(listener);
    talker.wait_for_matches(0);
    until("an empty bridge", || bridge.bridged().is_empty());
}

#[test]
fn names_can_be_chosen_and_all_can_be_shown() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let options = BridgeOptions {
        topics: Selection::of(&["/arm/*".to_owned()]).unwrap(),
        all_topics: true,
        ..BridgeOptions::default()
    };
    let bridge = Running::start(world.bridge(options));
    let _talkers = ["/arm/state", "/leg/state"].map(|topic| near.talker(topic, 1.into()));
    let _listener = far.listener("/leg/state", 1.into());
    until("the one that was chosen", || !bridge.bridged().is_empty());
    assert_eq!(bridge.bridged(), [("/arm/state".to_owned(), 0, 1)]);
    until("its publisher", || {
        far.session.graph().count(EndpointKind::Publisher, "/arm/state") == 1
    });
}

/// A name that has different types on the two sides is not bridged. Other topics are bridged.
#[test]
fn other_types_of_one_name_are_left_apart() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let _other_type = near.talker_of("/type", "std_msgs/msg/Bool", 1.into());
    let _wants = far.listener("/type", 1.into());
    let _talker = near.talker("/definition", 1.into());
    let _other = far.listener_of("/definition", TypeHash([7; 32]), 1.into());
    let talker = near.talker("/right", 1.into());
    let listener = far.listener("/right", 1.into());
    listener.wait_for_matches(1);
    talker.wait_for_matches(1);
    assert_eq!(bridge.bridged(), [("/right".to_owned(), 0, 1)]);
}

/// If a topic has publishers and subscriptions on both sides, no message returns to the side from
/// which it was sent.
#[test]
fn a_topic_goes_both_ways_without_an_echo() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let latched = QosProfile::keep_last(10).transient_local();
    let talkers = [&near, &far].map(|robot| robot.talker("/both", latched));
    let listeners = [&near, &far].map(|robot| robot.listener("/both", latched));
    talkers.iter().for_each(|talker| talker.wait_for_matches(2));
    listeners.iter().for_each(|listener| listener.wait_for_matches(2));
    for number in 0..20 {
        talkers[number as usize % 2].say(&numbered(number));
        let heard = [0, 1].map(|side| number_in(&listeners[side].next().payload));
        assert_eq!(heard, [number; 2]);
    }
    assert!(listeners.iter().all(|listener| listener.has_nothing()));
    until("the counts", || [(0, 1), (1, 0)].map(|(a, b)| bridge.counts(a, b).messages) == [10; 2]);
    let graph = far.session.graph();
    let durability = graph.endpoints_of(EndpointKind::Publisher, "/both").map(|e| e.qos.durability);
    assert!(durability.eq([Durability::TransientLocal; 2]));
}

/// One process publishes on both sides itself, and another process publishes on only one side.
#[test]
fn a_process_on_both_sides_is_not_bridged() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let sessions = [0, 1].map(|side| world.session(side));
    let bridge = bridge_of(&sessions, BridgeOptions::default());
    let listener = far.listener("/both", QosProfile::keep_last(100));
    let process = "4,1-2-3-4,3e8,2a,7,";
    let [here, there] = [(&near, "9,n,!x"), (&far, "a,n,!x")].map(|(robot, rest)| {
        robot.talker_that_announces("/both", STRING, 10.into(), &format!("{process}{rest}"))
    });
    until("both ends of the process", || {
        sessions.iter().all(|session| session.graph().count(EndpointKind::Publisher, "/both") == 1)
    });
    let bridge = Running::start(bridge);
    let other = near.talker_that_announces("/both", STRING, 10.into(), "4,1-2-3-4,3e8,2b,8,9,n,!x");
    listener.wait_for_matches(2);
    [&here, &other].iter().for_each(|talker| talker.wait_for_matches(1));
    assert_eq!(bridge.bridged(), [("/both".to_owned(), 0, 1)]);
    for number in 0..10 {
        here.say(&numbered(number));
        there.say(&numbered(number));
        assert_eq!(listener.next_number(), number);
        other.say(&numbered(100 + number));
        assert_eq!(listener.next_number(), 100 + number);
    }
    assert!(listener.has_nothing());
    drop(there);
    listener.wait_for_matches(2);
    until("a mirror of its own", || {
        here.say(&numbered(7));
        listener.0.take().unwrap().is_some()
    });
}

/// Each side receives each message of the other sides once.
#[test]
fn three_sides_are_joined_each_with_each() {
    let _watchdog = Watchdog::start();
    let world = World::of(3);
    let robots = [0, 1, 2].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let talkers = robots.each_ref().map(|robot| robot.talker("/all", QosProfile::default()));
    let listeners =
        robots.each_ref().map(|robot| robot.listener("/all", QosProfile::keep_last(100)));
    // Each talker matches the subscription on its own side, and one subscription of the bridge for
    // each other side.
    talkers.iter().for_each(|talker| talker.wait_for_matches(3));
    listeners.iter().for_each(|listener| listener.wait_for_matches(3));
    for number in 0..12 {
        talkers[number as usize % 3].say(&numbered(number));
        let heard = listeners.each_ref().map(|listener| listener.next_number());
        assert_eq!(heard, [number; 3]);
    }
    assert!(listeners.iter().all(|listener| listener.has_nothing()));
    assert_eq!(bridge.bridged().len(), 6);
}

/// By the numbers of forwarded messages, subscriptions that are on both sides recognize duplicates.
#[test]
fn forwarded_messages_keep_their_publisher_and_numbers() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let talker = near.talker("/chatter", QosProfile::keep_all());
    (0..3).for_each(|number| talker.say(&numbered(number)));
    let _bridge = world.running();
    let listener = far.listener("/chatter", QosProfile::keep_all());
    talker.wait_for_matches(1);
    listener.wait_for_matches(1);
    let announcement = listener.0.matches()[0].announcement.clone();
    assert_eq!(BridgeMark::origin(announcement.as_deref()), Some(talker.0.gid()));
    let hears = |number| {
        talker.say(&numbered(number));
        let sample = listener.next();
        let heard = (number_in(&sample.payload), sample.info.publication_sequence_number);
        assert_eq!(heard, (number, Some(u64::from(number) + 1)));
    };
    hears(3);
    hears(4);
    talker.0.skip(5);
    hears(10);
}

/// An endpoint on two engines is first found on only one of them. The bridge does not bridge it,
/// because its messages reach the other side directly as soon as the endpoint is found there.
#[test]
fn a_twin_is_not_bridged_before_its_other_half_comes() {
    let _watchdog = Watchdog::start();
    let world = World::new();
    let [near, far] = [0, 1].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let other = near.talker("/seen", QosProfile::default());
    let seen = far.listener("/seen", QosProfile::default());
    seen.wait_for_matches(1);
    let listeners = ["/arriving", "/lasting"].map(|name| far.listener(name, QosProfile::default()));
    let first = twin::first_announcement("");
    let talker = |name| near.talker_that_announces(name, STRING, QosProfile::default(), &first);
    let lasting = talker("/lasting");
    let arriving = talker("/arriving");
    let second = twin::announcement(arriving.0.gid(), "");
    let again = far.talker_that_announces("/arriving", STRING, QosProfile::default(), &second);
    // A publisher whose twin never appears is bridged. If the bridge had also bridged the other
    // publisher, that would have happened by now.
    listeners[1].wait_for_matches(1);
    assert_eq!(bridge.bridged(), [("/lasting".into(), 0, 1), ("/seen".into(), 0, 1)]);
    assert_eq!((arriving.0.matched_subscriptions(), listeners[0].0.matched_publishers()), (0, 1));
    lasting.say(&numbered(1));
    assert_eq!(listeners[1].next_number(), 1);
    again.say(&numbered(2));
    assert_eq!(listeners[0].next_number(), 2);
    drop(other);
}

/// A publisher has twins on two of the three sides of a bridge, like a node on two engines. The
/// third side receives each message once.
#[test]
fn messages_of_a_publisher_on_two_sides_reach_the_third_once() {
    let _watchdog = Watchdog::start();
    let world = World::of(3);
    let [one, two, three] = [0, 1, 2].map(|side| world.robot(side, "robot"));
    let bridge = world.running();
    let first = twin::first_announcement("");
    let talker = one.talker_that_announces("/chatter", STRING, QosProfile::default(), &first);
    let second = twin::announcement(talker.0.gid(), "");
    let again = two.talker_that_announces("/chatter", STRING, QosProfile::default(), &second);
    let listener = three.listener("/chatter", QosProfile::default());
    listener.wait_for_matches(1);
    talker.wait_for_matches(1);
    for number in 0..20 {
        again.say(&numbered(number));
        talker.say(&numbered(number));
        assert_eq!(listener.next_number(), number);
    }
    assert_eq!(bridge.bridged(), [("/chatter".into(), 0, 2)]);
    // When the first twin ends, the second continues.
    drop(talker);
    until("the other half", || {
        again.say(&numbered(20));
        listener.0.take().unwrap().is_some_and(|sample| number_in(&sample.payload) == 20)
    });
    assert_eq!(bridge.bridged(), [("/chatter".into(), 1, 2)]);
}
