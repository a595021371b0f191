//! Tests the engine together with stock ROS 2 on Fast DDS (rclpy from the wheels), in separate
//! processes: topics, large messages through the shared memory of Fast DDS, services in both
//! directions, the graph, and a stock node that is killed.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::process::Command;

use feros_conformance::{
    TestNode, TestPublisher, TestSubscription, matched, text_in, text_message,
};
use feros_engine::{EndpointKind, Engine, NodeName, QosProfile, SessionOptions, TypeHash};
use feros_fastdds::FastDdsEngine;
use feros_interop::{Distribution, Domain, Peer, distribution, peers_are_on_feros};
use feros_test_support::{eventually, skip};
use serde_json::json;

const STRING: &str = "std_msgs/msg/String";
const SET_BOOL: &str = "std_srvs/srv/SetBool";
/// The hash of `std_msgs/msg/String`.
const STRING_HASH: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

fn ours(domain: &Domain) -> TestNode {
    let options = SessionOptions::localhost(domain.id().into());
    TestNode::named(FastDdsEngine.open(&options).unwrap(), "/ours", "on_fastdds")
}

fn publisher(ours: &TestNode, topic: &str) -> TestPublisher {
    ours.publisher_of(topic, (STRING, STRING_HASH), QosProfile::default())
}

fn subscription(ours: &TestNode, topic: &str) -> TestSubscription {
    ours.subscription_of(topic, (STRING, STRING_HASH), QosProfile::default())
}

#[test]
fn messages_go_both_ways_small_and_large() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = ours(&domain);
    let mut peer = Peer::start(&domain, "/theirs", "stock_node");
    peer.ask("subscription", json!({"topic": "/to_stock", "type": STRING}));
    peer.ask("publisher", json!({"topic": "/to_us", "type": STRING}));
    let (publisher, subscription) = (publisher(&ours, "/to_stock"), subscription(&ours, "/to_us"));
    matched(&publisher, &subscription);
    peer.ask("matched", json!({"topic": "/to_stock", "publishers": 1}));
    peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 1}));
    for said in ["", "hello", &"large ".repeat(200_000)] {
        publisher.publish(&text_message(said));
        assert_eq!(peer.ask("take", json!({"topic": "/to_stock"})), json!([{"data": said}]));
        peer.ask("publish", json!({"topic": "/to_us", "values": [{"data": said}]}));
        let sample = subscription.next();
        assert!(text_in(&sample.payload) == said, "{} characters differ", said.len());
        assert!(!sample.info.from_same_session && sample.info.source_timestamp.is_some());
    }
    publisher.publisher.wait_for_all_acked(std::time::Duration::from_secs(60)).unwrap();
    drop(subscription);
    peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 0}));
}

/// Makes shared memory the only transport of Fast DDS in a stock node.
fn shared_memory_alone(command: &mut Command) {
    command.env("FASTDDS_BUILTIN_TRANSPORTS", "SHM");
}

#[test]
fn large_messages_take_the_shared_memory_of_fast_dds() {
    let version = feros_fastdds_sys::Shim::get().unwrap().fastdds_version();
    let of_peer = match distribution() {
        Distribution::Kilted => "3.",
        Distribution::Jazzy => "2.14.",
    };
    if !version.starts_with(of_peer) {
        return skip(format!("stock nodes on Fast DDS {of_peer}x share no memory with {version}"));
    }
    let Some(domain) = Domain::reserve() else { return };
    let ours = ours(&domain);
    let mut peer = Peer::start_prepared(&domain, "/theirs", "shares_memory", shared_memory_alone);
    peer.ask("subscription", json!({"topic": "/to_stock", "type": STRING}));
    peer.ask("publisher", json!({"topic": "/to_us", "type": STRING}));
    let (publisher, subscription) = (publisher(&ours, "/to_stock"), subscription(&ours, "/to_us"));
    matched(&publisher, &subscription);
    peer.ask("matched", json!({"topic": "/to_stock", "publishers": 1}));
    peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 1}));
    for said in ["hello", &"image ".repeat(400_000)] {
        publisher.publish(&text_message(said));
        assert_eq!(peer.ask("take", json!({"topic": "/to_stock"})), json!([{"data": said}]));
        peer.ask("publish", json!({"topic": "/to_us", "values": [{"data": said}]}));
        let sample = subscription.next();
        assert!(text_in(&sample.payload) == said, "{} characters differ", said.len());
    }
}

#[test]
fn the_library_of_a_peer_is_known() {
    if peers_are_on_feros("announcing the version of Fast DDS") {
        return;
    }
    let Some(domain) = Domain::reserve() else { return };
    let ours = ours(&domain);
    let _peer = Peer::start(&domain, "/theirs", "stock_node");
    let name = NodeName::new("/theirs", "stock_node").unwrap();
    let library = ours.wait_for_graph("the library of the peer", |graph| {
        let node = graph.nodes.iter().find(|node| node.name == name)?;
        let of_node = graph.participants.iter().find(|shown| shown.gid == node.participant)?;
        of_node.library
    });
    let loaded = feros_fastdds_sys::Shim::get().unwrap().fastdds_version();
    let expected = match distribution() {
        // Fast DDS 2 does not tell its users the versions of others.
        _ if !loaded.starts_with("3.") => "Fast DDS",
        Distribution::Kilted => "Fast DDS 3.2.",
        Distribution::Jazzy => "Fast DDS before 3.0",
    };
    assert!(library.to_string().starts_with(expected), "{library} with {loaded}");
}

