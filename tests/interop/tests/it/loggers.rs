//! Tests that logger levels are read and set in both directions, and that the logs of a node's
//! child loggers arrive on `/rosout`.

use feros::msgs::rcl_interfaces::msg::{Log, LoggerLevel};
use feros::msgs::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevels_Request, SetLoggerLevels, SetLoggerLevels_Request,
};
use feros::{LogLevel, NodeOptions, QosProfile};
use feros_interop::Domain;
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, context, node, stock};

#[test]
fn stock_asks_and_sets_our_levels() {
    let Some(domain) = Domain::reserve() else { return };
    let options = NodeOptions::new("feros_node").namespace("/ours").enable_logger_service(true);
    let node = context(&domain).create_node_with(options).unwrap();
    let mut peer = stock(&domain);
    let _spinning = Spinning::new(&node);
    let service = |verb: &str| format!("/ours/feros_node/{verb}_logger_levels");
    for (verb, ty) in [("get", "GetLoggerLevels"), ("set", "SetLoggerLevels")] {
        let ty = format!("rcl_interfaces/srv/{ty}");
        peer.ask("client", json!({"name": service(verb), "type": ty}));
        peer.ask("wait", json!({"service": service(verb)}));
    }
    let mut call = |verb: &str, request: Value| {
        peer.ask("call", json!({"service": service(verb), "requests": [request]}))[0].clone()
    };
    let names = json!({"names": ["ours.feros_node", ""]});
    let before = call("get", names.clone());
    assert_eq!(before["levels"][0], json!({"name": "ours.feros_node", "level": 0}));
    assert_eq!(before["levels"][1], json!({"name": "", "level": 20}));
    let levels = json!([{"name": "ours.feros_node", "level": 10}, {"name": "other", "level": 25}]);
    let results = call("set", json!({"levels": levels}));
    assert_eq!(results["results"][0], json!({"successful": true, "reason": ""}));
    assert_eq!(results["results"][1]["successful"], false);
    assert_eq!(feros::logging::effective_level("ours.feros_node"), LogLevel::Debug);
    assert_eq!(call("get", names)["levels"][0]["level"], 10);
    call("set", json!({"levels": [{"name": "ours.feros_node", "level": 0}]}));
    assert_eq!(feros::logging::effective_level("ours.feros_node"), LogLevel::Info);
}

#[test]
fn we_ask_and_set_levels_of_stock() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    peer.ask("logger_services", json!({}));
    let service = |verb: &str| format!("/theirs/stock_node/{verb}_logger_levels");
    let get = node.create_client::<GetLoggerLevels>(&service("get")).unwrap();
    let set = node.create_client::<SetLoggerLevels>(&service("set")).unwrap();
    get.wait_for_service(WATCHDOG).unwrap();
    set.wait_for_service(WATCHDOG).unwrap();
    let level = || {
        let request = GetLoggerLevels_Request { names: vec!["theirs.stock_node".into()] };
        get.call_and_wait(&request, WATCHDOG).unwrap().levels[0].level
    };
    assert_eq!(level(), 0);
    let wanted = LoggerLevel { name: "theirs.stock_node".into(), level: 40 };
    let request = SetLoggerLevels_Request { levels: vec![wanted] };
    assert!(set.call_and_wait(&request, WATCHDOG).unwrap().results[0].successful);
    assert_eq!(level(), 40);
}

#[test]
fn loggers_below_a_node_s_are_heard_in_both_directions() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let heard = Inbox::<Log>::new();
    let qos = QosProfile::rosout_default();
    let _subscription = node.create_subscription("/rosout", qos, heard.putter()).unwrap();
    let _spinning = Spinning::new(&node);
    peer.ask("log", json!({"text": "of theirs", "level": "warn", "child": "arm"}));
    let log = heard.take_where(|log| log.msg == "of theirs");
    assert_eq!((log.name.as_str(), log.level), ("theirs.stock_node.arm", Log::WARN));

    let latched = json!({"durability": "transient_local", "depth": 1000});
    let ty = "rcl_interfaces/msg/Log";
    peer.ask("subscription", json!({"topic": "/rosout", "type": ty, "qos": latched}));
    feros::error!(node.child_logger("arm"), "of ours");
    let found = loop {
        let logs = peer.ask("take", json!({"topic": "/rosout"}));
        if logs[0]["msg"] == "of ours" {
            break logs[0].clone();
        }
    };
    assert_eq!((&found["name"], &found["level"]), (&json!("ours.feros_node.arm"), &json!(40)));
}
