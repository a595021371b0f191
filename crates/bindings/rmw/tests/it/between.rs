//! rclpy nodes on this library exchange messages with stock rclpy nodes, in both directions.

use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::support::{on_feros, run_python, stock};

/// Messages of test_msgs, each with a non-default value that is easy to write down.
const MESSAGES: [(&str, &str); 13] = [
    ("Arrays", r#"{"int16_values": [1, -2, 3], "string_values": ["a", "", "c"]}"#),
    ("BasicTypes", r#"{"bool_value": true, "int64_value": -5, "float32_value": 0.5}"#),
    ("BoundedPlainSequences", r#"{"uint32_values": [1, 2], "float64_values": [0.5]}"#),
    ("BoundedSequences", r#"{"string_values": ["x", "y"], "bool_values": [true, false]}"#),
    ("Builtins", r#"{"duration_value": {"sec": 3, "nanosec": 4}}"#),
    ("Constants", "{}"),
    ("Defaults", r#"{"int8_value": -7}"#),
    ("Empty", "{}"),
    ("MultiNested", "{}"),
    ("Nested", r#"{"basic_types_value": {"uint16_value": 65535}}"#),
    ("Strings", r#"{"string_value": "grüße", "bounded_string_value": "short"}"#),
    ("UnboundedSequences", r#"{"bool_values": [true], "string_values": ["", "z"]}"#),
    ("WStrings", r#"{"wstring_value": "wörter", "array_of_wstrings": ["a", "", "c"]}"#),
];

/// Checks that two receivers, one of them a stock node, have received the value that the sender
/// sent.
fn exchange(publisher: &mut Peer, subscriptions: [&mut Peer; 2], message: &str, value: &str) {
    let topic = format!("/{}", message.to_lowercase());
    let endpoint = json!({"topic": topic, "type": format!("test_msgs/msg/{message}")});
    publisher.ask("publisher", endpoint.clone());
    let mut received = Vec::new();
    let mut peers = subscriptions;
    for peer in &mut peers {
        peer.ask("subscription", endpoint.clone());
        peer.ask("matched", json!({"topic": topic, "publishers": 1}));
    }
    publisher.ask("matched", json!({"topic": topic, "subscriptions": 2}));
    let value: Value = serde_json::from_str(value).unwrap();
    publisher.ask("publish", json!({"topic": topic, "values": [value]}));
    for peer in &mut peers {
        received.push(peer.ask("take", json!({"topic": topic})));
    }
    assert_eq!(received[0], received[1], "{message}");
    for (field, sent) in value.as_object().unwrap() {
        if !sent.is_object() {
            assert_eq!(&received[0][0][field], sent, "{message}.{field}");
        }
    }
    for peer in &mut peers {
        peer.ask("destroy", json!({"what": "subscription", "name": topic}));
    }
    publisher.ask("destroy", json!({"what": "publisher", "name": topic}));
}

#[test]
fn every_type_of_test_msgs_arrives_from_this_library() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut talker, mut ours) = (on_feros(&domain, "talker"), on_feros(&domain, "ours"));
    let mut theirs = stock(&domain, "theirs");
    for (message, value) in MESSAGES {
        exchange(&mut talker, [&mut ours, &mut theirs], message, value);
    }
}

#[test]
fn every_type_of_test_msgs_arrives_at_this_library() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut talker, mut ours) = (stock(&domain, "talker"), on_feros(&domain, "ours"));
    let mut theirs = stock(&domain, "theirs");
    for (message, value) in MESSAGES {
        exchange(&mut talker, [&mut ours, &mut theirs], message, value);
    }
}

fn call(server: &mut Peer, client: &mut Peer) {
    let service = json!({"name": "/add", "type": "test_msgs/srv/BasicTypes"});
    server.ask(
        "service",
        json!({
            "name": "/add", "type": "test_msgs/srv/BasicTypes", "response": {"int32_value": 9},
        }),
    );
    client.ask("client", service);
    client.ask("wait", json!({"service": "/add"}));
    let requests: Vec<Value> = (0..10).map(|number| json!({"int64_value": number})).collect();
    let answers = client.ask("call", json!({"service": "/add", "requests": requests}));
    for (number, answer) in answers.as_array().unwrap().iter().enumerate() {
        assert_eq!(answer["int32_value"], 9);
        assert_eq!(answer["int64_value"], number, "each request has its own response");
    }
}

#[test]
fn services_answer_in_both_directions_and_among_themselves() {
    let Some(domain) = Domain::reserve() else { return };
    call(&mut on_feros(&domain, "server"), &mut stock(&domain, "client"));
    let Some(domain) = Domain::reserve() else { return };
    call(&mut stock(&domain, "server"), &mut on_feros(&domain, "client"));
    let Some(domain) = Domain::reserve() else { return };
    call(&mut on_feros(&domain, "server"), &mut on_feros(&domain, "client"));
}

/// Messages of 2 MB, fewer than the depth of the history.
#[test]
fn large_messages_arrive_whole() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut talker, mut ours) = (on_feros(&domain, "talker"), on_feros(&domain, "ours"));
    let mut theirs = stock(&domain, "theirs");
    let endpoint =
        json!({"topic": "/image", "type": "sensor_msgs/msg/Image", "qos": {"depth": 10}});
    talker.ask("publisher", endpoint.clone());
    let mut wanted = endpoint;
    wanted["blocks"] = json!(true);
    for peer in [&mut ours, &mut theirs] {
        peer.ask("subscription", wanted.clone());
        peer.ask("matched", json!({"topic": "/image", "publishers": 1}));
    }
    talker.ask("matched", json!({"topic": "/image", "subscriptions": 2}));
    talker.ask("publish_blocks", json!({"topic": "/image", "count": 5, "size": 2_000_000}));
    for peer in [&mut ours, &mut theirs] {
        let taken = peer.ask("take", json!({"topic": "/image", "count": 5}));
        for (number, block) in taken.as_array().unwrap().iter().enumerate() {
            let expected = json!({"number": number, "size": 2_000_000, "intact": true});
            assert_eq!(block, &expected);
        }
    }
}

/// For every pair of values of each compared policy, the verdict is that of stock ROS 2.
#[test]
fn profiles_are_compared_as_stock_compares_them() {
    let Some(domain) = Domain::reserve() else { return };
    let script = r#"
import itertools
from rclpy.duration import Duration
from rclpy.qos import *
known = dict(depth=1, liveliness=LivelinessPolicy.AUTOMATIC)
policies = {
    "reliability": [ReliabilityPolicy[name] for name in ("SYSTEM_DEFAULT", "RELIABLE", "BEST_EFFORT", "UNKNOWN", "BEST_AVAILABLE")],
    "durability": [DurabilityPolicy[name] for name in ("SYSTEM_DEFAULT", "TRANSIENT_LOCAL", "VOLATILE", "UNKNOWN", "BEST_AVAILABLE")],
    "liveliness": [LivelinessPolicy[name] for name in ("SYSTEM_DEFAULT", "AUTOMATIC", "MANUAL_BY_TOPIC", "UNKNOWN", "BEST_AVAILABLE")],
    "deadline": [Duration(seconds=seconds) for seconds in (0, 1, 2)],
    "liveliness_lease_duration": [Duration(seconds=seconds) for seconds in (0, 1, 2)],
}
for name, values in policies.items():
    for offered, requested in itertools.product(values, values):
        sides = [QoSProfile(**{**known, name: value}) for value in (offered, requested)]
        print(name, offered, requested, qos_check_compatible(*sides)[0].name)
print("ok")
"#;
    assert_eq!(run_python(&domain, script, true), run_python(&domain, script, false));
}
