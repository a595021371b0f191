//! Tests that nodes of this engine communicate with rospy nodes, under Debian's rosmaster.
#![allow(clippy::unwrap_used, missing_docs)]

mod ros1;
mod said;

use feros_conformance::{TestType, text_in, text_message};
use feros_engine::{EndpointKind, PublisherOptions, QosProfile, ServiceOptions, SubscriptionEvent};
use feros_ros1::{Address, Master};
use ros1::{SET_BOOL, STRING, World, answer_next, call, put_text};
use said::{listen, said};
use serde_json::json;

/// Topics with all kinds of fields work in both directions, and this engine increments the number
/// in a header.
#[test]
fn messages_go_both_ways() {
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let mut rospy = world.rospy("rospy");
    let heard = node.subscription_of("/from_ros1", STRING, QosProfile::default());
    rospy.run(json!({"do": "advertise", "topic": "/from_ros1", "type": "std_msgs/String"}));
    for data in ["one", "", "zwölf"] {
        rospy.publish("/from_ros1", &json!({ "data": data }));
        assert_eq!(text_in(&heard.next().payload), data);
    }
    rospy.run(json!({"do": "subscribe", "topic": "/to_ros1", "type": "std_msgs/String"}));
    let publisher = node.publisher_of("/to_ros1", STRING, QosProfile::default());
    publisher.wait_for_matches(1);
    for data in ["one", "", "zwölf"] {
        publisher.publish(&text_message(data));
        assert_eq!(rospy.heard("/to_ros1")["message"]["data"], data);
    }
    rospy.run(json!({"do": "subscribe", "topic": "/stamped", "type": "std_msgs/Header"}));
    let stamped = node.publisher_of("/stamped", ("std_msgs/msg/Header", ""), QosProfile::default());
    stamped.wait_for_matches(1);
    let mut header = vec![0, 1, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0];
    put_text(&mut header, "map");
    stamped.publish(&header);
    let message = rospy.heard("/stamped")["message"].clone();
    assert_eq!((&message["stamp"], &message["frame_id"]), (&json!([7, 8]), &json!("map")));
}

/// A message of one megabyte arrives complete in both directions.
#[test]
fn large_messages_arrive_whole() {
    const BYTES: TestType<'_> = ("std_msgs/msg/UInt8MultiArray", "");
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let mut rospy = world.rospy("rospy");
    let array = |len: usize| {
        let mut bytes = vec![0, 1, 0, 0];
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&(len as u32).to_le_bytes());
        bytes.extend((0..len).map(|index| (index % 251) as u8));
        bytes
    };
    let heard = node.subscription_of("/in", BYTES, QosProfile::default());
    rospy.run(json!({"do": "advertise", "topic": "/in", "type": "std_msgs/UInt8MultiArray"}));
    rospy.publish("/in", &json!({"layout": {"data_offset": 0}, "data_bytes": 1 << 20}));
    let sample = heard.next();
    assert_eq!(*sample.payload, array(1 << 20));
    assert_eq!(sample.payload[4..].as_ptr().align_offset(8), 0);
    assert!(sample.info.source_timestamp.is_none() && !sample.info.from_same_session);
    rospy.run(json!({"do": "subscribe", "topic": "/out", "type": "std_msgs/UInt8MultiArray"}));
    let publisher = node.publisher_of("/out", BYTES, QosProfile::default());
    publisher.wait_for_matches(1);
    publisher.publish(&array(1 << 20));
    assert_eq!(rospy.heard("/out")["message"]["data"]["len"], 1 << 20);
}

/// For ROS 1 nodes, transient-local messages are latched, and their number is the depth of the
/// history. Latched messages of ROS 1 nodes are transient-local for nodes of this engine.
#[test]
fn latched_messages_reach_those_that_come_late() {
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let qos = QosProfile::keep_last(2).transient_local();
    let publisher = node.publisher_of("/map", STRING, qos);
    ["old", "older", "new"].iter().for_each(|data| publisher.send(&text_message(data)));
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({"do": "subscribe", "topic": "/map", "type": "std_msgs/String"}));
    let first = rospy.heard("/map");
    assert_eq!((&first["message"]["data"], &first["latched"]), (&json!("older"), &json!(true)));
    assert_eq!(rospy.heard("/map")["message"]["data"], "new");
    rospy.run(json!({
        "do": "advertise", "topic": "/plan", "type": "std_msgs/String", "latch": true
    }));
    rospy.run(json!({"do": "publish", "topic": "/plan", "fields": {"data": "kept"}}));
    // The second subscription of the node shares the connection, and also gets the message.
    for _ in 0..2 {
        let late = node.subscription_of("/plan", STRING, QosProfile::default());
        assert_eq!(text_in(&late.next().payload), "kept");
        late.wait_for_matches(1);
    }
}

