//! The bridge keeps no endpoint without a user: when the last other endpoint leaves, the bridge
//! leaves both sides as well.

use feros::QosProfile;
use feros::engine::EndpointKind;
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_test_support::{WATCHDOG, eventually};
use serde_json::json;

use crate::peers::{Ros2, World};
use crate::topics::subscribe;

const BRIDGE: &str = "/feros_ros1_bridge";

/// The bridge's registrations at the master for a name: as publisher, subscriber, server.
fn at_the_master(world: &World, name: &str) -> [bool; 3] {
    let state = world.state();
    [state.publishers, state.subscribers, state.services].map(|all| {
        all.iter().any(|(known, nodes)| known == name && nodes.iter().any(|node| node == BRIDGE))
    })
}

/// The bridge's endpoints in the graph of ROS 2 for a name: as publisher, subscription, server.
fn in_the_graph(ros2: &Ros2, name: &str) -> [bool; 3] {
    let graph = ros2.node.context().graph();
    [EndpointKind::Publisher, EndpointKind::Subscription, EndpointKind::Service].map(|kind| {
        graph.endpoints_of(kind, name).any(|endpoint| {
            endpoint.node.name().is_some_and(|node| node.fully_qualified() == BRIDGE)
        })
    })
}

/// Waits until the bridge has these roles for a name, at the master and in ROS 2.
fn is_there(world: &World, ros2: &Ros2, name: &str, expected: [[bool; 3]; 2]) {
    eventually(|| {
        let found = [at_the_master(world, name), in_the_graph(ros2, name)];
        if found == expected { Ok(()) } else { Err(format!("{name}: {found:?}")) }
    });
}

const NOTHING: [[bool; 3]; 2] = [[false; 3]; 2];

#[test]
fn the_bridge_leaves_a_topic_with_its_last_subscriber() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let mut talker = world.node("talker");
    let (subscription, heard) = subscribe::<Text>(&ros2, "/in", QosProfile::default());
    talker.run(json!({"do": "advertise", "topic": "/in", "type": "std_msgs/String"}));
    talker.publish("/in", &json!({"data": "hello"}));
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, "hello");
    let to_ros2 = [[false, true, false], [true, false, false]];
    is_there(&world, &ros2, "/in", to_ros2);
    let (second, _heard) = subscribe::<Text>(&ros2, "/in", QosProfile::default());
    drop(subscription);
    talker.publish("/in", &json!({"data": "for the second"}));
    is_there(&world, &ros2, "/in", to_ros2);
    drop(second);
    is_there(&world, &ros2, "/in", NOTHING);
    bridge.line(|line| line == "no longer bridged: topic /in from ROS 1 to ROS 2");
    // The bridge comes back with the next endpoint.
    let (_third, heard) = subscribe::<Text>(&ros2, "/in", QosProfile::default());
    // rospy notices that a subscriber has left only when a write to it fails.
    eventually(|| {
        talker.publish("/in", &json!({"data": "again"}));
        heard.try_iter().next().map(|text| assert_eq!(text.data, "again")).ok_or("not yet")
    });

    let qos = QosProfile::keep_last(1).transient_local();
    let publisher = ros2.node.create_publisher::<Text>("/out", qos).unwrap();
    publisher.publish(Text { data: "hello".to_owned() }).unwrap();
    let to_ros1 = [[true, false, false], [false, true, false]];
    for _ in 0..2 {
        let mut listener = world.node("listener");
        listener.run(json!({"do": "subscribe", "topic": "/out", "type": "std_msgs/String"}));
        assert_eq!(listener.heard("/out")["message"]["data"], "hello");
        is_there(&world, &ros2, "/out", to_ros1);
        listener.run(json!({"do": "leave", "topic": "/out"}));
        is_there(&world, &ros2, "/out", NOTHING);
    }
    bridge.line_again("no longer bridged: topic /out from ROS 2 to ROS 1", 2);
}

#[test]
fn the_bridge_leaves_a_service_with_its_server() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let mut server = world.node("server");
    let answer = json!({"success": true, "message": "on"});
    server.run(
        json!({"do": "serve", "service": "/one", "type": "std_srvs/SetBool", "answer": answer}),
    );
    let client = ros2.node.create_client::<SetBool>("/one").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    assert!(client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap().success);
    is_there(&world, &ros2, "/one", [[false; 3], [false, false, true]]);
    server.run(json!({"do": "stop_serving", "service": "/one"}));
    is_there(&world, &ros2, "/one", NOTHING);

    let handler = |request: SetBool_Request| SetBool_Response {
        success: request.data,
        message: String::new(),
    };
    let service = ros2.node.create_service::<SetBool, _>("/two", handler).unwrap();
    is_there(&world, &ros2, "/two", [[false, false, true], [false; 3]]);
    drop(service);
    is_there(&world, &ros2, "/two", NOTHING);
}
