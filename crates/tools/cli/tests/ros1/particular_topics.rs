//! Topics that every system has: `/clock`, `/rosout` and `/tf_static`.

use feros::msgs::builtin_interfaces::msg::Time as TimeMessage;
use feros::msgs::rcl_interfaces::msg::Log;
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::msgs::tf2_msgs::msg::TFMessage;
use feros::{NodeOptions, QosProfile, Time};
use feros_test_support::{WATCHDOG, eventually};
use serde_json::{Value, json};

use crate::peers::{Ros1Node, Ros2, World};
use crate::topics::subscribe;

/// A node of ROS 2 with `use_sim_time` follows a simulation of ROS 1.
#[test]
fn a_clock_of_ros1_is_followed_in_ros2() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let ros2 = world.ros2_with(NodeOptions::new("robot").use_sim_time(true));
    assert_eq!(ros2.node.now(), Time::ZERO);
    let mut simulator = world.node("gazebo");
    simulator.run(json!({"do": "advertise", "topic": "/clock", "type": "rosgraph_msgs/Clock"}));
    for (seconds, nanoseconds) in [(7, 0), (8, 500_000_000)] {
        let clock = json!({"clock": {"secs": seconds, "nsecs": nanoseconds}});
        simulator.publish("/clock", &clock);
        let time = Time::from_nanos(seconds * 1_000_000_000 + nanoseconds);
        eventually(|| {
            let now = ros2.node.now();
            if now == time { Ok(()) } else { Err(format!("{now:?}")) }
        });
    }
}

/// A node of ROS 1 under `/use_sim_time` follows a simulation of ROS 2.
#[test]
fn a_clock_of_ros2_is_followed_in_ros1() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let mut before = world.node("before");
    before.run(json!({"do": "set_parameter", "name": "/use_sim_time", "value": true}));
    let mut rospy = world.node("follower");
    assert_eq!(rospy.run(json!({"do": "now"})), json!(0.0));
    let ros2 = world.ros2();
    let clock = ros2.node.create_publisher::<Clock>("/clock", QosProfile::keep_last(1)).unwrap();
    for (sec, nanosec, expected) in [(7, 0, 7.0), (8, 500_000_000, 8.5)] {
        // A simulation publishes the time again and again.
        eventually(|| {
            clock.publish(Clock { clock: TimeMessage { sec, nanosec } }).unwrap();
            let now = rospy.run(json!({"do": "now"}));
            if now == json!(expected) { Ok(()) } else { Err(now) }
        });
    }
}

/// A node of ROS 2 that logs. It has a name of its own, because nodes of one name in a process
/// share their log.
fn logging(world: &World, name: &str) -> Ros2 {
    feros::logging::init(&feros::Arguments::default());
    world.ros2_with(NodeOptions::new(name))
}

/// ROS 2 receives the logs of ROS 1, with the name of the node, the position in the code and ROS
/// 2's levels; at the same time, ROS 1 receives the logs of ROS 2. Each line arrives once.
#[test]
fn logs_are_read_on_the_other_side() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = logging(&world, "planner");
    let (_subscription, heard) = subscribe::<Log>(&ros2, "/rosout", QosProfile::rosout_default());
    let mut rospy = world.node_with("driver", &["--log"]);
    rospy.run(json!({"do": "subscribe", "topic": "/rosout", "type": "rosgraph_msgs/Log"}));
    bridge.line(|line| line == "bridged: topic /rosout from ROS 1 to ROS 2");
    bridge.line(|line| line == "bridged: topic /rosout from ROS 2 to ROS 1");
    let hears = |rospy: &mut Ros1Node, text: &str| {
        rospy.run(json!({"do": "now"}));
        rospy.heard_line("/rosout", |line| line["msg"] == text)
    };
    eventually(|| {
        rospy.run(json!({"do": "log", "level": "loginfo", "text": "is ROS 2 there?"}));
        heard.try_iter().any(|log| log.msg == "is ROS 2 there?").then_some(()).ok_or("not yet")
    });
    eventually(|| {
        feros::info!(ros2.node, "is ROS 1 there?");
        if hears(&mut rospy, "is ROS 1 there?").is_some() { Ok(()) } else { Err("not yet") }
    });
    for (level, text) in
        [("loginfo", "one"), ("logwarn", "two"), ("logerr", "three"), ("logfatal", "four")]
    {
        rospy.run(json!({"do": "log", "level": level, "text": text}));
    }
    feros::warn!(ros2.node, "a warning");
    feros::error!(ros2.node, "an error");
    rospy.run(json!({"do": "log", "level": "loginfo", "text": "the last one"}));
    let mut logs = Vec::new();
    while logs.last().is_none_or(|log: &Log| log.msg != "the last one") {
        logs.push(heard.recv_timeout(WATCHDOG).unwrap());
    }
    let levels = |text: &str| -> Vec<u8> {
        logs.iter().filter(|log| log.msg == text).map(|log| log.level).collect()
    };
    for (text, level) in
        [("one", Log::INFO), ("two", Log::WARN), ("three", Log::ERROR), ("four", Log::FATAL)]
    {
        assert_eq!(levels(text), [level], "{text}: {logs:#?}");
    }
    let one = logs.iter().find(|log| log.msg == "one").unwrap();
    assert_eq!(one.name, "/driver");
    assert!(one.file.ends_with("node.py") && one.line > 0 && one.stamp.sec > 0, "{one:#?}");
    // rospy's own subscription receives the logs of ROS 2, and none of them twice.
    let warning = eventually(|| hears(&mut rospy, "a warning").ok_or("not yet"));
    assert_eq!((&warning["level"], &warning["name"]), (&json!(4), &json!("planner")));
    let error = eventually(|| hears(&mut rospy, "an error").ok_or("not yet"));
    assert_eq!(error["level"], json!(8));
    assert_eq!(hears(&mut rospy, "a warning"), None::<Value>);
    // One publisher of ROS 1 is rospy itself, which receives its own message once.
    assert!(hears(&mut rospy, "four").is_some());
    assert_eq!(hears(&mut rospy, "four"), None::<Value>);
}

