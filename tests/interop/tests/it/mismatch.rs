//! A QoS mismatch with a stock node is logged once; the log names the topic and both sides.

use feros::engine::{EndpointKind, TypeHash};
use feros::msgs::rcl_interfaces::msg::Log;
use feros::msgs::std_msgs::msg::String as Text;
use feros::{Node, NodeOptions, QosProfile, Subscription, TypeIdentity};
use feros_interop::{Domain, Peer};
use serde_json::json;

use crate::support::{Inbox, Spinning, WATCHDOG, context, stock};

const TOPIC: &str = "/mixed";

/// A stock publisher of a Bool, whose node the Feros node knows.
fn stock_publisher(peer: &mut Peer, node: &Node) {
    peer.ask("publisher", json!({"topic": TOPIC, "type": "std_msgs/msg/Bool"}));
    let named = || {
        let graph = node.context().graph();
        graph
            .endpoints_of(EndpointKind::Publisher, TOPIC)
            .any(|endpoint| endpoint.node.name().is_some())
    };
    node.context().wait_for_graph(WATCHDOG, || "the stock node's name", named).unwrap();
}

/// A node with a unique name, since the test selects lines of the process's log by node name.
fn node(domain: &Domain, name: &str) -> Node {
    context(domain).create_node_with(NodeOptions::new(name).namespace("/ours")).unwrap()
}

/// The logs of the Feros node on `/rosout`, which a node of another context receives.
fn log_of(node: &Node, domain: &Domain) -> (Inbox<String>, Subscription<Log>, Spinning) {
    let listener = context(domain).create_node("log_listener").unwrap();
    let inbox = Inbox::new();
    let (put, logger) = (inbox.putter(), node.logger_name().to_owned());
    let subscription = listener
        .create_subscription("/rosout", QosProfile::rosout_default(), move |log: Log| {
            if log.name == logger {
                put(log.msg);
            }
        })
        .unwrap();
    let spinning = Spinning::new(&listener);
    (inbox, subscription, spinning)
}

fn assert_names_both_sides(text: &str, ours: &str) {
    for part in [TOPIC, "/theirs/stock_node", ours] {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn another_type_under_the_same_name_is_said() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain, "type_node"), stock(&domain));
    let (log, _subscription, _listening) = log_of(&node, &domain);
    let _spinning = Spinning::new(&node);
    stock_publisher(&mut peer, &node);
    let subscription = node.create_subscription(TOPIC, 10, |_: Text| {}).unwrap();
    let text = log.take_where(|text| text.contains("std_msgs/msg/Bool"));
    assert_names_both_sides(&text, "/ours/type_node");
    assert!(text.contains("std_msgs/msg/String"), "{text}");
    assert_eq!(subscription.publisher_count(), 0);
}

#[test]
fn the_same_type_from_another_definition_is_said() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain, "hash_node"), stock(&domain));
    let (log, _subscription, _listening) = log_of(&node, &domain);
    let _spinning = Spinning::new(&node);
    stock_publisher(&mut peer, &node);
    let identity = TypeIdentity { name: "std_msgs/msg/Bool".into(), hash: Some(TypeHash([7; 32])) };
    let _subscription = node.create_generic_subscription(TOPIC, &identity, 10, |_, _| {}).unwrap();
    let text = log.take_where(|text| text.contains("different definitions"));
    assert_names_both_sides(&text, "/ours/hash_node");
}

#[test]
fn a_qos_that_does_not_match_is_said() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain, "qos_node"), stock(&domain));
    let (log, _subscription, _listening) = log_of(&node, &domain);
    let _spinning = Spinning::new(&node);
    stock_publisher(&mut peer, &node);
    let latched = QosProfile::keep_last(1).transient_local();
    let identity = TypeIdentity { name: "std_msgs/msg/Bool".into(), hash: None };
    let _subscription =
        node.create_generic_subscription(TOPIC, &identity, latched, |_, _| {}).unwrap();
    let text = log.take_where(|text| text.contains("DURABILITY"));
    assert_names_both_sides(&text, "/ours/qos_node");
}