/// Services are called repeatedly in both directions. If a call fails, the client continues to
/// work.
#[test]
fn services_go_both_ways() {
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({
        "do": "serve", "service": "/power", "type": "std_srvs/SetBool",
        "answer": {"success": true, "message": "on"}
    }));
    let client = node.client_of("/power", SET_BOOL);
    client.wait_for_server();
    let mut answer = vec![0, 1, 0, 0, 1];
    put_text(&mut answer, "on");
    for _ in 0..3 {
        assert_eq!(call(&client, &[0, 1, 0, 0, 1]), answer);
    }
    rospy.run(json!({"do": "fail", "service": "/broken", "type": "std_srvs/SetBool"}));
    let broken = node.client_of("/broken", SET_BOOL);
    broken.wait_for_server();
    broken.send(&[0, 1, 0, 0, 1]);
    assert_eq!(call(&client, &[0, 1, 0, 0, 0]), answer, "others are answered meanwhile");
    assert!(broken.client.take_response().unwrap().is_none());

    let served = node.service_of("/gripper", SET_BOOL);
    std::thread::scope(|scope| {
        let called = scope.spawn(|| {
            rospy.run(json!({
                "do": "call", "service": "/gripper", "type": "std_srvs/SetBool",
                "fields": {"data": true}
            }))
        });
        answer_next(&served, |request| {
            assert_eq!(request[4], 1);
            answer.clone()
        });
        assert_eq!(called.join().unwrap(), json!({"success": true, "message": "on"}));
    });
    // If a server ends, its callers do not continue to wait.
    std::thread::scope(|scope| {
        let called = scope.spawn(|| {
            rospy.run(json!({
                "do": "call", "service": "/gripper", "type": "std_srvs/SetBool",
                "fields": {"data": true}
            }))
        });
        feros_test_support::eventually(|| {
            served.service.take_request().unwrap().map(drop).ok_or("no request yet")
        });
        drop(served);
        let error = called.join().unwrap()["error"].to_string();
        assert!(error.contains("the server has ended"), "{error}");
    });
}