/// A late subscriber of ROS 1's log does not get earlier logs of ROS 2, although that log is
/// transient local.
#[test]
fn a_late_reader_of_the_log_gets_nothing_old() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = logging(&world, "patient");
    feros::info!(ros2.node, "long ago");
    let mut rospy = world.node("reader");
    rospy.run(json!({"do": "subscribe", "topic": "/rosout", "type": "rosgraph_msgs/Log"}));
    bridge.line(|line| line == "bridged: topic /rosout from ROS 2 to ROS 1");
    eventually(|| {
        feros::info!(ros2.node, "now");
        rospy.run(json!({"do": "now"}));
        rospy.heard_line("/rosout", |line| line["msg"] == "now").map(drop).ok_or("not yet")
    });
    assert_eq!(rospy.heard_line("/rosout", |line| line["msg"] == "long ago"), None::<Value>);
}

fn broadcaster(world: &World, child: &str) -> Ros1Node {
    let mut node = world.node(child);
    let topic = "/tf_static";
    node.run(
        json!({"do": "advertise", "topic": topic, "type": "tf2_msgs/TFMessage", "latch": true}),
    );
    let transform = json!({"header": {"frame_id": "base"}, "child_frame_id": child,
        "transform": {"translation": {"x": 1, "y": 2, "z": 3}, "rotation": {"x": 0, "y": 0, "z": 0, "w": 1}}});
    node.run(json!({"do": "publish", "topic": topic, "fields": {"transforms": [transform]}}));
    node
}

/// A subscription of ROS 2 gets the static transforms of all publishers of ROS 1: the first one,
/// one that comes later, and one that comes when all others have left.
#[test]
fn static_transforms_of_several_nodes_of_ros1_reach_late_subscriptions() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let mut nodes: Vec<Ros1Node> =
        ["camera", "lidar"].iter().map(|child| broadcaster(&world, child)).collect();
    let qos = || QosProfile::keep_last(100).transient_local();
    let children = |count: usize| {
        let (subscription, heard) = subscribe::<TFMessage>(&ros2, "/tf_static", qos());
        let mut children: Vec<String> = (0..count)
            .map(|_| {
                let message = heard.recv_timeout(WATCHDOG).unwrap();
                assert_eq!(message.transforms[0].transform.translation.z, 3.0);
                message.transforms[0].child_frame_id.clone()
            })
            .collect();
        children.sort();
        (subscription, heard, children)
    };
    let (early, heard, known) = children(2);
    assert_eq!(known, ["camera", "lidar"]);
    let (late, _heard, known) = children(2);
    assert_eq!(known, ["camera", "lidar"]);
    nodes.push(broadcaster(&world, "imu"));
    let third = heard.recv_timeout(WATCHDOG).unwrap();
    assert_eq!(third.transforms[0].child_frame_id, "imu");
    drop((early, late));
    bridge.line(|line| line == "no longer bridged: topic /tf_static from ROS 1 to ROS 2");
    let (_last, _heard, known) = children(3);
    assert_eq!(known, ["camera", "imu", "lidar"]);
}
