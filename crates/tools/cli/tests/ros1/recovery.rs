//! Measures how soon messages arrive again after a master, a node or the bridge was killed and
//! restarted. It is run by hand: `cargo test -p feros-cli --features ros1 --test ros1 recovery --
//! --ignored --nocapture --test-threads 1`; the output is in note 0019.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use feros::QosProfile;
use feros::msgs::std_msgs::msg::String as Text;
use feros_test_support::{WATCHDOG, eventually};
use serde_json::json;

use crate::peers::{Ros1Node, World};
use crate::topics::subscribe;

const ROUNDS: usize = 10;
const STRING: &str = "std_msgs/String";

/// Prints a row of the table.
fn row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms = |time: Duration| time.as_millis();
    let middle = (times[(ROUNDS - 1) / 2] + times[ROUNDS / 2]) / 2;
    println!("| {what} | {} ms | {} ms |", ms(middle), ms(times[ROUNDS - 1]));
    assert_eq!(times.len(), ROUNDS);
}

fn latch(node: &mut Ros1Node, topic: &str, text: &str) {
    node.run(json!({"do": "advertise", "topic": topic, "type": STRING, "latch": true}));
    node.run(json!({"do": "publish", "topic": topic, "fields": {"data": text}}));
}

fn wait_for(heard: &Receiver<Text>, text: &str) {
    while heard.recv_timeout(WATCHDOG).unwrap().data != text {}
}

/// Whether the master knows a node at a topic.
fn is_registered(world: &World, topic: &str, node: &str) -> bool {
    let state = world.state();
    let mut all = state.publishers.iter().chain(&state.subscribers);
    all.any(|(name, nodes)| name == topic && nodes.iter().any(|known| known.starts_with(node)))
}

#[test]
#[ignore = "measures, for a minute"]
fn of_the_bridge() {
    let Some(mut world) = World::new() else { return };
    let ros2 = world.ros2();
    let qos = QosProfile::keep_last(1).transient_local();
    let (_in, heard) = subscribe::<Text>(&ros2, "/in", qos);
    let kept = ros2.node.create_publisher::<Text>("/out", qos).unwrap();
    kept.publish(Text { data: "kept".to_owned() }).unwrap();
    let mut bridge = world.bridge(&[]);
    let mut rospy = world.node("peer");
    latch(&mut rospy, "/in", "first");
    wait_for(&heard, "first");
    let (mut registered, mut again) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        world.kill_master();
        bridge.line_again("no ROS 1 master at", round + 1);
        world.start_master();
        let began = Instant::now();
        let text = format!("master {round}");
        latch(&mut rospy, "/in", &text);
        eventually(|| is_registered(&world, "/in", "/feros_ros1_bridge").then_some(()).ok_or("no"));
        registered.push(began.elapsed());
        wait_for(&heard, &text);
        again.push(began.elapsed());
        bridge.line_again("answers now", round + 1);
    }
    row("bridge: master restarted, until the bridge is registered again", registered);
    row("bridge: master restarted, until a message of ROS 1 is in ROS 2", again);
    let (mut to_ros2, mut to_ros1) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        drop(rospy);
        rospy = world.node("peer");
        let (began, text) = (Instant::now(), format!("peer {round}"));
        latch(&mut rospy, "/in", &text);
        wait_for(&heard, &text);
        to_ros2.push(began.elapsed());
        let began = Instant::now();
        rospy.run(json!({"do": "subscribe", "topic": "/out", "type": STRING}));
        assert_eq!(rospy.heard("/out")["message"]["data"], "kept");
        to_ros1.push(began.elapsed());
    }
    row("bridge: publisher of ROS 1 restarted, until its message is in ROS 2", to_ros2);
    row("bridge: subscriber of ROS 1 restarted, until it has a message of ROS 2", to_ros1);
    let mut again = Vec::new();
    for round in 0..ROUNDS {
        drop(bridge);
        let text = format!("bridge {round}");
        latch(&mut rospy, "/in", &text);
        let began = Instant::now();
        bridge = world.bridge(&[]);
        wait_for(&heard, &text);
        again.push(began.elapsed());
    }
    row("bridge: killed, from its start until a message of ROS 1 is in ROS 2", again);
}

#[cfg(feature = "ros1")]
#[test]
#[ignore = "measures, for a minute"]
fn of_the_engine() {
    const ECHO: [&str; 6] = ["--engine", "ros1", "topic", "echo", "/in", "std_msgs/msg/String"];
    let Some(mut world) = World::new() else { return };
    let mut echo = world.feros(&ECHO);
    let mut rospy = world.node("peer");
    latch(&mut rospy, "/in", "first");
    echo.line(|line| line == "data: first");
    let (mut registered, mut again) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        world.kill_master();
        echo.line_again("no ROS 1 master at", round + 1);
        world.start_master();
        let (began, text) = (Instant::now(), format!("master {round}"));
        latch(&mut rospy, "/in", &text);
        eventually(|| is_registered(&world, "/in", "/_feros").then_some(()).ok_or("no"));
        registered.push(began.elapsed());
        echo.line(|line| line == format!("data: {text}"));
        again.push(began.elapsed());
        echo.line_again("answers now", round + 1);
    }
    row("engine: master restarted, until its node is registered again", registered);
    row("engine: master restarted, until a message of rospy is there", again);
    let mut again = Vec::new();
    for round in 0..ROUNDS {
        drop(rospy);
        rospy = world.node("peer");
        let (began, text) = (Instant::now(), format!("peer {round}"));
        latch(&mut rospy, "/in", &text);
        echo.line(|line| line == format!("data: {text}"));
        again.push(began.elapsed());
    }
    row("engine: publisher restarted, until its message is there", again);
    let mut again = Vec::new();
    for round in 0..ROUNDS {
        drop(echo);
        let text = format!("program {round}");
        latch(&mut rospy, "/in", &text);
        let began = Instant::now();
        echo = world.feros(&ECHO);
        echo.line(|line| line == format!("data: {text}"));
        again.push(began.elapsed());
    }
    row("engine: killed, from its start until a message of rospy is there", again);
}
