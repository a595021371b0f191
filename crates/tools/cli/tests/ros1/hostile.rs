//! Nodes that send false values, malformed definitions or malformed headers: each is refused and
//! reported, and the bridge serves honest nodes meanwhile.

use feros::QosProfile;
use feros::msgs::std_msgs::msg::String as Text;
use feros_ros1::ConnectionHeader;
use feros_test_support::WATCHDOG;
use serde_json::json;

use crate::peers::{Process, Ros1Node, World};
use crate::topics::subscribe;

/// The checksum of the real `std_msgs/String`.
const MD5: &str = "992ce8a1687cec8c8bd883ec73ca41d1";
const RULE: &str =
    "================================================================================";

/// A definition in which each message has `fields` fields of the next message, `depth` levels deep.
fn nested(depth: usize, fields: usize) -> String {
    let level = |next: usize| -> String {
        (0..fields).map(|field| format!("x/M{next} f{field}\n")).collect()
    };
    let mut text = level(1);
    for number in 1..depth {
        text.push_str(&format!("{RULE}\nMSG: x/M{number}\n{}", level(number + 1)));
    }
    text + &format!("{RULE}\nMSG: x/M{depth}\nint8 a\n")
}

/// The type, checksum and definition that a publisher sends, and the bridge's report.
fn lies() -> Vec<(&'static str, &'static str, String, &'static str)> {
    let string = "std_msgs/String";
    let of = |definition: &str, said| (string, "*", definition.to_owned(), said);
    let circle = format!("x/A a\n{RULE}\nMSG: x/A\nx/B b\n{RULE}\nMSG: x/B\nx/A a\n");
    let wide: String = (0..=65_536).map(|number| format!("int8 f{number}\n")).collect();
    let named: String = (0..60_000).map(|number| format!("int8 f{number}\n")).collect();
    vec![
        (string, "00000000000000000000000000000000", "string data".into(), "contradicts itself"),
        (string, "00000000000000000000000000000000", String::new(), "has another definition"),
        ("std_msgs/../String", MD5, "string data".into(), "is not a ROS 1 type name"),
        ("String", MD5, "string data".into(), "is not a ROS 1 type name"),
        of(&circle, "contains itself"),
        of(&nested(100, 1), "deep"),
        of(&nested(60, 2), "fields, the limit"),
        of(&nested(4, 100), "fields, the limit"),
        of(&wide, "fields, the limit"),
        of(&named, "of ROS 2 differ"),
        of("foo/Bar b", "foo/Bar is unknown"),
        of("int32[x] data", "is not a field"),
        of("uint8[99999999999] data", "is not a field"),
        of("string", "is not a field"),
        of("bla = 7", "is not a field"),
        of("wstring data", "is unknown"),
        of("string data\u{1b}[2J", "is not a field"),
        of("int32 data", "the field data is"),
        of("string other", "of ROS 2 differ"),
    ]
}

/// Malformed headers, and headers with names that no node has.
fn headers() -> Vec<Vec<u8>> {
    let with = |key: &str, value: &str| {
        let fields = [
            ("type", "std_msgs/String"),
            ("md5sum", MD5),
            ("message_definition", "string data"),
            (key, value),
        ];
        ConnectionHeader::new(&fields).to_bytes()
    };
    let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    let many: Vec<_> = many.iter().map(|key| (&**key, "1")).collect();
    vec![
        vec![0xff; 64],
        with("callerid", "/liar\u{1b}[2J"),
        with("callerid", &"/l".repeat(2500)),
        with("type", "std_msgs/String\n[INFO] all is well"),
        ConnectionHeader::new(&many).to_bytes(),
        [&5_u32.to_le_bytes()[..], &1_u32.to_le_bytes(), b"a"].concat(),
        [&5_u32.to_le_bytes()[..], &99_u32.to_le_bytes(), b"a"].concat(),
    ]
}

fn publish(ros1: &mut Ros1Node, topic: &str, sent: &[u8]) {
    let sent: String = sent.iter().map(|byte| format!("{byte:02x}")).collect();
    ros1.run(json!({"do": "hostile_publisher", "topic": topic, "sent": sent}));
}

/// The bridge's report on a topic; nothing in the line can steer a terminal.
fn said_of(bridge: &mut Process, topic: &str, text: &str) -> String {
    let said = bridge
        .line(|line| line.contains(topic) && !line.starts_with("bridged:") && line.contains(text));
    assert!(!said.contains(char::is_control) && said.len() < 20_000, "{said:?}");
    said
}

#[test]
fn hostile_definitions_and_headers_are_refused_and_others_are_bridged() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&["--bridge-all-1to2-topics"]);
    let ros2 = world.ros2();
    let (_subscription, heard) = subscribe::<Text>(&ros2, "/good", QosProfile::default());
    let mut ros1 = world.node("honest");
    ros1.run(json!({"do": "advertise", "topic": "/good", "type": "std_msgs/String"}));
    ros1.publish("/good", &json!({"data": "before"}));
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, "before");
    for (number, (ty, md5sum, definition, text)) in lies().into_iter().enumerate() {
        let topic = format!("/lies/l{number}_");
        let header = ConnectionHeader::new(&[
            ("callerid", "/liar"),
            ("type", ty),
            ("md5sum", md5sum),
            ("message_definition", &definition),
        ]);
        publish(&mut ros1, &topic, &header.to_bytes());
        let said = said_of(&mut bridge, &topic, text);
        assert!(said.contains("/liar"), "{said}");
    }
    for (number, header) in headers().into_iter().enumerate() {
        let topic = format!("/headers/h{number}_");
        publish(&mut ros1, &topic, &header);
        said_of(&mut bridge, &topic, "does not speak TCPROS");
    }
    ros1.publish("/good", &json!({"data": "after"}));
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap().data, "after");
    let said = bridge.interrupt();
    for topic in ["/lies/l0_", "/lies/l6_", "/headers/h1_"] {
        let times = said.iter().filter(|line| {
            line.contains(topic) && !line.contains("ridged: topic") && line.contains("warn")
        });
        assert_eq!(times.count(), 1, "{topic} {said:#?}");
    }
}
