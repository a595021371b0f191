//! ROS 1 on one host, the bridge and ROS 2 on another, and the link between them cut for a while.
//! Needs root; without it the test prints that and is skipped.

use feros_link::LinkOptions;
use feros_test_support::eventually;
use serde_json::{Value, json};

use crate::peers::{Ros1Node, World};

fn counted(node: &mut Ros1Node) -> (u64, String) {
    let counted: Value = node.run(json!({"do": "counted", "topic": "/out"}));
    serde_json::from_value(counted).unwrap()
}

/// The number after a word of the bridge's summary.
fn number(summary: &str, word: &str) -> u64 {
    let (_, rest) = summary.split_once(word).unwrap_or_else(|| panic!("{word} in {summary}"));
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Messages flow again in both directions when the link returns. No message from ROS 1 is lost,
/// because a connection keeps them; for ROS 1, the bridge counts every message that a queue of ten
/// could not keep.
#[test]
fn messages_go_on_when_a_link_is_there_again() {
    let Some((world, link)) = World::apart() else { return };
    let mut bridge = world.bridge(&["--queue", "10", "--status", "1"]);
    let mut rospy = world.node("far");
    rospy.run(json!({"do": "advertise", "topic": "/in", "type": "std_msgs/String"}));
    rospy.run(json!({"do": "count", "topic": "/out", "type": "std_msgs/String"}));
    let mut echo = world.feros(&["topic", "echo", "/in", "std_msgs/msg/String"]);
    let block = format!("data: {}", "x".repeat(50_000));
    let pub_out = ["topic", "pub", "-r", "50", "/out", "std_msgs/msg/String", &block];
    let publishing = world.feros(&pub_out);
    rospy.publish("/in", &json!({"data": "joined"}));
    echo.line(|line| line == "data: joined");
    eventually(|| if counted(&mut rospy).0 > 0 { Ok(()) } else { Err("nothing came") });

    link.set(LinkOptions { loss: 1.0, ..LinkOptions::default() }).unwrap();
    for text in ["parted 1", "parted 2"] {
        rospy.run(json!({"do": "publish", "topic": "/in", "fields": {"data": text}}));
    }
    let said = bridge.line(|line| line.contains("no ROS 1 master at"));
    assert!(said.contains("waiting for it"), "{said}");
    bridge.line(|line| line.contains("dropped for ROS 1: ") && !line.contains("for ROS 1: 0"));
    assert_eq!(echo.count("parted"), 0);
    let before = counted(&mut rospy).0;

    link.set(LinkOptions::default()).unwrap();
    bridge.line(|line| line.contains("the ROS 1 master at") && line.ends_with("answers now"));
    rospy.publish("/in", &json!({"data": "joined again"}));
    for text in ["parted 1", "parted 2", "joined again"] {
        echo.line(|line| line == format!("data: {text}"));
    }
    eventually(|| {
        if counted(&mut rospy).0 > before + 20 { Ok(()) } else { Err("nothing comes any more") }
    });
    let _ = publishing.interrupt();
    let last =
        world.feros(&["topic", "pub", "-r", "10", "/out", "std_msgs/msg/String", "data: last"]);
    eventually(|| {
        let (_, text) = counted(&mut rospy);
        if text == "last" { Ok(()) } else { Err(text) }
    });
    let _ = last.interrupt();
    // A closed connection still delivers what was written before.
    let said = bridge.interrupt();
    let summary = said.iter().rfind(|line| line.starts_with("to ROS 2: ")).unwrap();
    let (sent, dropped) = (number(summary, "to ROS 1:"), number(summary, "dropped for ROS 1:"));
    assert!(dropped > 0 && number(summary, "to ROS 2:") == 4, "{summary}");
    eventually(|| {
        let (received, _) = counted(&mut rospy);
        if received + dropped == sent { Ok(()) } else { Err(format!("{received}, {summary}")) }
    });
    let lost = dropped + number(summary, "lost in ROS 2:");
    let warning = format!("{lost} messages or calls did not arrive");
    assert!(said.iter().any(|line| line.contains(&warning)), "{said:#?}");
}
