//! Tests complete nodes on this engine, under Debian's rosmaster. The tests check the parameters,
//! clocks and logs of these nodes with rospy.
#![allow(clippy::unwrap_used, missing_docs)]

mod ros1;

use std::sync::Arc;

use feros::{Arguments, Context, ContextOptions, NodeOptions, QosProfile, Time};
use feros_engine::SessionOptions;
use feros_test_support::eventually;
use ros1::{Ros1Node, World, wait_for_parameter};
use serde_json::{Value, json};

fn context(world: &World, arguments: &str) -> Context {
    let line = arguments.split_whitespace().map(str::to_owned);
    let options = ContextOptions {
        arguments: Arguments::parse(line).unwrap().0,
        engine: Some(Arc::new(world.engine())),
        ..ContextOptions::new(SessionOptions::default())
    };
    Context::new(options).unwrap()
}

/// The parameters that a node declares and sets are on the master, except those that ROS 1 cannot
/// represent.
#[test]
fn parameters_are_on_the_master() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.rospy("rospy");
    let node = context(&world, "").create_node("feros").unwrap();
    node.declare_parameter("rate", 2.5).unwrap();
    node.declare_parameter("frames.base", "base \"link\"").unwrap();
    node.declare_parameter("on", true).unwrap();
    node.declare_parameter("limits", [1, -2]).unwrap();
    node.declare_parameter("gains", [1.0, 0.5]).unwrap();
    node.declare_parameter("large", i64::MAX).unwrap();
    let count = node.declare_parameter("count", 7).unwrap();
    for (name, value) in [
        ("/feros/rate", json!(2.5)),
        ("/feros/frames/base", json!("base \"link\"")),
        ("/feros/on", json!(true)),
        ("/feros/limits", json!([1, -2])),
        ("/feros/gains", json!([1.0, 0.5])),
        ("/feros/count", json!(7)),
    ] {
        wait_for_parameter(&mut rospy, name, &value);
    }
    node.set_parameter("rate", 5.0).unwrap();
    count.set(8).unwrap();
    wait_for_parameter(&mut rospy, "/feros/rate", &json!(5.0));
    wait_for_parameter(&mut rospy, "/feros/count", &json!(8));
    let names = rospy.run(json!({"do": "parameter_names"}));
    let has = |name: &str| names.as_array().unwrap().contains(&json!(name));
    assert!(has("/feros/frames/base") && !has("/feros/large"), "{names}");
    // A copy on the master would override `/use_sim_time` at the next start.
    assert!(!has("/feros/use_sim_time"), "{names}");
    // If a parameter gets a value that ROS 1 cannot represent, its value on the master is deleted,
    // and the master continues to answer other nodes.
    node.set_parameter("count", 1_i64 << 40).unwrap();
    wait_for_parameter(&mut rospy, "/feros/count", &Value::Null);
}

/// When the node undeclares a parameter, it is removed from the master. When the node declares a
/// parameter with this name again, that parameter is also on the master.
#[test]
fn undeclared_parameters_leave_the_master() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.rospy("rospy");
    let node = context(&world, "").create_node("feros").unwrap();
    for name in ["gain", "frames.base"] {
        node.build_dynamic_parameter(name, 1.5).declare().unwrap();
    }
    wait_for_parameter(&mut rospy, "/feros/gain", &json!(1.5));
    wait_for_parameter(&mut rospy, "/feros/frames/base", &json!(1.5));
    node.undeclare_parameter("gain").unwrap();
    node.undeclare_parameter("frames.base").unwrap();
    wait_for_parameter(&mut rospy, "/feros/gain", &Value::Null);
    wait_for_parameter(&mut rospy, "/feros/frames/base", &Value::Null);
    node.declare_parameter("gain", 7).unwrap();
    wait_for_parameter(&mut rospy, "/feros/gain", &json!(7));
}

/// Values on the master override a node's defaults, and command-line arguments override the values
/// on the master.
#[test]
fn the_master_wins_over_defaults() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.rospy("rospy");
    for (name, value) in [("/feros/rate", json!(9.5)), ("/feros/depth", json!(3))] {
        rospy.run(json!({"do": "set_parameter", "name": name, "value": value}));
    }
    let node = context(&world, "--ros-args -p depth:=4").create_node("feros").unwrap();
    assert_eq!(node.declare_parameter("rate", 2.5).unwrap().get(), 9.5);
    assert_eq!(node.declare_parameter("depth", 1).unwrap().get(), 4);
    wait_for_parameter(&mut rospy, "/feros/depth", &json!(4));
    wait_for_parameter(&mut rospy, "/feros/rate", &json!(9.5));
    // The next node with this name starts with the values that this node had.
    node.set_parameter("rate", 7.0).unwrap();
    wait_for_parameter(&mut rospy, "/feros/rate", &json!(7.0));
    drop(node);
    let node = context(&world, "").create_node("feros").unwrap();
    assert_eq!(node.declare_parameter("rate", 2.5).unwrap().get(), 7.0);
}

