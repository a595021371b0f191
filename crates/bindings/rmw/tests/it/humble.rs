//! An rclpy node on this library in the form of ROS 2 Humble, which `FEROS_ROS_DISTRO` chooses,
//! beside a node of Humble that is made by hand on Cyclone DDS 0.10. Requests and responses have
//! the header of `rmw_cyclonedds` in front of them.

use feros::message::{from_bytes, to_vec};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool_Request, SetBool_Response};
use feros_interop::{Domain, HumbleOn, HumblePeer, Peer};
use feros_test_support::eventually;
use serde_json::{Value, json};

use crate::support::library;

const TEXT: &str = "std_msgs/msg/String";
const WIRE_TEXT: &str = "std_msgs::msg::dds_::String_";
const SET_BOOL: &str = "std_srvs/srv/SetBool";
const WIRE_SET_BOOL: &str = "std_srvs::srv::dds_::SetBool";

/// A node of Humble, and the rclpy node `/ours/on_feros`. Returns `None`, and reports the skip, if
/// something that they need is not installed.
fn nodes(domain: &Domain) -> Option<(HumblePeer, Peer)> {
    let humble = HumblePeer::start(domain, HumbleOn::CycloneDds, "/theirs", "humble_node")?;
    let ours = Peer::start_prepared(domain, "/ours", "on_feros", |command| {
        command.env("LD_PRELOAD", library()).env("FEROS_ROS_DISTRO", "humble");
    });
    Some((humble, ours))
}

fn hex<M: feros::message::Message>(message: &M) -> String {
    HumblePeer::message(&to_vec(message).unwrap())
}

#[test]
fn messages_go_both_ways_and_each_shows_the_other() {
    let Some(domain) = Domain::reserve() else { return };
    let Some((mut humble, mut ours)) = nodes(&domain) else { return };
    ours.ask("publisher", json!({"topic": "/numbers", "type": TEXT}));
    ours.ask("subscription", json!({"topic": "/words", "type": TEXT}));
    let to_us = humble.ask_matched(format!("publisher /words {WIRE_TEXT}"));
    let from_us = humble.ask_matched(format!("subscription /numbers {WIRE_TEXT}"));
    ours.ask("matched", json!({"topic": "/numbers", "subscriptions": 1}));
    ours.ask("matched", json!({"topic": "/words", "publishers": 1}));
    for said in ["", "hello", &"large ".repeat(50_000)] {
        humble.ask(format!("publish {to_us} {}", hex(&Text { data: said.to_owned() })));
        let heard = ours.ask("take", json!({"topic": "/words"}));
        assert!(heard == json!([{"data": said}]), "{} characters differ", said.len());
        ours.ask("publish", json!({"topic": "/numbers", "values": [{"data": said}]}));
        let heard: Text = from_bytes(&humble.ask_for_message(format!("take {from_us}"))).unwrap();
        assert!(heard.data == said, "{} characters differ", said.len());
    }

    let theirs = json!({"name": "humble_node", "namespace": "/theirs", "enclave": "/"});
    ours.eventually("nodes", json!({}), |nodes: &Value| {
        nodes.as_array().is_some_and(|nodes| nodes.contains(&theirs))
    });
    eventually(|| match humble.ask("endpoints rt/numbers") {
        shown if shown == format!("on_feros {WIRE_TEXT},") => Ok(()),
        shown => Err(shown),
    });
    assert!(humble.ask("nodes").starts_with("/ours on_feros "));
    assert_eq!(humble.ask("demanded"), "", "announcements that Humble cannot read");
}

#[test]
fn calls_go_both_ways() {
    let Some(domain) = Domain::reserve() else { return };
    let Some((mut humble, mut ours)) = nodes(&domain) else { return };
    let answer = json!({"success": true, "message": "ours"});
    ours.ask("service", json!({"name": "/ours/switch", "type": SET_BOOL, "response": answer}));
    let caller = humble.ask_matched(format!("client /ours/switch {WIRE_SET_BOOL}"));
    for data in [true, false] {
        let request = hex(&SetBool_Request { data });
        let response = humble.ask_for_message(format!("call {caller} {request}"));
        let response: SetBool_Response = from_bytes(&response).unwrap();
        assert_eq!(response, SetBool_Response { success: true, message: "ours".to_owned() });
        assert_eq!(
            ours.ask("requests", json!({"service": "/ours/switch"})),
            json!([{"data": data}])
        );
    }

    let server = humble.ask(format!("server /theirs/switch {WIRE_SET_BOOL}"));
    ours.ask("client", json!({"name": "/theirs/switch", "type": SET_BOOL}));
    ours.ask("wait", json!({"service": "/theirs/switch"}));
    for data in [true, false] {
        let response = SetBool_Response { success: data, message: "theirs".to_owned() };
        let call = json!({"service": "/theirs/switch", "requests": [{"data": data}]});
        let answered = std::thread::scope(|scope| {
            let call = scope.spawn(|| ours.ask("call", call));
            let asked = humble.ask_for_message(format!("serve {server} {}", hex(&response)));
            assert_eq!(from_bytes::<SetBool_Request>(&asked).unwrap(), SetBool_Request { data });
            call.join().unwrap()
        });
        assert_eq!(answered, json!([{"success": data, "message": "theirs"}]));
    }
}
