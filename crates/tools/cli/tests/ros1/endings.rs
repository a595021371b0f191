//! The orderly end of the bridge. Terminals and launchers may send two signals at once, and a
//! session that closes sends SIGHUP; the end is the same as after Ctrl-C.

use feros::QosProfile;
use feros::msgs::std_msgs::msg::String as Text;
use feros_process::ignores_hangup;
use feros_test_support::WATCHDOG;
use serde_json::json;

use crate::peers::World;
use crate::topics::subscribe;

/// Signals that arrive together. SIGHUP alone ends nothing if the tests run under `nohup`, because
/// their children ignore it too.
fn together() -> impl Iterator<Item = &'static [&'static str]> {
    const ALL: [&[&str]; 4] = [&["INT", "INT"], &["INT", "TERM"], &["HUP"], &["HUP", "HUP"]];
    ALL.into_iter().filter(|signals| !ignores_hangup() || signals[0] != "HUP")
}

#[test]
fn a_bridge_says_what_went_over_it_and_leaves_the_master() {
    let Some(world) = World::new() else { return };
    let ros2 = world.ros2();
    let mut talker = world.node("talker");
    for (round, signals) in together().enumerate() {
        // On the topic of the round before, the talker may still know the bridge that has ended.
        let topic = format!("/in_{round}");
        let mut bridge = world.bridge(&[]);
        talker.run(json!({"do": "advertise", "topic": topic, "type": "std_msgs/String"}));
        let (_subscription, heard) = subscribe::<Text>(&ros2, &topic, QosProfile::default());
        bridge.line(|line| line == format!("bridged: topic {topic} from ROS 1 to ROS 2"));
        talker.publish(&topic, &json!({"data": "hello"}));
        assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, "hello");
        let said = bridge.end_with(signals);
        let last = said.iter().any(|line| line.starts_with("to ROS 2: 1, to ROS 1: 0, "));
        assert!(last, "{signals:?}: {said:#?}");
        let state = world.state();
        for (name, nodes) in state.publishers.iter().chain(&state.subscribers) {
            let is_bridge = |node: &String| node == "/feros_ros1_bridge";
            assert!(!nodes.iter().any(is_bridge), "{signals:?}: {name} has the bridge");
        }
    }
}

/// Before there is a master to leave, the bridge ends too.
#[test]
fn a_bridge_without_a_master_ends() {
    let world = World::under(feros_test_support::free_tcp_port());
    for signals in together() {
        let mut bridge = world.bridge(&[]);
        bridge.line(|line| line.contains("Ctrl-C ends the bridge"));
        let said = bridge.end_with(signals);
        assert!(
            said.iter().any(|line| line.starts_with("to ROS 2: 0, ")),
            "{signals:?}: {said:#?}"
        );
    }
}
