//! Tests that a node gets the values that other nodes set for its parameters on Debian's rosmaster
//! while the node runs.
#![allow(clippy::unwrap_used, missing_docs)]

mod ros1;
mod said;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use feros::{Context, ContextOptions, Node, ParameterValue, QosProfile};
use feros_engine::SessionOptions;
use feros_test_support::{WATCHDOG, eventually};
use ros1::{Ros1Node, World, wait_for_parameter};
use said::{all_said, listen, said};
use serde_json::{Value, json};

fn node(world: &World, name: &str) -> Node {
    let options = ContextOptions {
        engine: Some(Arc::new(world.engine())),
        ..ContextOptions::new(SessionOptions::default())
    };
    Context::new(options).unwrap().create_node(name).unwrap()
}

/// Sets a parameter like `rosparam set`.
fn set(rospy: &mut Ros1Node, name: &str, value: &Value) {
    rospy.run(json!({"do": "set_parameter", "name": name, "value": value}));
}

fn wait_for_node(node: &Node, name: &str, expected: impl Into<ParameterValue>) {
    let expected = expected.into();
    eventually(|| {
        let found = node.get_parameter(name).unwrap();
        if found == expected { Ok(()) } else { Err(format!("{name} is {found:?}")) }
    });
}

/// The node gets values of all kinds, trees of values, and values that were set before the node
/// subscribed to changes.
#[test]
fn parameters_that_other_nodes_set_are_followed() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.rospy("rospy");
    let node = node(&world, "feros");
    node.declare_parameter("rate", 2.5).unwrap();
    node.declare_parameter("count", 1).unwrap();
    node.declare_parameter("name", "a").unwrap();
    node.declare_parameter("gains", vec![1.0]).unwrap();
    node.declare_parameter("frames.base", "base").unwrap();
    node.declare_parameter("frames.odom", "odom").unwrap();
    // A value that the node sets overwrites the master's value, so the test first waits until the
    // node's values are on the master.
    wait_for_parameter(&mut rospy, "/feros/frames/odom", &json!("odom"));
    wait_for_parameter(&mut rospy, "/feros/rate", &json!(2.5));
    set(&mut rospy, "/feros/rate", &json!(7.5));
    set(&mut rospy, "/feros/count", &json!(-3));
    set(&mut rospy, "/feros/name", &json!("yes: \"b\"\n"));
    set(&mut rospy, "/feros/gains", &json!([0.5, 0.25]));
    wait_for_node(&node, "rate", 7.5);
    wait_for_node(&node, "count", -3);
    wait_for_node(&node, "name", "yes: \"b\"\n");
    wait_for_node(&node, "gains", vec![0.5, 0.25]);
    set(&mut rospy, "/feros/frames", &json!({"base": "link", "odom": "world", "other": 1}));
    wait_for_node(&node, "frames.base", "link");
    wait_for_node(&node, "frames.odom", "world");
    set(&mut rospy, "/feros", &json!({"rate": 1.5, "count": 2}));
    wait_for_node(&node, "rate", 1.5);
    wait_for_node(&node, "count", 2);
    assert!(!node.has_parameter("frames.other"), "parameters of others do not appear in the node");
    // The master sends no reports to a node that has left, and continues to answer.
    drop(node);
    set(&mut rospy, "/feros/rate", &json!(3.5));
    wait_for_parameter(&mut rospy, "/feros/rate", &json!(3.5));
}

/// If a callback refuses a value, or if the value has the wrong type, a warning is logged, and both
/// the node and the master keep the node's value.
#[test]
fn a_node_may_refuse() {
    let Some(world) = World::new() else { return };
    listen();
    let mut rospy = world.rospy("rospy");
    let node = node(&world, "picky");
    node.declare_parameter("speed", 1.0).unwrap();
    let _guard = node.add_on_set_parameters_callback(|parameters| {
        match parameters.iter().any(|(_, value)| *value == ParameterValue::Double(99.0)) {
            true => Err("too fast for this robot".to_owned()),
            false => Ok(()),
        }
    });
    wait_for_parameter(&mut rospy, "/picky/speed", &json!(1.0));
    set(&mut rospy, "/picky/speed", &json!(2.0));
    wait_for_node(&node, "speed", 2.0);
    set(&mut rospy, "/picky/speed", &json!(99.0));
    let text = said("too fast for this robot");
    assert!(text.contains("/picky/speed") && text.contains("99.0"), "{text}");
    wait_for_parameter(&mut rospy, "/picky/speed", &json!(2.0));
    set(&mut rospy, "/picky/speed", &json!("fast"));
    wait_for_parameter(&mut rospy, "/picky/speed", &json!(2.0));
    assert!(said("the node refuses \"fast\"").contains("keeps its value"));
    assert_eq!(node.get_parameter("speed").unwrap(), ParameterValue::Double(2.0));
    set(&mut rospy, "/picky/speed", &json!(3.0));
    wait_for_node(&node, "speed", 3.0);
    assert_eq!(all_said("too fast for this robot").len(), 1);
}

