//! The bridge beside roscpp: topics and services in both directions, and a nodelet in its manager.

use feros::QosProfile;
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_test_support::{WATCHDOG, eventually};
use serde_json::{Value, json};

use crate::peers::{Ros1Node, World};
use crate::topics::subscribe;

fn publish(node: &mut Ros1Node, topic: &str, text: &str) {
    eventually(|| {
        let published = node.run(json!(format!("publish {topic} {text}")));
        if published == json!(true) { Ok(()) } else { Err("nobody is connected") }
    });
}

#[test]
fn topics_and_services_of_roscpp_go_both_ways() {
    let Some(program) = crate::roscpp::program() else { return };
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let mut roscpp = world.node_of(program, "cpp");
    let (_in, heard) = subscribe::<Text>(&ros2, "/in", QosProfile::default());
    roscpp.run(json!("advertise /in"));
    for text in ["one", "two", "three"] {
        publish(&mut roscpp, "/in", text);
        assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, text);
    }
    let latched = QosProfile::keep_last(1).transient_local();
    roscpp.run(json!("advertise /map latch"));
    roscpp.run(json!("publish /map kept"));
    let (_map, maps) = subscribe::<Text>(&ros2, "/map", latched);
    assert_eq!(maps.recv_timeout(WATCHDOG).unwrap().data, "kept");

    roscpp.run(json!("subscribe /out"));
    let publisher = ros2.node.create_publisher::<Text>("/out", latched).unwrap();
    for text in ["one", "two", "three"] {
        publisher.publish(Text { data: text.to_owned() }).unwrap();
        assert_eq!(roscpp.heard("/out")["message"]["data"], text);
    }

    roscpp.run(json!("serve /lamp"));
    let client = ros2.node.create_client::<SetBool>("/lamp").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    for data in [true, false] {
        let response = client.call_and_wait(&SetBool_Request { data }, WATCHDOG).unwrap();
        assert_eq!((response.success, &*response.message), (data, "from roscpp"));
    }
    let handler = |request: SetBool_Request| SetBool_Response {
        success: !request.data,
        message: "from ROS 2".to_owned(),
    };
    let _service = ros2.node.create_service::<SetBool, _>("/fan", handler).unwrap();
    for data in [true, false] {
        let answer: Value = roscpp.run(json!(format!("call /fan {data}")));
        assert_eq!(answer, json!({"success": !data, "message": "from ROS 2"}));
    }
    // The bridge finds the node again after the node was killed and restarted.
    drop(roscpp);
    let mut roscpp = world.node_of(program, "cpp");
    roscpp.run(json!("advertise /in"));
    publish(&mut roscpp, "/in", "again");
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, "again");
    assert_eq!(bridge.count("is not bridged"), 0);
}

/// Nodelets of one manager share a node of ROS 1. They pass pointers among themselves, and the
/// bridge gets their messages like any subscriber.
#[test]
fn a_nodelet_publishes_over_the_bridge() {
    let Some(program) = crate::roscpp::program() else { return };
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let mut manager = world.node_of(program, "manager");
    let (_in, heard) = subscribe::<Text>(&ros2, "/points", QosProfile::default());
    assert_eq!(manager.run(json!("load_talker /talker /points")), json!(true));
    assert_eq!(manager.run(json!("load_listener /listener /points")), json!(true));
    manager.run(json!("load_listener /commands /cmd"));
    // Both receive each message: the nodelet by pointer, ROS 2 through the bridge, once.
    let bridged = |manager: &mut Ros1Node, text: &str| {
        publish(manager, "/points", text);
        assert_eq!(manager.heard("/points")["message"]["data"], text);
        heard.try_iter().any(|message| message.data == text)
    };
    eventually(|| if bridged(&mut manager, "is ROS 2 there?") { Ok(()) } else { Err("not yet") });
    for text in ["one", "two"] {
        publish(&mut manager, "/points", text);
        assert_eq!(manager.heard("/points")["message"]["data"], text);
    }
    let mut texts = Vec::new();
    while texts.last().is_none_or(|text| text != "two") {
        texts.push(heard.recv_timeout(WATCHDOG).unwrap().data);
    }
    texts.retain(|text| text != "is ROS 2 there?");
    assert_eq!(texts, ["one", "two"]);
    let qos = QosProfile::keep_last(1).transient_local();
    let publisher = ros2.node.create_publisher::<Text>("/cmd", qos).unwrap();
    publisher.publish(Text { data: "drive".to_owned() }).unwrap();
    assert_eq!(manager.heard("/cmd")["message"]["data"], "drive");
}