#[test]
fn a_peer_that_is_killed_is_followed_by_the_next_one() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = ours(&domain);
    let subscription = subscription(&ours, "/to_us");
    for said in ["first", "second", "third"] {
        let mut peer = Peer::start(&domain, "/theirs", "mortal");
        peer.ask("publisher", json!({"topic": "/to_us", "type": STRING}));
        peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 1}));
        peer.ask("publish", json!({"topic": "/to_us", "values": [{"data": said}]}));
        let sample = subscription.next();
        assert_eq!(text_in(&sample.payload), said);
        peer.kill();
    }
    assert!(subscription.subscription.take().unwrap().is_none());
}

#[test]
fn services_are_called_both_ways() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = ours(&domain);
    let mut peer = Peer::start(&domain, "/theirs", "stock_node");
    peer.ask(
        "service",
        json!({"name": "/theirs/set", "type": SET_BOOL,
        "response": {"success": true, "message": "theirs"}}),
    );
    let client = ours.client_of("/theirs/set", (SET_BOOL, ""));
    client.wait_for_server();
    for _ in 0..5 {
        let asked = client.send(&[0, 1, 0, 0, 1]);
        let (answered, response) = client.next();
        assert_eq!((answered, response.payload[4]), (asked, 1));
        assert_eq!(text_in(&response.payload[4..]), "theirs");
        assert_eq!(
            peer.ask("requests", json!({"service": "/theirs/set"})),
            json!([{"data": true}])
        );
    }

    let server = ours.service_of("/ours/set", (SET_BOOL, ""));
    peer.ask("client", json!({"name": "/ours/set", "type": SET_BOOL}));
    peer.ask("wait", json!({"service": "/ours/set"}));
    let message = "x".repeat(300_000);
    let answer = [&[0, 1, 0, 0, 1, 0, 0, 0], &text_message(&message)[4..]].concat();
    let answers = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                let (id, request) = server.next();
                assert_eq!(request.payload[4], 1);
                server.respond_once(&id, &answer).unwrap();
            }
        });
        let request = json!({"data": true});
        peer.ask("call", json!({"service": "/ours/set", "requests": [request, request, request]}))
    });
    let expected = json!({"success": true, "message": message});
    assert!(answers == json!([expected, expected, expected]), "the three answers are not ours");
}

#[test]
fn each_sees_the_other_in_its_graph() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = ours(&domain);
    let mut peer = Peer::start(&domain, "/theirs", "stock_node");
    peer.ask("subscription", json!({"topic": "/seen", "type": STRING}));
    let publisher = publisher(&ours, "/seen");
    let _service = ours.service_of("/ours/seen", (SET_BOOL, ""));
    let seen = ours.wait_for_graph("the stock subscription with its node", |graph| {
        let found = graph.endpoints_of(EndpointKind::Subscription, "/seen").next().cloned();
        found.filter(|endpoint| endpoint.node.name().is_some())
    });
    assert_eq!(seen.node.name().unwrap(), &NodeName::new("/theirs", "stock_node").unwrap());
    assert_eq!((seen.type_name.as_str(), seen.type_hash), (STRING, TypeHash::parse(STRING_HASH)));

    peer.ask("matched", json!({"topic": "/seen", "publishers": 1}));
    // A node is announced after its endpoints, so the test asks the stock node again until it knows
    // the announcement.
    let gid =
        publisher.publisher.gid().0.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let shown = eventually(|| {
        let shown = peer.ask("publishers", json!({"topic": "/seen"}));
        if shown[0]["node"] == "on_fastdds" { Ok(shown) } else { Err(shown.to_string()) }
    });
    assert_eq!(shown[0]["namespace"], "/ours");
    assert_eq!(shown[0]["type"], STRING);
    assert_eq!(shown[0]["hash"], STRING_HASH);
    assert_eq!(shown[0]["gid"], gid);
    let node = eventually(|| {
        let node = peer.ask("node", json!({"name": "on_fastdds", "namespace": "/ours"}));
        if node["services"] == json!({}) { Err(node.to_string()) } else { Ok(node) }
    });
    assert_eq!(node["services"], json!({"/ours/seen": [SET_BOOL]}));
    assert_eq!(node["publishers"], json!({"/seen": [STRING]}));
    let nodes = peer.ask("nodes", json!({}));
    let nodes = nodes.as_array().unwrap();
    assert!(nodes.iter().any(|node| node["name"] == "on_fastdds" && node["enclave"] == "/"));
}
