//! Tests the engine in the form of ROS 2 Humble, together with a node of Humble that is made by
//! hand.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use feros_conformance::{TestNode, text_in, text_message};
use feros_engine::graph::EndpointNode;
use feros_engine::{
    DiscoveryForm, EndpointKind, Engine as _, NodeName, QosProfile, SessionOptions,
};
use feros_fastdds::FastDdsEngine;
use feros_interop::{Domain, HumbleOn, HumblePeer};
use feros_test_support::eventually;

const STRING: &str = "std_msgs/msg/String";
const WIRE_STRING: &str = "std_msgs::msg::dds_::String_";
const SET_BOOL: &str = "std_srvs/srv/SetBool";
const WIRE_SET_BOOL: &str = "std_srvs::srv::dds_::SetBool";

fn ours(domain: &Domain) -> TestNode {
    let options = SessionOptions {
        discovery_form: DiscoveryForm::Humble,
        ..SessionOptions::localhost(domain.id().into())
    };
    TestNode::named(FastDdsEngine.open(&options).unwrap(), "/ours", "on_fastdds")
}

#[test]
fn nodes_messages_and_calls_go_both_ways_with_fast_dds() {
    nodes_messages_and_calls_go_both_ways(HumbleOn::FastDds);
}

#[test]
fn nodes_messages_and_calls_go_both_ways_with_cyclone_dds() {
    nodes_messages_and_calls_go_both_ways(HumbleOn::CycloneDds);
}

fn nodes_messages_and_calls_go_both_ways(on: HumbleOn) {
    let domain = Domain::reserve_without_ros2();
    let Some(mut peer) = HumblePeer::start(&domain, on, "/theirs", "humble_node") else { return };
    let ours = ours(&domain);
    let publisher = ours.publisher_of("/numbers", (STRING, ""), QosProfile::default());
    let subscription = ours.subscription_of("/words", (STRING, ""), QosProfile::default());
    let to_us = peer.ask_matched(format!("publisher /words {WIRE_STRING}"));
    let from_us = peer.ask_matched(format!("subscription /numbers {WIRE_STRING}"));
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    for said in ["hello", &"large ".repeat(50_000)] {
        peer.ask(format!("publish {to_us} {}", HumblePeer::message(&text_message(said))));
        assert!(text_in(&subscription.next().payload) == said, "{} characters", said.len());
        publisher.publish(&text_message(said));
        let heard = peer.ask_for_message(format!("take {from_us}"));
        assert!(text_in(&heard) == said, "{} characters", said.len());
    }

    let theirs = EndpointNode::Named(NodeName::new("/theirs", "humble_node").unwrap());
    ours.wait_for_graph("the publisher of Humble with its node", |graph| {
        let mut found = graph.endpoints_of(EndpointKind::Publisher, "/words");
        found.any(|endpoint| endpoint.node == theirs).then_some(())
    });
    eventually(|| match peer.ask("endpoints rt/numbers") {
        shown if shown.contains(&format!("on_fastdds {WIRE_STRING}")) => Ok(()),
        shown => Err(shown),
    });
    assert!(peer.ask("nodes").starts_with("/ours on_fastdds "));
    assert_eq!(peer.ask("demanded"), "", "announcements that Humble cannot read");

    let server = ours.service_of("/ours/switch", (SET_BOOL, ""));
    let caller = peer.ask_matched(format!("client /ours/switch {WIRE_SET_BOOL}"));
    let answer = [&[0, 1, 0, 0, 1, 0, 0, 0], &text_message("ours")[4..]].concat();
    let answered = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (id, request) = server.next();
            assert_eq!(request.payload[4], 1);
            eventually(|| server.respond_once(&id, &answer));
        });
        peer.ask_for_message(format!("call {caller} {}", HumblePeer::message(&[0, 1, 0, 0, 1])))
    });
    assert_eq!(answered[..answer.len()], answer[..]);

    let client = ours.client_of("/theirs/switch", (SET_BOOL, ""));
    let server = peer.ask_matched(format!("server /theirs/switch {WIRE_SET_BOOL}"));
    client.wait_for_server();
    let asked = client.send(&[0, 1, 0, 0, 1]);
    let answer = HumblePeer::message(&answer);
    let request = peer.ask_for_message(format!("serve {server} {answer}"));
    assert_eq!(request[4], 1);
    let (number, response) = client.next();
    assert_eq!((number, text_in(&response.payload[4..])), (asked, "ours"));
}
