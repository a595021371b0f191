//! `feros bridge --distros` between a node of ROS 2 Humble that is made by hand, in one domain, and
//! a stock node in another: topics and services in both directions.

use feros::message::{from_bytes, to_vec};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool_Request, SetBool_Response};
use feros_interop::{Domain, HumbleOn, HumblePeer, Peer, distribution};
use feros_test_support::eventually;
use serde_json::{Value, json};

use super::{SET_BOOL, TEXT};
use crate::process::Running;

const WIRE_TEXT: &str = "std_msgs::msg::dds_::String_";
const WIRE_SET_BOOL: &str = "std_srvs::srv::dds_::SetBool";

#[test]
fn a_node_of_humble_on_fast_dds_and_a_stock_node_talk_through_a_bridge() {
    talk_through_a_bridge(HumbleOn::FastDds);
}

#[test]
fn a_node_of_humble_on_cyclone_dds_and_a_stock_node_talk_through_a_bridge() {
    talk_through_a_bridge(HumbleOn::CycloneDds);
}

fn talk_through_a_bridge(on: HumbleOn) {
    let Some(usual) = Domain::reserve() else { return };
    let of_humble = Domain::reserve_without_ros2();
    let started = HumblePeer::start(&of_humble, on, "/near", "humble_node");
    let Some(mut humble) = started else { return };
    let mut stock = Peer::start(&usual, "/far", "stock_node");
    let domains = format!("{},{}", of_humble.id(), usual.id());
    let distros = format!("humble,{}", distribution().name());
    let line = ["bridge", "--domains", &domains, "--distros", &distros];
    let bridge = Running::start_in(&usual, &line);

    messages_go_both_ways(&mut humble, &mut stock);
    calls_go_both_ways(&mut humble, &mut stock);

    // The node of Humble can read the announcements of the bridge, which is shown with its
    // endpoints.
    eventually(|| match humble.ask("endpoints rt/to_humble") {
        shown if shown.matches("feros_bridge").count() == 1 => Ok(()),
        shown => Err(shown),
    });
    assert!(humble.ask("nodes").starts_with("/ feros_bridge "), "{}", humble.ask("nodes"));
    assert_eq!(humble.ask("demanded"), "", "announcements that Humble cannot read");
    let has = |nodes: &Value, name: &str| {
        nodes.as_array().is_some_and(|nodes| nodes.iter().any(|node| node["name"] == name))
    };
    let nodes = stock.eventually("nodes", json!({}), |nodes| has(nodes, "feros_bridge"));
    assert!(!has(&nodes, "humble_node"), "the domains meet: {nodes}");

    bridge.interrupt();
    let said = bridge.finish().success();
    for service in ["/far/switch", "/near/switch"] {
        assert!(said.contains(&format!("bridged: service {service} ({SET_BOOL})")), "{said}");
    }
}

fn hex<M: feros::message::Message>(message: &M) -> String {
    HumblePeer::message(&to_vec(message).unwrap())
}

fn messages_go_both_ways(humble: &mut HumblePeer, stock: &mut Peer) {
    stock.ask("publisher", json!({"topic": "/to_humble", "type": TEXT}));
    stock.ask("subscription", json!({"topic": "/from_humble", "type": TEXT}));
    let from_humble = humble.ask_matched(format!("publisher /from_humble {WIRE_TEXT}"));
    let to_humble = humble.ask_matched(format!("subscription /to_humble {WIRE_TEXT}"));
    stock.ask("matched", json!({"topic": "/to_humble", "subscriptions": 1}));
    stock.ask("matched", json!({"topic": "/from_humble", "publishers": 1}));
    for said in ["grüße", &"large ".repeat(20_000)] {
        humble.ask(format!("publish {from_humble} {}", hex(&Text { data: said.to_owned() })));
        let heard = stock.ask("take", json!({"topic": "/from_humble"}));
        assert!(heard == json!([{"data": said}]), "{} characters differ", said.len());
        stock.ask("publish", json!({"topic": "/to_humble", "values": [{"data": said}]}));
        let heard = humble.ask_for_message(format!("take {to_humble}"));
        let heard: Text = from_bytes(&heard).unwrap();
        assert!(heard.data == said, "{} characters differ", said.len());
    }
}

fn calls_go_both_ways(humble: &mut HumblePeer, stock: &mut Peer) {
    let answer = json!({"success": true, "message": "far"});
    stock.ask("service", json!({"name": "/far/switch", "type": SET_BOOL, "response": answer}));
    let caller = humble.ask_matched(format!("client /far/switch {WIRE_SET_BOOL}"));
    let request = hex(&SetBool_Request { data: true });
    let response = humble.ask_for_message(format!("call {caller} {request}"));
    let response: SetBool_Response = from_bytes(&response).unwrap();
    assert_eq!(response, SetBool_Response { success: true, message: "far".to_owned() });
    let asked = stock.ask("requests", json!({"service": "/far/switch"}));
    assert_eq!(asked, json!([{"data": true}]));

    let server = humble.ask(format!("server /near/switch {WIRE_SET_BOOL}"));
    stock.ask("client", json!({"name": "/near/switch", "type": SET_BOOL}));
    stock.ask("wait", json!({"service": "/near/switch"}));
    let response = SetBool_Response { success: false, message: "near".to_owned() };
    let answered = std::thread::scope(|scope| {
        let call = json!({"service": "/near/switch", "requests": [{"data": true}]});
        let call = scope.spawn(|| stock.ask("call", call));
        let asked = humble.ask_for_message(format!("serve {server} {}", hex(&response)));
        assert_eq!(from_bytes::<SetBool_Request>(&asked).unwrap(), SetBool_Request { data: true });
        call.join().unwrap()
    });
    assert_eq!(answered, json!([{"success": false, "message": "near"}]));
}
