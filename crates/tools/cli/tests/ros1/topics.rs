//! Topics in both directions.

use std::sync::mpsc::{Receiver, sync_channel};

use feros::QosProfile;
use feros::message::Message;
use feros::msgs::geometry_msgs::msg::{PoseStamped, TransformStamped};
use feros::msgs::sensor_msgs::msg::{Image, JointState};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::tf2_msgs::msg::TFMessage;
use feros_test_support::WATCHDOG;
use serde_json::json;

use crate::peers::{Ros2, World};

/// A subscription of ROS 2, and the messages that it receives.
pub(crate) fn subscribe<M: Message>(
    ros2: &Ros2,
    topic: &str,
    qos: QosProfile,
) -> (feros::Subscription<M>, Receiver<M>) {
    let (sender, heard) = sync_channel(10_000);
    let subscription = ros2.node.create_subscription(topic, qos, move |message: M| {
        let _ = sender.send(message);
    });
    (subscription.unwrap(), heard)
}

#[test]
fn texts_go_both_ways_and_none_comes_back() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let (_subscription, heard) = subscribe::<Text>(&ros2, "/chatter", QosProfile::default());
    let mut ros1 = world.node("talker");
    ros1.run(json!({"do": "advertise", "topic": "/chatter", "type": "std_msgs/String"}));
    ros1.publish("/chatter", &json!({"data": "from ROS 1"}));
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, "from ROS 1");

    // Now the other direction as well: both sides have publishers and subscribers.
    let publisher = ros2.node.create_publisher::<Text>("/chatter", QosProfile::default()).unwrap();
    ros1.run(json!({"do": "subscribe", "topic": "/chatter", "type": "std_msgs/String"}));
    publisher.wait_for_subscriptions(2, WATCHDOG).unwrap();
    bridge.line(|line| line.contains("topic /chatter from ROS 2 to ROS 1"));
    // A subscriber of ROS 1 connects when the master has informed it.
    feros_test_support::eventually(|| {
        publisher.publish(Text { data: "are you there".to_owned() }).unwrap();
        match ros1
            .run(json!({"do": "publish_now", "topic": "/chatter", "fields": {"data": "ping"}}))
        {
            _ if ros1.heard_any("/chatter", "are you there") => Ok(()),
            _ => Err("not yet"),
        }
    });
    publisher.publish(Text { data: "last".to_owned() }).unwrap();
    ros1.publish("/chatter", &json!({"data": "end"}));
    // Each side receives its own messages once, directly: a message that came back would arrive
    // twice.
    while ros1.heard("/chatter")["message"]["data"] != "last" {}
    // The bridge's "end" comes after all that the bridge sent before it. The own "last" takes
    // another way, so it may come before or after "end".
    let mut heard_by_ros2: Vec<String> = Vec::new();
    while !["last", "end"].iter().all(|text| heard_by_ros2.iter().any(|known| known == text)) {
        heard_by_ros2.push(heard.recv_timeout(WATCHDOG).unwrap().data);
    }
    assert_eq!(heard_by_ros2.iter().filter(|text| *text == "last").count(), 1);
    let said = bridge.interrupt();
    let summary = said.iter().find(|line| line.starts_with("to ROS 2:")).unwrap();
    assert!(summary.contains("malformed: 0") && summary.ends_with("failed: 0"), "{said:#?}");
}

#[test]
fn messages_with_headers_go_to_ros2() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let mut ros1 = world.node("sensors");

    let (_one, poses) = subscribe::<PoseStamped>(&ros2, "/pose", QosProfile::default());
    ros1.run(json!({"do": "advertise", "topic": "/pose", "type": "geometry_msgs/PoseStamped"}));
    let stamp = json!({"secs": 7, "nsecs": 8});
    let pose = json!({
        "header": {"seq": 1, "stamp": stamp, "frame_id": "map"},
        "pose": {"position": {"x": 1.5, "y": -2.0, "z": 3.0}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}},
    });
    ros1.publish("/pose", &pose);
    let pose = poses.recv_timeout(WATCHDOG).unwrap();
    assert_eq!((pose.header.stamp.sec, pose.header.stamp.nanosec), (7, 8));
    assert_eq!(
        (&*pose.header.frame_id, pose.pose.position.y, pose.pose.orientation.w),
        ("map", -2.0, 1.0)
    );

    let (_two, images) = subscribe::<Image>(&ros2, "/image", QosProfile::default());
    ros1.run(json!({"do": "advertise", "topic": "/image", "type": "sensor_msgs/Image"}));
    let image = json!({"height": 1000, "width": 1000, "encoding": "mono8", "step": 1000, "data_bytes": 1_000_000});
    for _ in 0..5 {
        ros1.publish("/image", &image);
        let image = images.recv_timeout(WATCHDOG).unwrap();
        assert_eq!((image.height, &*image.encoding, image.data.len()), (1000, "mono8", 1_000_000));
        assert!(
            image.data.iter().enumerate().all(|(index, byte)| usize::from(*byte) == index % 251)
        );
    }

    let (_three, joints) = subscribe::<JointState>(&ros2, "/joints", QosProfile::default());
    ros1.run(json!({"do": "advertise", "topic": "/joints", "type": "sensor_msgs/JointState"}));
    let state =
        json!({"name": ["a", "bcd"], "position": [1.0, 2.0], "velocity": [], "effort": [0.5]});
    ros1.publish("/joints", &state);
    let state = joints.recv_timeout(WATCHDOG).unwrap();
    assert_eq!(state.name, ["a", "bcd"]);
    assert_eq!((state.position, state.velocity, state.effort), (vec![1.0, 2.0], vec![], vec![0.5]));

    let (_four, transforms) = subscribe::<TFMessage>(&ros2, "/tf", QosProfile::default());
    ros1.run(json!({"do": "advertise", "topic": "/tf", "type": "tf2_msgs/TFMessage"}));
    let transform = json!({"header": {"frame_id": "odom"}, "child_frame_id": "base",
        "transform": {"translation": {"x": 1, "y": 2, "z": 3}, "rotation": {"x": 0, "y": 0, "z": 0, "w": 1}}});
    ros1.publish("/tf", &json!({"transforms": [transform, transform]}));
    let tf = transforms.recv_timeout(WATCHDOG).unwrap();
    assert_eq!((tf.transforms.len(), &*tf.transforms[1].child_frame_id), (2, "base"));
    assert_eq!(tf.transforms[0].transform.translation.z, 3.0);
}

