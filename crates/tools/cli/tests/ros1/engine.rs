//! `feros --engine ros1`: the command as a node of ROS 1 itself, without a bridge.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::peers::World;

/// A watchdog.
const PATIENCE: Duration = Duration::from_secs(60);

/// rospy receives the command's messages, and the command prints rospy's.
#[test]
fn topics_go_both_ways_without_a_bridge() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.node("rospy");
    rospy.run(json!({"do": "subscribe", "topic": "/chatter", "type": "std_msgs/String"}));
    let publishing = world.feros(&[
        "--engine",
        "ros1",
        "topic",
        "pub",
        "-r",
        "20",
        "/chatter",
        "std_msgs/msg/String",
        "data: hello",
    ]);
    assert_eq!(rospy.heard("/chatter")["message"]["data"], "hello");
    drop(publishing);
    rospy.run(json!({"do": "advertise", "topic": "/scan", "type": "std_msgs/String"}));
    let arguments = ["--engine", "ros1", "topic", "echo", "/scan", "std_msgs/msg/String"];
    let mut echo = world.feros(&arguments);
    rospy.publish("/scan", &json!({"data": "from rospy"}));
    echo.line(|line| line.contains("from rospy"));
}

/// The command calls a service of rospy, and lists the names of the master.
#[test]
fn services_and_the_graph_are_those_of_the_master() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.node("rospy");
    rospy.run(json!({
        "do": "serve", "service": "/power", "type": "std_srvs/SetBool",
        "answer": {"success": true, "message": "on"}
    }));
    let arguments =
        ["--engine", "ros1", "service", "call", "/power", "std_srvs/srv/SetBool", "data: true"];
    let (code, said) = world.feros(&arguments).finish();
    assert_eq!(code, Some(0), "{said:#?}");
    assert!(
        said.iter().any(|line| line.contains("message: 'on'") || line.contains("message: on")),
        "{said:#?}"
    );
    is_listed(&world, &["node", "list"], "/rospy");
    is_listed(&world, &["service", "list", "-t"], "/power [std_srvs/srv/SetBool]");
}

/// Repeats the command until it prints this line: on a busy machine its first lists may come before
/// the answers of the master and its nodes.
fn is_listed(world: &World, arguments: &[&str], wanted: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (_, said) = world.feros(&[&["--engine", "ros1"], arguments].concat()).finish();
        if said.iter().any(|line| line == wanted) {
            return;
        }
        assert!(Instant::now() < deadline, "{wanted} is not in {said:#?}");
    }
}
