//! Messages that a slow subscriber of ROS 1 does not get are counted and reported.

use feros::QosProfile;
use feros::msgs::std_msgs::msg::UInt8MultiArray;
use serde_json::json;

use crate::peers::World;

const TOPIC: &str = "/blocks";
const BLOCKS: u8 = 60;
const BLOCK_BYTES: usize = 1 << 20;
/// The value of the message that comes before the blocks.
const FIRST: u8 = 255;

/// Of 60 MB, a subscriber that reads nothing until all are published gets as much as the sockets
/// and a queue of five hold; the bridge counts all other messages as dropped.
#[test]
fn messages_that_give_way_are_counted() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&["--queue", "5", "--status", "1"]);
    let ros2 = world.ros2();
    let mut fast = world.node("fast");
    fast.run(json!({"do": "subscribe", "topic": TOPIC, "type": "std_msgs/UInt8MultiArray"}));
    // Latched, so that each subscriber gets the first message exactly once; a subscriber that has
    // it is connected.
    let qos = QosProfile::keep_last(5).transient_local();
    let publisher = ros2.node.create_publisher::<UInt8MultiArray>(TOPIC, qos).unwrap();
    let block = |number: u8, len: usize| {
        let mut data = vec![0; len];
        data[0] = number;
        UInt8MultiArray { data, ..UInt8MultiArray::default() }
    };
    publisher.publish(block(FIRST, 1)).unwrap();
    bridge.line(|line| line.starts_with("bridged: topic /blocks"));
    assert_eq!(fast.heard(TOPIC)["message"]["data"]["len"], 1);
    let mut slow = world.node("slow");
    let first = slow.run(json!({"do": "connect_without_reading", "topic": TOPIC}));
    assert_eq!(first, FIRST);
    for number in 0..BLOCKS {
        publisher.publish(block(number, BLOCK_BYTES)).unwrap();
        // Once the fast subscriber has the message, the bridge has given it to both.
        while fast.heard(TOPIC)["message"]["data"]["len"] != BLOCK_BYTES {}
    }
    let numbers = slow.run(json!({"do": "read_numbers", "topic": TOPIC, "last": BLOCKS - 1}));
    let numbers: Vec<u64> = serde_json::from_value(numbers).unwrap();
    assert!(numbers.is_sorted_by(|one, two| one < two), "{numbers:?}");
    let lost = usize::from(BLOCKS) - numbers.len();
    assert!(lost > 0, "{numbers:?}");
    bridge.line(|line| line.contains("dropped for ROS 1: ") && !line.contains("ROS 1: 0"));
    let said = bridge.interrupt();
    let summary = said.iter().rfind(|line| line.starts_with("to ROS 2: ")).unwrap();
    let dropped = format!("lost in ROS 2: 0, dropped for ROS 1: {lost}, failed: 0");
    assert!(summary.ends_with(&dropped), "{numbers:?} {said:#?}");
    let warning = format!("{lost} messages or calls did not arrive");
    assert!(said.iter().any(|line| line.contains(&warning)), "{said:#?}");
}
