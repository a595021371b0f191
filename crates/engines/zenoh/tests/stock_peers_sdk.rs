//! Tests with a second peer of another project that uses the wire format of `rmw_zenoh`:
//! zenoh-ros2-sdk, from `scripts/requirements-zenoh.txt`.
#![allow(clippy::unwrap_used)]

mod ends;
mod messages;
mod network;
mod python;

use feros_conformance::{TestSubscription, text_in, text_message};
use feros_engine::graph::EndpointNode;
use feros_engine::{EndpointKind, QosProfile, TypeHash};

use ends::{SET_BOOL, STRING, response, wire_node};
use messages::{JOINT_STATE, JointState};
use network::Network;
use python::sdk;

/// Waits until the peer, which repeats its messages, sends this one.
fn wait_until_said(subscription: &TestSubscription, wanted: &str) {
    let said = || {
        let sample = subscription.subscription.take().unwrap();
        sample.filter(|sample| text_in(&sample.payload) == wanted)
    };
    subscription.data.wait_for(wanted, said);
}

#[test]
fn topics_pass_in_both_directions() {
    let network = Network::new();
    let Some(_peer) = sdk(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let qos = QosProfile::default();
    let joints = end.publisher_of("/wire/joints_in", JOINT_STATE, qos);
    let changed = end.subscription_of("/wire/joints_out", JOINT_STATE, qos);
    joints.wait_for_matches(1);
    changed.wait_for_matches(1);
    joints.publish(&JointState::example().encode());
    let sample = changed.next();
    assert_eq!(&*sample.payload, JointState::example().changed().encode());
    assert!(sample.info.source_timestamp.is_some());
}

/// A megabyte of velocities is sent to the peer, and returns unchanged.
#[test]
fn a_megabyte_passes_in_both_directions() {
    let network = Network::new();
    let Some(_peer) = sdk(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let qos = QosProfile::default();
    let joints = end.publisher_of("/wire/joints_in", JOINT_STATE, qos);
    let changed = end.subscription_of("/wire/joints_out", JOINT_STATE, qos);
    joints.wait_for_matches(1);
    changed.wait_for_matches(1);
    let velocities = (0..1 << 17).map(f64::from).collect();
    let message = JointState { velocities, ..JointState::example() };
    let sample = changed.next_repeated(|| joints.publish(&message.encode()));
    assert!(*sample.payload == message.changed().encode(), "all of it");
}

#[test]
fn services_are_called_in_both_directions() {
    let network = Network::new();
    let Some(_peer) = sdk(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let client = end.client_of("/wire/python", SET_BOOL);
    client.wait_for_server();
    for wanted in [true, false] {
        let asked = client.send(&[0, 1, 0, 0, u8::from(wanted)]);
        let (number, answer) = client.next();
        assert_eq!(number, asked);
        assert_eq!((answer.payload[4] != 0, text_in(&answer.payload[4..])), (wanted, "by Python"));
    }
    let server = end.service_of("/wire/feros", SET_BOOL);
    let called = end.subscription_of("/wire/called", STRING, QosProfile::default());
    let ask = end.publisher_of("/wire/call", STRING, QosProfile::default());
    ask.wait_for_matches(1);
    ask.publish(&text_message("now"));
    let (request, question) = server.next();
    assert_eq!(question.payload[4], 1);
    server.respond_once(&request, &response(true, "by Feros")).unwrap();
    assert_eq!(text_in(&called.next().payload), "True by Feros");
}

/// In both directions, messages arrive that were published before the other side existed. The peer
/// requests the history from each publisher, like `rmw_zenoh`. But it does so only if the name of
/// the topic has a single part, because it does not replace the slashes in other names. To keep its
/// own history, the peer uses the publisher of Zenoh that is made for this purpose.
#[test]
fn history_passes_in_both_directions() {
    let network = Network::new();
    let end = wire_node(network.peer(), "feros");
    let qos = QosProfile::default().transient_local();
    let latched = end.publisher_of("/latched", STRING, qos);
    latched.publish(&text_message("kept by Feros"));
    let Some(_peer) = sdk(&network) else { return };
    let late = end.subscription_of("/wire/late", STRING, QosProfile::default());
    wait_until_said(&late, "['kept by Feros']");
    let history = end.subscription_of("/wire/history", STRING, qos);
    assert_eq!(text_in(&history.next().payload), "kept by Python");
}

#[test]
fn each_sees_the_other_in_the_graph() {
    let network = Network::new();
    let Some(peer) = sdk(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let found = end.wait_for_graph("the peer's publisher", |graph| {
        graph.endpoints_of(EndpointKind::Publisher, "/wire/joints_out").next().cloned()
    });
    assert_eq!(found.type_name, JOINT_STATE.0);
    assert_eq!(found.type_hash, TypeHash::parse(JOINT_STATE.1));
    let EndpointNode::Named(node) = found.node else { panic!("{:?}", found.node) };
    assert_eq!(node.fully_qualified(), "/wire/python");

    let seen = end.subscription_of("/wire/seen", STRING, QosProfile::default());
    wait_until_said(&seen, "[]");
    let qos = QosProfile { depth: 5, ..QosProfile::default() }.best_effort();
    let publisher = end.publisher_of("/wire/joints_in", JOINT_STATE, qos);
    let (name, hash) = JOINT_STATE;
    let described =
        format!(r#"["/wire", "feros", "{name}", "{hash}", "BEST_EFFORT", "VOLATILE", 5]"#);
    wait_until_said(&seen, &format!("[{described}]"));
    drop(publisher);
    wait_until_said(&seen, "[]");
    drop(peer);
    end.wait_for_graph("the peer's end", |graph| {
        (graph.count(EndpointKind::Publisher, "/wire/joints_out") == 0).then_some(())
    });
}