/// If two nodes have different definitions of the same type, both refuse the connection. Other
/// nodes are not affected.
#[test]
fn other_definitions_are_refused() {
    const MD5: &str = "992ce8a1687cec8c8bd883ec73ca41d1";
    const CURE: &str = "use one definition in the packages of both sides";
    let Some(world) = World::new() else { return };
    listen();
    let node = world.node("feros");
    let mut rospy = world.rospy("rospy");
    let mut other = world.rospy("other");
    let publisher = node.publisher_of("/typed", STRING, QosProfile::default());
    other.run(json!({"do": "subscribe_other", "topic": "/typed"}));
    rospy.run(json!({"do": "subscribe", "topic": "/typed", "type": "std_msgs/String"}));
    publisher.wait_for_matches(1);
    publisher.publish(&text_message("right"));
    assert_eq!(rospy.heard("/typed")["message"]["data"], "right");
    assert_eq!(publisher.publisher.matched_subscriptions(), 1);
    let told = said("/other of /typed wants");
    for part in ["std_msgs/String with md5sum 0123456789abcdef0123456789abcdef", MD5, CURE] {
        assert!(told.contains(part), "{part} in {told}");
    }
    // A publisher with another type is also refused: the subscription accepts none of the
    // publisher's messages.
    other.run(json!({"do": "advertise", "topic": "/numbers", "type": "std_msgs/Int32"}));
    rospy.run(json!({"do": "advertise", "topic": "/numbers", "type": "std_msgs/String"}));
    let heard = node.subscription_of("/numbers", STRING, QosProfile::default());
    rospy.publish("/numbers", &json!({"data": "a text"}));
    assert_eq!(text_in(&heard.next().payload), "a text");
    assert_eq!(heard.subscription.matched_publishers(), 1);
    let told = said("/numbers of /other is not received");
    for part in [
        "std_msgs/Int32 with md5sum da5909fbe378aeaf85e547e830cc1bb7 there",
        &format!("std_msgs/String with md5sum {MD5} here"),
        CURE,
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    // A client with another service type is refused, for the same reason.
    let _served = node.service_of("/gripper", SET_BOOL);
    let operation =
        json!({"do": "call", "service": "/gripper", "type": "std_srvs/Trigger", "fields": {}});
    let refused = other.run(operation)["error"].as_str().unwrap().to_owned();
    let told = said("/other wants /gripper");
    for part in [
        "937c9679a518e3a18d831e57125ea522",
        "std_srvs/SetBool with md5sum 09fb03525b03e7ea1fd3992bafd87e16 here",
        CURE,
    ] {
        assert!(told.contains(part) && refused.contains(part), "{part} in {told} and {refused}");
    }
}

/// A restarted master gets all registrations. In the meantime, messages on existing connections
/// continue.
#[test]
fn a_new_master_hears_of_all() {
    let Some(mut world) = World::new() else { return };
    let node = world.node("feros");
    let publisher = node.publisher_of("/chatter", STRING, QosProfile::default());
    let heard = node.subscription_of("/answers", STRING, QosProfile::default());
    let served = node.service_of("/gripper", SET_BOOL);
    let mut rospy = world.rospy("old");
    rospy.run(json!({"do": "subscribe", "topic": "/chatter", "type": "std_msgs/String"}));
    publisher.wait_for_matches(1);
    world.kill_master();
    publisher.publish(&text_message("without a master"));
    assert_eq!(rospy.heard("/chatter")["message"]["data"], "without a master");
    let late = node.publisher_of("/late", STRING, QosProfile::default());
    world.start_master();
    let mut new = world.rospy("new");
    for topic in ["/chatter", "/late"] {
        new.run(json!({"do": "subscribe", "topic": topic, "type": "std_msgs/String"}));
    }
    publisher.wait_for_matches(2);
    late.wait_for_matches(1);
    late.publish(&text_message("made meanwhile"));
    assert_eq!(new.heard("/late")["message"]["data"], "made meanwhile");
    new.run(json!({"do": "advertise", "topic": "/answers", "type": "std_msgs/String"}));
    new.publish("/answers", &json!({"data": "hello"}));
    assert_eq!(text_in(&heard.next().payload), "hello");
    std::thread::scope(|scope| {
        let operation = json!({
            "do": "call", "service": "/gripper", "type": "std_srvs/SetBool", "fields": {"data": true}
        });
        let called = scope.spawn(|| new.run(operation));
        answer_next(&served, |_| {
            let mut answer = vec![0, 1, 0, 0, 1];
            put_text(&mut answer, "yes");
            answer
        });
        assert_eq!(called.join().unwrap()["message"], "yes");
    });
}

/// Nodes may start before their master.
#[test]
fn nodes_wait_for_their_master() {
    let Some(mut world) = World::without_master() else { return };
    let node = world.node("feros");
    let publisher = node.publisher_of("/early", STRING, QosProfile::keep_last(1).transient_local());
    publisher.publish(&text_message("patient"));
    world.start_master();
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({"do": "subscribe", "topic": "/early", "type": "std_msgs/String"}));
    assert_eq!(rospy.heard("/early")["message"]["data"], "patient");
}

/// A killed node stops matching, and a new node with the same name matches again.
#[test]
fn killed_peers_leave_and_come_again() {
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let heard = node.subscription_of("/in", STRING, QosProfile::default());
    let publisher = node.publisher_of("/out", STRING, QosProfile::default());
    let client = node.client_of("/power", SET_BOOL);
    for round in 0..2 {
        let mut rospy = world.rospy("mortal");
        rospy.run(json!({"do": "advertise", "topic": "/in", "type": "std_msgs/String"}));
        rospy.run(json!({"do": "subscribe", "topic": "/out", "type": "std_msgs/String"}));
        rospy.run(json!({
            "do": "serve", "service": "/power", "type": "std_srvs/SetBool",
            "answer": {"success": true, "message": "on"}
        }));
        publisher.wait_for_matches(1);
        rospy.publish("/in", &json!({"data": round.to_string()}));
        assert_eq!(text_in(&heard.next().payload), round.to_string());
        publisher.publish(&text_message("still"));
        assert_eq!(rospy.heard("/out")["message"]["data"], "still");
        client.wait_for_server();
        // The connection to the previous server broke, so the call needs a new one.
        assert_eq!(call(&client, &[0, 1, 0, 0, 1])[4], 1);
        drop(rospy);
        publisher.wait_for_matches(0);
        heard.wait_for_matches(0);
    }
    let events: Vec<_> = std::iter::from_fn(|| heard.subscription.take_event().unwrap()).collect();
    assert!(
        events.iter().any(|event| matches!(
            event,
            SubscriptionEvent::Matched(status) if (status.total, status.current) == (2, 0)
        )),
        "{events:?}"
    );
}

