//! Feros allows and refuses the same names as the validators of stock ROS 2, and a node, topic and
//! namespace with two underscores work on both sides.

use feros::NodeOptions;
use feros::engine::name::{validate_full_topic_name, validate_namespace, validate_node_name};
use feros::msgs::std_msgs::msg::String as Text;
use feros_interop::Domain;
use serde_json::{Value, json};

use crate::support::{WATCHDOG, context, stock};

/// The table of the unit tests of feros-engine; each row is a name and three verdicts.
const TABLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/engines/engine/tests/names.txt");

#[test]
fn names_are_allowed_as_stock_allows_them() {
    let Some(domain) = Domain::reserve() else { return };
    let table = std::fs::read_to_string(TABLE).unwrap();
    let mut names: Vec<String> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplitn(4, ' ').last().unwrap().to_owned())
        .collect();
    for length in [244, 245, 246, 247, 254, 255] {
        names.push("a".repeat(length));
        names.push(format!("/{}", "a".repeat(length)));
    }
    let theirs = stock(&domain).ask("names", json!({ "names": names }));
    let ours: Vec<Value> = names
        .iter()
        .map(|name| {
            let topic = validate_full_topic_name(name).is_ok();
            json!([topic, validate_namespace(name).is_ok(), validate_node_name(name).is_ok()])
        })
        .collect();
    for ((name, theirs), ours) in names.iter().zip(theirs.as_array().unwrap()).zip(&ours) {
        assert_eq!(ours, theirs, "{name:?}");
    }
}

#[test]
fn two_underscores_are_allowed_everywhere() {
    let Some(domain) = Domain::reserve() else { return };
    let mut stock = stock(&domain);
    let context = context(&domain);
    let options = NodeOptions::new("a__b").namespace("/veh__1");
    let node = context.create_node_with(options).unwrap();
    let topic = "/front__camera/text";
    stock.ask("subscription", json!({ "topic": topic, "type": "std_msgs/msg/String" }));
    let publisher = node.create_publisher::<Text>(topic, 10).unwrap();
    stock.ask("matched", json!({ "topic": topic, "publishers": 1 }));
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    publisher.publish(Text { data: "seen".into() }).unwrap();
    let taken = stock.ask("take", json!({ "topic": topic }));
    assert!(taken.to_string().contains("seen"), "{taken}");
}
