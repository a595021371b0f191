//! Tests of the bridge between Cyclone DDS and Zenoh, with nodes of other projects on both sides:
//! stock rclpy on DDS, and pyzeros on Zenoh.
#![allow(clippy::unwrap_used)]

mod bridging;
mod ends;
mod network;
mod python;

use std::sync::Arc;

use feros_conformance::{text_in, text_message};
use feros_cyclonedds::CycloneEngine;
use feros_engine::{Engine as _, QosProfile, Session, SessionOptions};
use feros_interop::{Domain, Peer};
use feros_test_support::{Background, Watchdog};
use serde_json::json;

use bridging::bridging;
use ends::{SET_BOOL, STRING, response, wire_node};
use network::Network;
use python::pyzeros;

fn dds(domain: &Domain) -> Arc<dyn Session> {
    let options = SessionOptions::localhost(domain.id().into());
    CycloneEngine.open(&options).unwrap()
}

fn bridge(dds: Arc<dyn Session>, zenoh: Arc<dyn Session>) -> Background {
    bridging(vec![("DDS".to_owned(), dds), ("Zenoh".to_owned(), zenoh)])
}

/// A stock node on DDS and a pyzeros node on Zenoh communicate over topics and services in both
/// directions.
#[test]
fn stock_nodes_of_both_engines_talk() {
    let network = Network::new();
    let Some(domain) = Domain::reserve() else { return };
    let Some(_pyzeros) = pyzeros(&network) else { return };
    let mut stock = Peer::start(&domain, "/theirs", "stock");
    let _bridge = bridge(dds(&domain), network.peer());
    let of = |topic: &str| json!({"topic": topic, "type": STRING.0, "qos": {}});
    stock.ask("publisher", of("/wire/in"));
    stock.ask("subscription", of("/wire/out"));
    stock.ask("matched", json!({"topic": "/wire/in", "subscriptions": 1}));
    stock.ask("matched", json!({"topic": "/wire/out", "publishers": 1}));
    // pyzeros does not report its matches, so the first messages may be sent before the bridge
    // matches it. So the message is sent repeatedly.
    let heard = loop {
        stock.ask("publish", json!({"topic": "/wire/in", "values": [{"data": "hello, wörld"}]}));
        if let Ok(heard) = stock.try_ask("take", json!({"topic": "/wire/out", "timeout": 2.0})) {
            break heard;
        }
    };
    assert_eq!(heard[0], json!({"data": "repeated: hello, wörld"}));

    stock.ask("client", json!({"name": "/wire/python", "type": SET_BOOL.0}));
    stock.ask("wait", json!({"service": "/wire/python"}));
    let answers =
        stock.ask("call", json!({"service": "/wire/python", "requests": [{"data": true}]}));
    assert_eq!(answers[0], json!({"success": true, "message": "by Python"}));

    stock.ask("subscription", of("/wire/called"));
    let answer = json!({"success": true, "message": "by stock"});
    stock.ask("service", json!({"name": "/wire/feros", "type": SET_BOOL.0, "response": answer}));
    let said = stock.ask("take", json!({"topic": "/wire/called"}));
    assert_eq!(said[0], json!({"data": "True by stock"}));
    assert_eq!(stock.ask("requests", json!({"service": "/wire/feros"})), json!([{"data": true}]));
}

/// A late subscription gets the latched messages of the other side. This works in both directions.
#[test]
fn latched_messages_reach_late_subscriptions_through_the_bridge() {
    let _watchdog = Watchdog::start();
    let network = Network::new();
    let domain = Domain::reserve_without_ros2();
    let ends = [wire_node(dds(&domain), "dds"), wire_node(network.peer(), "zenoh")];
    let _bridge = bridge(dds(&domain), network.peer());
    let latched = QosProfile::keep_last(1).transient_local();
    for (from, to, topic) in [(0, 1, "/wire/down"), (1, 0, "/wire/up")] {
        let publisher = ends[from].publisher_of(topic, STRING, latched);
        publisher.publish(&text_message("old"));
        publisher.publish(&text_message("new"));
        for _ in 0..2 {
            let late = ends[to].subscription_of(topic, STRING, latched);
            assert_eq!(text_in(&late.next().payload), "new");
        }
    }
}

/// The Zenoh router ends and starts again, and so does a server on DDS.
#[test]
fn the_bridge_survives_its_router_and_its_servers() {
    let _watchdog = Watchdog::start();
    let mut network = Network::new();
    let domain = Domain::reserve_without_ros2();
    let near = wire_node(dds(&domain), "dds");
    let far = wire_node(network.client(), "zenoh");
    let _bridge = bridge(dds(&domain), network.client());
    let publisher = near.publisher_of("/wire/returns", STRING, QosProfile::default());
    let subscription = far.subscription_of("/wire/returns", STRING, QosProfile::default());
    let client = far.client_of("/wire/returning", SET_BOOL);
    for round in ["first", "second"] {
        publisher.wait_for_matches(1);
        subscription.wait_for_matches(1);
        publisher.publish(&text_message(round));
        assert_eq!(text_in(&subscription.next().payload), round);
        let server = near.service_of("/wire/returning", SET_BOOL);
        client.wait_for_server();
        let asked = client.send(&[0, 1, 0, 0, 1]);
        let (request, _) = server.next();
        server.respond_once(&request, &response(true, round)).unwrap();
        let (number, answer) = client.next();
        assert_eq!((number, text_in(&answer.payload[4..])), (asked, round));
        drop(server);
        if round == "first" {
            network.kill();
            publisher.wait_for_matches(0);
            network.restart();
        }
    }
}