/// The graph contains the nodes that the master knows, with ROS 2 types.
#[test]
fn the_graph_shows_nodes_of_ros1() {
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({"do": "advertise", "topic": "/log", "type": "rosgraph_msgs/Log"}));
    rospy.run(json!({"do": "subscribe", "topic": "/in", "type": "std_msgs/String"}));
    rospy.run(json!({
        "do": "serve", "service": "/power", "type": "std_srvs/SetBool",
        "answer": {"success": true, "message": "on"}
    }));
    let expected = [
        (EndpointKind::Publisher, "/log", "rcl_interfaces/msg/Log"),
        (EndpointKind::Subscription, "/in", STRING.0),
        (EndpointKind::Service, "/power", SET_BOOL.0),
    ];
    for (kind, name, ty) in expected {
        let (by, shown) = node.wait_for_graph(name, |graph| {
            let found = graph.endpoints_of(kind, name).next()?;
            Some((found.node.clone(), found.type_name.clone()))
        });
        assert_eq!(by.name().unwrap().fully_qualified(), "/rospy");
        assert_eq!(shown, ty);
    }
    assert!(node.session.graph().nodes.iter().any(|node| node.name.name() == "rospy"));
    drop(rospy);
}

/// Requests that ROS 1 cannot fulfil are refused, and the errors say how to solve the problem.
#[test]
fn requests_that_ros1_cannot_fulfil_are_refused() {
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let refused = |topic: &str, ty: &str, qos: QosProfile| {
        let options = PublisherOptions { qos, ..PublisherOptions::new(node.node, topic, ty) };
        node.session.create_publisher(options).err().unwrap().to_string()
    };
    let plain = QosProfile::default().avoid_ros_namespace_conventions();
    let error = refused("plain/Name", STRING.0, plain);
    assert!(error.contains("plain/Name") && error.contains("begins with `/`"), "{error}");
    let error = refused("/typed", "unknown_msgs/msg/Thing", QosProfile::default());
    assert!(error.contains("unknown_msgs/Thing") && error.contains("AMENT_PREFIX_PATH"), "{error}");
    let error = refused("/fib/_action/feedback", STRING.0, QosProfile::default());
    assert!(error.contains("feros ros1 bridge"), "{error}");
    let options = ServiceOptions::new(node.node, "/fib/_action/send_goal", SET_BOOL.0);
    let error = node.session.create_service(options).err().unwrap().to_string();
    assert!(error.contains("actionlib"), "{error}");
    let _one = node.publisher_of("/typed", STRING, QosProfile::default());
    let error = refused("/typed", "std_msgs/msg/Int32", QosProfile::default());
    assert!(error.contains(STRING.0) && error.contains("std_msgs/msg/Int32"), "{error}");
    let name = feros_engine::NodeName::new("/", "feros").unwrap();
    let error = node.session.create_node(&name).unwrap_err().to_string();
    assert!(error.contains("/feros") && error.contains("__node:=NAME"), "{error}");
    let error = feros_ros1_master::ConfiguredRos1Engine::new("nowhere").err().unwrap().to_string();
    assert!(
        error.contains("ROS_MASTER_URI") && error.contains("http://localhost:11311"),
        "{error}"
    );
}

/// A node starts with the parameters that the master stores below the node's name.
#[test]
fn parameters_of_the_master_are_those_of_nodes() {
    let Some(world) = World::new() else { return };
    let master = Master::new(Address::parse(&world.uri()).unwrap(), "/test");
    let mut rospy = world.rospy("rospy");
    for (name, value) in [
        ("/use_sim_time", json!(true)),
        ("/feros/rate", json!(5.5)),
        ("/feros/frames/base", json!("base_link")),
        ("/feros/limits", json!([1, 2])),
        ("/other/rate", json!(1)),
    ] {
        rospy.run(json!({"do": "set_parameter", "name": name, "value": value}));
    }
    assert!(master.parameter("/feros").is_ok());
    let node = world.node("feros");
    let name = feros_engine::NodeName::new("/", "feros").unwrap();
    let mut found = node.session.parameter_server().unwrap().initial(&name);
    found.sort();
    let expected = [
        ("frames.base", "\"base_link\""),
        ("limits", "[1, 2]"),
        ("rate", "5.5"),
        ("use_sim_time", "true"),
    ];
    assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}
