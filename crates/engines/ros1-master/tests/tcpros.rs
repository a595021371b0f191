//! The tests of the conformance suite that are possible over TCPROS. Two sessions under a real
//! master reach each other only over TCPROS, like two processes. The other tests are omitted for
//! these reasons:
//!
//! | omitted | reason |
//! |---|---|
//! | gids, nodes, hashes, policies and announcements of the other side | a ROS 1 node states only its name and type, and whether it latches |
//! | numbers and stamps of messages | messages have neither, unless their type does |
//! | best-available policies, incompatible policies and types as events | policies are not sent, and the connection refuses other types |
//! | matches per subscription | a node has one connection for each topic, which its endpoints share |
//! | messages of arbitrary bytes | messages are converted, so they must match their type |
//! | losses and acknowledgements | a full queue drops messages without notice, and there are no acknowledgements |
//! | both mappings of services, clients by their gids | a service call is a connection |
//! | names outside of the ROS conventions | ROS 1 has no such names |
#![allow(clippy::unwrap_used, missing_docs)]

mod ros1;

use std::sync::Arc;

use feros_conformance::{
    Fixture, TestNode, discovery, events, lifecycle, qos, text_in, text_message, topics,
};
use feros_engine::{Engine as _, QosProfile, Session, SessionOptions};
use ros1::{SET_BOOL, STRING, World, answer_next, put_text};

impl Fixture for World {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let open = || self.engine().open(&SessionOptions::default()).unwrap();
        (open(), open())
    }
}

macro_rules! kept {
    ($($module:ident::$test:ident),* $(,)?) => {
        $(
            #[test]
            fn $test() {
                if let Some(world) = World::new() {
                    $module::$test(&world);
                }
            }
        )*
    };
}

kept![
    topics::best_effort_messages_arrive,
    topics::impossible_sizes_are_refused,
    topics::aborted_fill_publishes_nothing,
    topics::impossible_stamps_are_refused,
    qos::keep_all_keeps_all,
    qos::transient_local_serves_late_subscriptions,
    qos::volatile_does_not,
    qos::lifespan_expires,
    events::matches_are_reported,
    discovery::graph_changes_are_notified,
    discovery::session_facts,
    lifecycle::dropped_endpoints_notify_no_more,
    lifecycle::endpoints_come_and_go_without_growth,
];

/// The endpoints of one node share a connection, and each of them gets each message once. Between
/// nodes of the same process, there is no connection.
#[test]
fn nobody_gets_a_message_twice() {
    let Some(world) = World::new() else { return };
    let (near, far) = (world.engine(), world.engine());
    let open = |engine: &feros_ros1_master::ConfiguredRos1Engine, name: &str| {
        TestNode::named(engine.open(&SessionOptions::default()).unwrap(), "/", name)
    };
    let [one, two] = ["one", "two"].map(|name| open(&near, name));
    let three = open(&far, "three");
    let qos = QosProfile::keep_all();
    let publishers = [&one, &two].map(|node| node.publisher_of("/shared", STRING, qos));
    let subscriptions =
        [&one, &two, &three, &three].map(|node| node.subscription_of("/shared", STRING, qos));
    for publisher in &publishers {
        // The matches are two subscriptions of this process, and one connection of the other
        // process.
        publisher.wait_for_matches(3);
    }
    subscriptions.iter().for_each(|subscription| subscription.wait_for_matches(2));
    for (index, publisher) in publishers.iter().enumerate() {
        (0..50).for_each(|number| publisher.send(&text_message(&format!("{index}.{number}"))));
    }
    for subscription in &subscriptions {
        let mut next = [0, 0];
        for _ in 0..100 {
            let sample = subscription.next();
            let data = text_in(&sample.payload);
            let (index, number) = data.split_once('.').unwrap();
            let index: usize = index.parse().unwrap();
            assert_eq!(number.parse::<u32>().unwrap(), next[index]);
            next[index] += 1;
        }
        assert!(subscription.subscription.take().unwrap().is_none());
    }
}

/// Calls are made over connections. Any number of calls may run at the same time, and each client
/// gets its own responses.
#[test]
fn calls_are_answered() {
    let Some(world) = World::new() else { return };
    let (near, far) = (world.node("near"), world.node("far"));
    let served = near.service_of("/switch", SET_BOOL);
    let clients = [(); 2].map(|()| far.client_of("/switch", SET_BOOL));
    clients.iter().for_each(|client| client.wait_for_server());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                answer_next(&served, |request| {
                    let mut answer = vec![0, 1, 0, 0, 1];
                    put_text(&mut answer, if request[4] == 1 { "on" } else { "off" });
                    answer
                });
            }
        });
        for _ in 0..5 {
            for (client, value) in clients.iter().zip([0, 1]) {
                let numbers = [(); 2].map(|()| client.send(&[0, 1, 0, 0, value]));
                let mut answered = [(); 2].map(|()| {
                    let (number, response) = client.next();
                    assert_eq!(response.payload[8], if value == 1 { 3 } else { 4 });
                    number
                });
                answered.sort_unstable();
                assert_eq!(answered, numbers);
            }
        }
    });
    assert_eq!(served.service.lost_requests(), 0);
    drop(served);
    clients.iter().for_each(|client| client.wait_for_end_of_server());
}

/// A node that registers under the name of an existing node replaces that node.
#[test]
fn the_newer_node_of_a_name_stays() {
    let Some(world) = World::new() else { return };
    let first = world.node("twin");
    let old = first.publisher_of("/topic", STRING, QosProfile::default());
    let listener = world.node("listener");
    let heard = listener.subscription_of("/topic", STRING, QosProfile::default());
    old.wait_for_matches(1);
    let second = world.node("twin");
    let new = second.publisher_of("/topic", STRING, QosProfile::default());
    new.wait_for_matches(1);
    new.publish(&text_message("from the newer"));
    assert_eq!(text_in(&heard.next().payload), "from the newer");
}
