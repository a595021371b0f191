//! Tests with nodes that violate TCPROS, and with programs that are not masters. The tests check
//! the warnings, and check that other nodes are still served.
#![allow(clippy::unwrap_used, missing_docs)]

mod ros1;
mod said;

use feros_conformance::{text_in, text_message};
use feros_engine::{PublisherOptions, QosProfile};
use ros1::{STRING, World};
use said::{all_said, listen, said};
use serde_json::json;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a header with these fields, in hexadecimal.
fn header(fields: &[&str]) -> String {
    let mut body = Vec::new();
    for field in fields {
        body.extend_from_slice(&(field.len() as u32).to_le_bytes());
        body.extend_from_slice(field.as_bytes());
    }
    hex(&(body.len() as u32).to_le_bytes()) + &hex(&body)
}

const MD5: &str = "md5sum=992ce8a1687cec8c8bd883ec73ca41d1";

/// Publishers send too much, nothing, or nonsense. Each of them causes one warning with its address
/// and how to solve the problem, and the messages of an honest publisher still arrive.
#[test]
fn publishers_that_speak_no_tcpros_are_said_once() {
    let Some(world) = World::new() else { return };
    listen();
    let node = world.node("hears_hostile");
    let mut rospy = world.rospy("hostile");
    let mut honest = world.rospy("honest");
    let well = header(&["callerid=/hostile", "topic=/h", "type=std_msgs/String", MD5]);
    for (topic, sent, expected) in [
        ("/h_long", "ffffffff".to_owned(), "the announced header length of 4294967295 bytes"),
        ("/h_garbage", hex(b"\x08\0\0\0\xff\xff\xff\xffabcd"), "a field is cut off"),
        ("/h_no_equals", header(&["callerid"]), "a field has no `=`"),
        (
            "/h_message",
            well.clone() + "ffffffff",
            "the announced message length of 4294967295 bytes",
        ),
    ] {
        let heard = node.subscription_of(topic, STRING, QosProfile::default());
        honest.run(json!({"do": "advertise", "topic": topic, "type": "std_msgs/String"}));
        rospy.run(json!({"do": "hostile_publisher", "topic": topic, "sent": sent}));
        let told = said(&format!("{topic}: the publisher at"));
        assert!(told.contains(expected) && told.contains("rosnode info"), "{told}");
        honest.publish(topic, &json!({"data": "honest"}));
        assert_eq!(text_in(&heard.next().payload), "honest");
        assert_eq!(all_said(&format!("{topic}: the publisher at")).len(), 1);
    }
    // A header without fields counts as a header of another type.
    let _empty = node.subscription_of("/h_empty", STRING, QosProfile::default());
    rospy.run(json!({"do": "hostile_publisher", "topic": "/h_empty", "sent": "00000000"}));
    let told = said("/h_empty of");
    assert!(told.contains(&MD5["md5sum=".len()..]), "{told}");
    // A message that does not fit its type is refused and counted. The next message is accepted.
    let heard = node.subscription_of("/h_body", STRING, QosProfile::default());
    let sent = well + "04000000ffffffff" + "0600000002000000" + &hex(b"ok");
    rospy.run(json!({"do": "hostile_publisher", "topic": "/h_body", "sent": sent}));
    assert_eq!(text_in(&heard.next().payload), "ok");
    said("a ROS 1 message on /h_body was refused (1 so far)");
}

/// Hostile subscribers and other hostile connections are refused with the reason, or closed. The
/// topic continues to work.
#[test]
fn subscribers_that_speak_no_tcpros_are_refused() {
    let Some(world) = World::new() else { return };
    listen();
    let node = world.node("serves_hostile");
    let publisher =
        node.publisher_of("/served", STRING, QosProfile::keep_last(1).transient_local());
    publisher.publish(&text_message("kept"));
    let mut rospy = world.rospy("hostile");
    let mut connect = |sent: String| {
        let operation = json!({"do": "hostile_subscriber", "topic": "/served", "sent": sent});
        rospy.run(operation).as_str().unwrap().to_owned()
    };
    assert_eq!(connect("ffffffff".to_owned()), "");
    assert_eq!(connect(hex(b"GET / HTTP/1.1\r\n\r\n")), "");
    let told = all_said("/serves_hostile: the program that connected from 127.0.0.1");
    assert!(told.len() == 1 && told[0].contains("is for ROS 1 nodes"), "{told:?}");
    let answer = connect(header(&[]));
    assert!(answer.contains("neither `topic` nor `service`"), "{answer}");
    let answer = connect(header(&["callerid=/x", "topic=/nowhere", MD5]));
    assert!(answer.contains("/nowhere is not published here"), "{answer}");
    let answer = connect(header(&["callerid=/x", "topic=/served"]));
    assert!(answer.contains("does not state the md5sum"), "{answer}");
    let answer = connect(header(&["callerid=/x", "topic=/served", "md5sum=1"]));
    assert!(answer.contains("md5sum 1,") && answer.contains("string data"), "{answer}");
    assert_eq!(all_said("/x of /served wants").len(), 1);
    rospy.run(json!({"do": "subscribe", "topic": "/served", "type": "std_msgs/String"}));
    assert_eq!(rospy.heard("/served")["message"]["data"], "kept");
}