/// A value that the node sets does not return to it. The node's callbacks run once for each value
/// that it sets, and the last of these values remains, even if other nodes set values in the
/// meantime.
#[test]
fn own_changes_do_not_come_back() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.rospy("rospy");
    let node = node(&world, "feros");
    node.declare_parameter("count", 0).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let _guard = node.add_post_set_parameters_callback(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    wait_for_parameter(&mut rospy, "/feros/count", &json!(0));
    for number in 1..=100 {
        node.set_parameter("count", number).unwrap();
        if number % 20 == 0 {
            wait_for_parameter(&mut rospy, "/feros/count", &json!(number));
        }
    }
    // If any value returned, it would arrive before this value.
    set(&mut rospy, "/feros/count", &json!(1000));
    wait_for_node(&node, "count", 1000);
    let called = || calls.load(Ordering::Relaxed);
    eventually(|| if called() >= 101 { Ok(()) } else { Err(called()) });
    assert_eq!(called(), 101);
    for number in 0..50 {
        node.set_parameter("count", number).unwrap();
        set(&mut rospy, "/feros/count", &json!(-number));
    }
    set(&mut rospy, "/feros/count", &json!(7));
    eventually(|| {
        let own = node.get_parameter("count").unwrap();
        let there = rospy.run(json!({"do": "get_parameter", "name": "/feros/count"}));
        match (own, there) {
            (ParameterValue::Integer(own), there) if there == json!(own) => Ok(()),
            other => Err(format!("{other:?} are two values")),
        }
    });
}

/// A restarted master reports changes to the node, like the previous master.
#[test]
fn a_new_master_is_followed() {
    let Some(mut world) = World::new() else { return };
    let node = node(&world, "feros");
    node.declare_parameter("rate", 2.5).unwrap();
    for round in [10.0, 20.0] {
        let mut rospy = world.rospy("rospy");
        // The node's previous value is on the new master again, so a value that is set now has an
        // effect.
        let before = node.get_parameter("rate").unwrap();
        let ParameterValue::Double(before) = before else { panic!("{before:?}") };
        wait_for_parameter(&mut rospy, "/feros/rate", &json!(before));
        set(&mut rospy, "/feros/rate", &json!(round));
        wait_for_node(&node, "rate", round);
        drop(rospy);
        world.kill_master();
        world.start_master();
    }
}

/// A slow callback delays only the values that follow.
#[test]
fn a_slow_callback_holds_no_lock() {
    let Some(world) = World::new() else { return };
    let mut rospy = world.rospy("rospy");
    let node = node(&world, "slow");
    node.declare_parameter("gain", 1).unwrap();
    let (entered, is_in) = sync_channel::<()>(100);
    let (leave, may_leave) = sync_channel::<()>(100);
    let may_leave = std::sync::Mutex::new(may_leave);
    let guard = node.add_on_set_parameters_callback(move |_| {
        let _ = entered.try_send(());
        let _ = may_leave.lock().unwrap().recv_timeout(Duration::from_secs(60));
        Ok(())
    });
    wait_for_parameter(&mut rospy, "/slow/gain", &json!(1));
    set(&mut rospy, "/slow/gain", &json!(2));
    is_in.recv_timeout(WATCHDOG).unwrap();
    // The node and its process continue to work: topics, reads of other parameters, and calls to
    // the master.
    for number in 3..500 {
        set(&mut rospy, "/slow/gain", &json!(number));
    }
    type Text = feros::msgs::std_msgs::msg::String;
    let (sender, heard) = sync_channel(100);
    let _subscription = node
        .create_subscription("/alive", QosProfile::default(), move |message: Text| {
            let _ = sender.try_send(message.data);
        })
        .unwrap();
    rospy.run(json!({"do": "advertise", "topic": "/alive", "type": "std_msgs/String"}));
    let executor = feros::Executor::new();
    executor.add_node(&node).unwrap();
    rospy.publish("/alive", &json!({"data": "yes"}));
    std::thread::scope(|scope| {
        let stopper = executor.stopper();
        let spinning = scope.spawn(|| executor.spin());
        let alive = heard.recv_timeout(WATCHDOG);
        stopper.stop();
        spinning.join().unwrap().unwrap();
        assert_eq!(alive.unwrap(), "yes");
    });
    assert_eq!(node.get_parameter("gain").unwrap(), ParameterValue::Integer(1));
    drop(leave);
    wait_for_node(&node, "gain", 499);
    drop(guard);
}
