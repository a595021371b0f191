//! Tests with a peer of another project that uses the wire format of `rmw_zenoh`: pyzeros, from
//! `scripts/requirements-zenoh.txt`. `FEROS_ZENOH_PYTHON` names the Python interpreter that has
//! pyzeros, if this is not the interpreter of `.venv-zenoh`.
#![allow(clippy::unwrap_used)]

mod ends;
mod messages;
mod network;
mod python;

use feros_conformance::{text_in, text_message};
use feros_engine::graph::EndpointNode;
use feros_engine::{EndpointKind, QosProfile};

use ends::{SET_BOOL, STRING, response, wire_node};
use messages::{JOINT_STATE, JointState};
use network::Network;
use python::pyzeros;

#[test]
fn topics_pass_in_both_directions() {
    let network = Network::new();
    let Some(_peer) = pyzeros(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let qos = QosProfile::default();
    let (publisher, subscription) =
        (end.publisher_of("/wire/in", STRING, qos), end.subscription_of("/wire/out", STRING, qos));
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    publisher.publish(&text_message("hello, wörld"));
    let sample = subscription.next();
    assert_eq!(text_in(&sample.payload), "repeated: hello, wörld");
    let gids = subscription.subscription.matched_gids();
    assert_eq!(gids, [sample.info.publisher_gid], "the gid of a message is that of the token");
    assert!(sample.info.source_timestamp.is_some());
}

/// A header, strings, arrays and a megabyte of data keep their values in both directions.
#[test]
fn arrays_and_a_megabyte_pass_in_both_directions() {
    let network = Network::new();
    let Some(_peer) = pyzeros(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let qos = QosProfile::default();
    let joints = end.publisher_of("/wire/joints_in", JOINT_STATE, qos);
    let changed = end.subscription_of("/wire/joints_out", JOINT_STATE, qos);
    let text = end.publisher_of("/wire/in", STRING, qos);
    let repeated = end.subscription_of("/wire/out", STRING, qos);
    joints.wait_for_matches(1);
    changed.wait_for_matches(1);
    joints.publish(&JointState::example().encode());
    assert_eq!(&*changed.next().payload, JointState::example().changed().encode());
    text.wait_for_matches(1);
    repeated.wait_for_matches(1);
    let megabyte = "0123456789abcdef".repeat(1 << 16);
    let sample = repeated.next_repeated(|| text.publish(&text_message(&megabyte)));
    assert!(text_in(&sample.payload) == format!("repeated: {megabyte}"), "all of it");
}

/// The peer computes the tokens that it would declare for the same endpoints, and finds that Feros
/// has declared equal tokens.
#[test]
fn the_peer_sees_nodes_topics_types_and_policies() {
    let network = Network::new();
    let Some(_peer) = pyzeros(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let seen = end.subscription_of("/wire/seen", STRING, QosProfile::default());
    let wait_until_seen = |wanted: &str| {
        let look =
            || seen.subscription.take().unwrap().filter(|said| text_in(&said.payload) == wanted);
        seen.data.wait_for(wanted, look);
    };
    wait_until_seen("0 0");
    let qos = QosProfile { depth: 5, ..QosProfile::default() }.best_effort();
    let publisher = end.publisher_of("/wire/joints_in", JOINT_STATE, qos);
    wait_until_seen("1 0");
    let _subscription = end.subscription_of("/wire/joints_out", JOINT_STATE, qos);
    wait_until_seen("1 1");
    // Other policies result in another token.
    let _other = end.publisher_of("/wire/joints_in", JOINT_STATE, QosProfile::default());
    drop(publisher);
    wait_until_seen("0 1");
}

#[test]
fn the_graph_shows_nodes_endpoints_and_policies() {
    let network = Network::new();
    let Some(peer) = pyzeros(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let found = end.wait_for_graph("the peer's publisher", |graph| {
        graph.endpoints_of(EndpointKind::Publisher, "/wire/out").next().cloned()
    });
    assert_eq!(found.type_name, STRING.0);
    assert_eq!(found.type_hash, feros_engine::TypeHash::parse(STRING.1));
    assert!(found.announcement.is_none() && found.is_ros);
    let EndpointNode::Named(node) = found.node else { panic!("{:?}", found.node) };
    assert_eq!(node.fully_qualified(), "/wire/python");
    end.wait_for_graph("the peer's node and service", |graph| {
        let is_there = graph.nodes.iter().any(|info| info.name == node);
        let services = graph.count(EndpointKind::Service, "/wire/python")
            + graph.count(EndpointKind::Client, "/wire/feros");
        (is_there && services == 2).then_some(())
    });
    drop(peer);
    end.wait_for_graph("the peer's end", |graph| {
        (!graph.nodes.iter().any(|info| info.name == node)).then_some(())
    });
}

#[test]
fn services_are_called_in_both_directions() {
    let network = Network::new();
    let Some(_peer) = pyzeros(&network) else { return };
    let end = wire_node(network.peer(), "feros");
    let client = end.client_of("/wire/python", SET_BOOL);
    client.wait_for_server();
    for wanted in [true, false] {
        let asked = client.send(&[0, 1, 0, 0, u8::from(wanted)]);
        let (number, answer) = client.next();
        assert_eq!(number, asked);
        assert_eq!((answer.payload[4] != 0, text_in(&answer.payload[4..])), (wanted, "by Python"));
        assert_eq!(client.client.responders(), [answer.info.publisher_gid]);
    }
    let server = end.service_of("/wire/feros", SET_BOOL);
    let called = end.subscription_of("/wire/called", STRING, QosProfile::default());
    let (request, question) = server.next();
    assert_eq!(question.payload[4], 1);
    server.respond_once(&request, &response(true, "by Feros")).unwrap();
    assert_eq!(text_in(&called.next().payload), "True by Feros");
}