/// Nodes under different masters receive nothing from each other, and each master knows only its
/// own nodes.
#[test]
fn two_masters_are_two_worlds() {
    let Some((one, other)) = World::two() else { return };
    let (here, there) = (one.node("both"), other.node("both"));
    let sent_here = here.publisher_of("/same", STRING, QosProfile::default());
    let sent_there = there.publisher_of("/same", STRING, QosProfile::default());
    let (mut rospy_here, mut rospy_there) = (one.rospy("ear"), other.rospy("ear"));
    for rospy in [&mut rospy_here, &mut rospy_there] {
        rospy.run(json!({"do": "subscribe", "topic": "/same", "type": "std_msgs/String"}));
    }
    sent_here.wait_for_matches(1);
    sent_there.wait_for_matches(1);
    sent_here.publish(&text_message("here"));
    sent_there.publish(&text_message("there"));
    assert_eq!(rospy_here.heard("/same")["message"]["data"], "here");
    assert_eq!(rospy_there.heard("/same")["message"]["data"], "there");
}

/// The loss of a master is logged once, with how to solve the problem, and its return is logged
/// once.
#[test]
fn a_master_that_is_gone_is_said_once() {
    let Some(mut world) = World::new() else { return };
    listen();
    let node = world.node("left_alone");
    let publisher = node.publisher_of("/alone", STRING, QosProfile::keep_last(1).transient_local());
    let address = world.uri();
    world.kill_master();
    let told = said(&format!("no ROS 1 master at {address}"));
    assert!(told.contains("roscore") && told.contains("ROS_MASTER_URI"), "{told}");
    publisher.publish(&text_message("kept"));
    world.start_master();
    said(&format!("the ROS 1 master at {address} answers now"));
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({"do": "subscribe", "topic": "/alone", "type": "std_msgs/String"}));
    assert_eq!(rospy.heard("/alone")["message"]["data"], "kept");
    assert_eq!(all_said(&format!("no ROS 1 master at {address}")).len(), 1);
}

/// Two nodes use different types for the same topic. Both sides refuse the other's type, with
/// warnings that name both types.
#[test]
fn two_types_of_one_topic_are_said() {
    let Some(world) = World::new() else { return };
    listen();
    let node = world.node("typed");
    let _heard = node.subscription_of("/two_types", STRING, QosProfile::default());
    let mut rospy = world.rospy("rospy");
    rospy.run(json!({"do": "advertise", "topic": "/two_types", "type": "std_msgs/Int32"}));
    let told = said("/two_types of /rospy is not received: ");
    assert!(told.contains("std_msgs/Int32 with md5sum da5909fb"), "{told}");
    assert!(told.contains("std_msgs/String with md5sum 992ce8a1"), "{told}");
    assert!(told.contains("it says: topic types do not match"), "{told}");
}

/// Names that ROS 1 does not allow are refused, with the reason.
#[test]
fn forbidden_names_are_refused() {
    let Some(world) = World::without_master() else { return };
    let node = world.node("names");
    for name in ["/a~b", "/1a", "//a", "/a//b", "/a/", "a", "/a b", "/zwölf", ""] {
        let options = PublisherOptions::new(node.node, name, STRING.0);
        let refused = node.session.create_publisher(options).err().unwrap();
        let said = refused.to_string();
        assert!(said.contains(name) && said.len() > name.len() + 20, "{said}");
    }
}
