//! Nodes in namespaces: relative and private names are the same on both sides.

use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request};
use feros::{NodeOptions, QosProfile};
use feros_test_support::WATCHDOG;
use serde_json::json;

use crate::peers::World;
use crate::topics::subscribe;

#[test]
fn nodes_in_namespaces_find_each_other() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = world.ros2_with(NodeOptions::new("planner").namespace("/robot1"));
    let other = world.ros2_with(NodeOptions::new("planner").namespace("/robot2"));
    let (_scans, scans) = subscribe::<Text>(&ros2, "scan", QosProfile::default());
    let (_other, of_other) = subscribe::<Text>(&other, "scan", QosProfile::default());
    let mut rospy = world.node_with("driver", &["__ns:=/robot1"]);
    for topic in ["scan", "~state"] {
        rospy.run(json!({"do": "advertise", "topic": topic, "type": "std_msgs/String"}));
    }
    rospy.publish("scan", &json!({"data": "a scan"}));
    assert_eq!(scans.recv_timeout(WATCHDOG).unwrap().data, "a scan");
    let (_states, states) = subscribe::<Text>(&ros2, "/robot1/driver/state", QosProfile::default());
    rospy.publish("~state", &json!({"data": "running"}));
    assert_eq!(states.recv_timeout(WATCHDOG).unwrap().data, "running");

    rospy.run(json!({"do": "subscribe", "topic": "plan", "type": "std_msgs/String"}));
    let qos = QosProfile::keep_last(1).transient_local();
    let plans = ros2.node.create_publisher::<Text>("plan", qos).unwrap();
    plans.publish(Text { data: "a plan".to_owned() }).unwrap();
    assert_eq!(rospy.heard("plan")["message"]["data"], "a plan");

    let answer = json!({"success": true, "message": "on"});
    rospy.run(
        json!({"do": "serve", "service": "enable", "type": "std_srvs/SetBool", "answer": answer}),
    );
    let client = ros2.node.create_client::<SetBool>("enable").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let response = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    assert!(response.success);
    for name in [
        "topic /robot1/scan from ROS 1 to ROS 2",
        "topic /robot1/driver/state from ROS 1 to ROS 2",
        "topic /robot1/plan from ROS 2 to ROS 1",
        "service /robot1/enable of ROS 1, for ROS 2",
    ] {
        bridge.line(|line| line == format!("bridged: {name}"));
    }
    assert_eq!((bridge.count("/robot2"), of_other.try_iter().count()), (0, 0));
}