/// A master that starts late or was restarted gets all parameters.
#[test]
fn a_new_master_gets_all_parameters() {
    let Some(mut world) = World::without_master() else { return };
    let node = context(&world, "").create_node("feros").unwrap();
    node.declare_parameter("rate", 2.5).unwrap();
    for round in 0..2 {
        world.start_master();
        let mut rospy = world.rospy("rospy");
        wait_for_parameter(&mut rospy, "/feros/rate", &json!(2.5));
        let name = format!("round{round}");
        node.declare_parameter(&name, round).unwrap();
        wait_for_parameter(&mut rospy, &format!("/feros/{name}"), &json!(round));
        drop(rospy);
        world.kill_master();
    }
}

fn wait_for_time(rospy: &mut Ros1Node, node: &feros::Node, secs: i64) {
    let expected = Time::from_nanos(secs * 1_000_000_000 + 5);
    eventually(|| {
        let clock = json!({"clock": {"secs": secs, "nsecs": 5}});
        rospy.publish("/clock", &clock);
        let now = node.clock().now();
        if now == expected { Ok(()) } else { Err(format!("{now:?} is not {expected:?}")) }
    });
}

/// If `/use_sim_time` is set on the master, or `use_sim_time` in the node, the node follows rospy's
/// `/clock`.
#[test]
fn clocks_follow_a_simulation_of_ros1() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({"do": "advertise", "topic": "/clock", "type": "rosgraph_msgs/Clock"}));
    let own = context(&world, "").create_node_with(NodeOptions::new("own")).unwrap();
    assert!(!own.clock().is_simulated());
    own.set_parameter("use_sim_time", true).unwrap();
    assert!(own.clock().is_simulated());
    wait_for_time(&mut rospy, &own, 100);
    rospy.run(json!({"do": "set_parameter", "name": "/use_sim_time", "value": true}));
    let told = context(&world, "").create_node("told").unwrap();
    assert!(told.clock().is_simulated());
    wait_for_time(&mut rospy, &told, 200);
    wait_for_time(&mut rospy, &own, 300);
    own.set_parameter("use_sim_time", false).unwrap();
    assert!(own.clock().now() > Time::from_nanos(1_000_000_000_000));
    // For a single node, arguments override the master's value.
    let arguments = "--ros-args -p use_sim_time:=false";
    assert!(!context(&world, arguments).create_node("real").unwrap().clock().is_simulated());
}

/// A node's log is published on `/rosout` in the ROS 1 format, with the levels of ROS 1.
#[test]
fn logs_are_those_of_ros1() {
    let Some(world) = World::new() else { return };
    feros::logging::init(&Arguments::default());
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({"do": "subscribe", "topic": "/rosout", "type": "rosgraph_msgs/Log"}));
    // If a process has several nodes with the same name, the logger belongs to only one of them.
    let node = context(&world, "").create_node("talkative").unwrap();
    type Text = feros::msgs::std_msgs::msg::String;
    let _chatter = node.create_publisher::<Text>("/chatter", QosProfile::default()).unwrap();
    let _heard = node.create_subscription("/heard", QosProfile::default(), |_: Text| {}).unwrap();
    let line = line!() + 1;
    feros::info!(node, "battery at {} %", 70);
    feros::warn!(node, "battery at {} %", 7);
    feros::error!(node, "battery at {} %", 0);
    for (level, text) in [(2, "battery at 70 %"), (4, "battery at 7 %"), (8, "battery at 0 %")] {
        let log = loop {
            let log = rospy.heard("/rosout")["message"].clone();
            if log["name"] == "talkative" && log["msg"].as_str().unwrap().starts_with("battery") {
                break log;
            }
        };
        assert_eq!((&log["level"], &log["msg"]), (&json!(level), &json!(text)));
        assert!(log["file"].as_str().unwrap().ends_with("under_master.rs"), "{log}");
        assert!(log["function"].as_str().unwrap().contains("under_master"), "{log}");
        assert!((line..line + 3).contains(&(log["line"].as_u64().unwrap() as u32)), "{log}");
        assert!(log["header"]["stamp"][0].as_u64().unwrap() > 0, "{log}");
        // Like roscpp's log messages, this log message lists the topics that the node publishes.
        assert_eq!(log["topics"], json!(["/chatter", "/parameter_events", "/rosout"]), "{log}");
    }
}