#[test]
fn messages_with_headers_go_to_ros1() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let mut ros1 = world.node("listener");
    // Even a subscriber that connects later gets latched messages, so no message is published twice
    // here.
    let latched = || QosProfile::keep_last(10).transient_local();

    ros1.run(json!({"do": "subscribe", "topic": "/pose", "type": "geometry_msgs/PoseStamped"}));
    let publisher = ros2.node.create_publisher::<PoseStamped>("/pose", latched()).unwrap();
    let mut pose = PoseStamped::default();
    pose.header.stamp.sec = 7;
    pose.header.frame_id = "map".to_owned();
    pose.pose.position.x = 1.5;
    publisher.publish(pose).unwrap();
    let heard = ros1.heard("/pose");
    assert_eq!(heard["message"]["header"]["stamp"], json!([7, 0]));
    assert_eq!(heard["message"]["header"]["frame_id"], json!("map"));
    assert_eq!(heard["message"]["pose"]["position"]["x"], json!(1.5));
    assert_eq!(heard["latched"], json!(true));

    ros1.run(json!({"do": "subscribe", "topic": "/image", "type": "sensor_msgs/Image"}));
    let images = ros2.node.create_publisher::<Image>("/image", latched()).unwrap();
    let data = vec![7_u8; 1_000_000];
    images.publish(Image { height: 1000, width: 1000, data, ..Image::default() }).unwrap();
    let image = ros1.heard("/image");
    assert_eq!(image["message"]["height"], json!(1000));
    assert_eq!(image["message"]["data"]["len"], json!(1_000_000));

    ros1.run(json!({"do": "subscribe", "topic": "/joints", "type": "sensor_msgs/JointState"}));
    let joints = ros2.node.create_publisher::<JointState>("/joints", latched()).unwrap();
    let name = vec!["a".to_owned(), "bcd".to_owned()];
    joints.publish(JointState { name, position: vec![1.0, 2.5], ..JointState::default() }).unwrap();
    let state = ros1.heard("/joints");
    assert_eq!(state["message"]["name"], json!(["a", "bcd"]));
    assert_eq!(state["message"]["position"], json!([1.0, 2.5]));
}

#[test]
fn static_transforms_of_all_publishers_are_kept_for_who_comes_late() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let latched = || QosProfile::keep_last(1).transient_local();
    let of = |child: &str| {
        let transform =
            TransformStamped { child_frame_id: child.to_owned(), ..TransformStamped::default() };
        TFMessage { transforms: vec![transform] }
    };
    let one = ros2.node.create_publisher::<TFMessage>("/tf_static", latched()).unwrap();
    let two = ros2.node.create_publisher::<TFMessage>("/tf_static", latched()).unwrap();
    one.publish(of("camera")).unwrap();
    two.publish(of("lidar")).unwrap();
    for name in ["early", "late"] {
        let mut node = world.node(name);
        node.run(json!({"do": "subscribe", "topic": "/tf_static", "type": "tf2_msgs/TFMessage"}));
        let mut children: Vec<String> = (0..2)
            .map(|_| {
                let heard = node.heard("/tf_static");
                heard["message"]["transforms"][0]["child_frame_id"].as_str().unwrap().to_owned()
            })
            .collect();
        children.sort();
        assert_eq!(children, ["camera", "lidar"], "{name}");
    }

    // The other direction.
    let mut ros1 = world.node("broadcaster");
    ros1.run(json!({"do": "advertise", "topic": "/map", "type": "std_msgs/String", "latch": true}));
    ros1.run(json!({"do": "publish", "topic": "/map", "fields": {"data": "kept"}}));
    for _ in 0..2 {
        let (_subscription, heard) =
            subscribe::<Text>(&ros2, "/map", QosProfile::keep_last(1).transient_local());
        assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, "kept");
    }
}
