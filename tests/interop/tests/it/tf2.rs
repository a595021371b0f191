//! Transforms between stock nodes and Feros nodes: the type `tf2_msgs/msg/TFMessage` with its hash,
//! and the QoS policies of `tf2_ros`. No wheel contains `tf2_msgs`; the generators of the wheels
//! build it.

use std::path::Path;
use std::time::Duration;

use feros_interop::{Domain, Package, Peer};
use feros_test_support::until;
use feros_tf2::glam::DVec3;
use feros_tf2::{
    Buffer, StaticTransformBroadcaster, Time, Transform, TransformBroadcaster, TransformListener,
};
use serde_json::{Value, json};

use crate::support::{WATCHDOG, node};

const TYPE: &str = "tf2_msgs/msg/TFMessage";

fn stock(domain: &Domain) -> Peer {
    let package = Package::built("tf2_msgs", Path::new(env!("CARGO_TARGET_TMPDIR")));
    Peer::start_with(domain, "/theirs", "stock_node", &[package])
}

/// One transform, as stock ROS 2 writes it.
fn message(parent: &str, child: &str, x: f64, sec: i32) -> Value {
    json!({ "transforms": [{
        "header": { "stamp": { "sec": sec, "nanosec": 0 }, "frame_id": parent },
        "child_frame_id": child,
        "transform": { "translation": { "x": x, "y": 0.0, "z": 0.0 } },
    }] })
}

/// The QoS policies of `tf2_ros` for static transforms.
fn latched(depth: u32) -> Value {
    json!({ "depth": depth, "durability": "transient_local" })
}

#[test]
fn transforms_of_a_stock_node_are_known_here() {
    let Some(domain) = Domain::reserve() else { return };
    let mut stock = stock(&domain);
    stock.ask("publisher", json!({ "topic": "/tf_static", "type": TYPE, "qos": latched(1) }));
    stock.ask("publisher", json!({ "topic": "/tf", "type": TYPE, "qos": { "depth": 100 } }));
    let fixed = message("base", "laser", 0.25, 0);
    stock.ask("publish", json!({ "topic": "/tf_static", "values": [fixed] }));

    let node = node(&domain);
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&node, &buffer).unwrap();
    let found = buffer.wait_for_transform("base", "laser", Time::ZERO).wait(WATCHDOG).unwrap();
    assert_eq!(found.transform.translation.x, 0.25, "said before anybody listened");
    let matched = json!({ "topic": "/tf", "subscriptions": 1 });
    stock.ask("matched", matched);
    let moving = [message("odom", "base", 1.0, 10), message("odom", "base", 2.0, 11)];
    stock.ask("publish", json!({ "topic": "/tf", "values": moving }));
    let half = Time::from_nanos(10_500_000_000);
    let found = buffer.wait_for_transform("odom", "laser", half).wait(WATCHDOG).unwrap();
    assert_eq!(found.transform.translation.x, 1.75);
    until("the stock publisher has a name", || {
        let again = [message("odom", "base", 2.0, 11)];
        stock.ask("publish", json!({ "topic": "/tf", "values": again }));
        buffer.frames()["base"].authority == "/theirs/stock_node"
    });
    assert_eq!(buffer.counts().refused.total(), 0);
}

#[test]
fn transforms_of_feros_are_known_to_a_stock_node() {
    let Some(domain) = Domain::reserve() else { return };
    let node = node(&domain);
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    let moving = TransformBroadcaster::new(&node).unwrap();
    let at = |parent: &str, child: &str, x: f64| {
        let place = Transform::from_translation(DVec3::new(x, 0.0, 0.0));
        place.to_stamped(parent, child, Time::from_nanos(5_000_000_007))
    };
    fixed.send_transform(at("base", "laser", 0.25)).unwrap();
    fixed.send_transform(at("base", "camera", 0.5)).unwrap();

    let mut stock = stock(&domain);
    stock.ask("subscription", json!({ "topic": "/tf_static", "type": TYPE, "qos": latched(100) }));
    stock.ask("subscription", json!({ "topic": "/tf", "type": TYPE, "qos": { "depth": 100 } }));
    let taken = stock.ask("take", json!({ "topic": "/tf_static" }));
    let transforms = taken[0]["transforms"].as_array().unwrap();
    let names: Vec<_> = transforms.iter().map(|said| &said["child_frame_id"]).collect();
    assert_eq!(names, ["laser", "camera"], "one message has all: {taken}");
    moving.publisher().wait_for_subscriptions(1, Duration::from_secs(60)).unwrap();
    stock.ask("matched", json!({ "topic": "/tf", "publishers": 1 }));
    moving.send_transform(at("odom", "base", 2.0)).unwrap();
    let taken = stock.ask("take", json!({ "topic": "/tf" }));
    let said = &taken[0]["transforms"][0];
    assert_eq!(said["transform"]["translation"]["x"], 2.0, "{taken}");
    assert_eq!(said["transform"]["rotation"]["w"], 1.0, "{taken}");
    assert_eq!(said["header"]["stamp"], json!({ "sec": 5, "nanosec": 7 }));
}
