//! Tests the engine together with stock ROS 2 on Fast DDS (rclpy from the wheels), in separate
//! processes: topics, large messages through the shared memory of Fast DDS, services in both
//! directions, the graph, and a stock node that is killed.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::sync::Arc;

use feros_conformance::NotificationCounter;
use feros_engine::engine::Fill;
use feros_engine::{
    Client, ClientOptions, DiscoveryRange, EndpointKind, Engine, NodeId, NodeName, PublishMode,
    Publisher, PublisherOptions, QosProfile, Service, ServiceMapping, ServiceOptions, Session,
    SessionOptions, Subscription, SubscriptionOptions, TypeHash,
};
use feros_fastdds::FastDdsEngine;
use feros_interop::{Domain, Peer};
use feros_test_support::skip;
use serde_json::json;

const STRING: &str = "std_msgs/msg/String";
const SET_BOOL: &str = "std_srvs/srv/SetBool";
/// The hash of `std_msgs/msg/String`.
const STRING_HASH: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

struct Ours {
    session: Arc<dyn Session>,
    node: NodeId,
    changed: Arc<NotificationCounter>,
}

impl Ours {
    fn new(domain: &Domain) -> Self {
        let options = SessionOptions {
            domain_id: domain.id().into(),
            discovery_range: DiscoveryRange::Localhost,
            ..SessionOptions::default()
        };
        let session = FastDdsEngine.open(&options).unwrap();
        let node = session.create_node(&NodeName::new("/ours", "on_fastdds").unwrap()).unwrap();
        Self { session, node, changed: NotificationCounter::new() }
    }

    fn publisher(&self, topic: &str) -> Arc<dyn Publisher> {
        let options = PublisherOptions {
            node: self.node,
            topic,
            type_name: STRING,
            type_hash: TypeHash::parse(STRING_HASH),
            qos: QosProfile::default(),
            announcement: "",
            mode: PublishMode::Synchronous,
            on_event: Some(self.changed.notify()),
        };
        self.session.create_publisher(options).unwrap()
    }

    fn subscription(&self, topic: &str) -> Arc<dyn Subscription> {
        let options = SubscriptionOptions {
            node: self.node,
            topic,
            type_name: STRING,
            type_hash: TypeHash::parse(STRING_HASH),
            qos: QosProfile::default(),
            announcement: "",
            ignore_local_publications: false,
            on_data: self.changed.notify(),
            on_event: Some(self.changed.notify()),
        };
        self.session.create_subscription(options).unwrap()
    }

    fn service(&self, service: &str) -> Arc<dyn Service> {
        let options = ServiceOptions {
            node: self.node,
            service,
            type_name: SET_BOOL,
            type_hash: None,
            request_hash: None,
            response_hash: None,
            qos: QosProfile::services_default(),
            mapping: ServiceMapping::default(),
            replies_on_demand: false,
            local_requests_only: false,
            announcement: "",
            on_request: self.changed.notify(),
            on_match: self.changed.notify(),
        };
        self.session.create_service(options).unwrap()
    }

    fn client(&self, service: &str) -> Arc<dyn Client> {
        let options = ClientOptions {
            node: self.node,
            service,
            type_name: SET_BOOL,
            type_hash: None,
            request_hash: None,
            response_hash: None,
            qos: QosProfile::services_default(),
            force_mapping: None,
            announcement: "",
            on_response: self.changed.notify(),
            on_match: self.changed.notify(),
        };
        self.session.create_client(options).unwrap()
    }
}

/// Serializes a `std_msgs/msg/String`.
fn string(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
    [&[0, 1, 0, 0][..], &length, text.as_bytes(), &[0]].concat()
}

fn text(bytes: &[u8]) -> String {
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    String::from_utf8(bytes[8..8 + length - 1].to_vec()).unwrap()
}

fn copy(bytes: &[u8], send: impl FnOnce(usize, Fill<'_>)) {
    send(bytes.len(), &mut |memory| {
        memory.copy_from_slice(bytes);
        Ok(())
    });
}

#[test]
fn messages_go_both_ways_small_and_large() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = Ours::new(&domain);
    let mut peer = Peer::start(&domain, "/theirs", "stock_node");
    peer.ask("subscription", json!({"topic": "/to_stock", "type": STRING}));
    peer.ask("publisher", json!({"topic": "/to_us", "type": STRING}));
    let (publisher, subscription) = (ours.publisher("/to_stock"), ours.subscription("/to_us"));
    ours.changed.wait_for("both matches", || {
        (publisher.matched_subscriptions() == 1 && subscription.matched_publishers() == 1)
            .then_some(())
    });
    peer.ask("matched", json!({"topic": "/to_stock", "publishers": 1}));
    peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 1}));
    for said in ["", "hello", &"large ".repeat(200_000)] {
        copy(&string(said), |size, fill| {
            publisher.publish(size, fill).unwrap();
        });
        assert_eq!(peer.ask("take", json!({"topic": "/to_stock"})), json!([{"data": said}]));
        peer.ask("publish", json!({"topic": "/to_us", "values": [{"data": said}]}));
        let sample = ours.changed.wait_for("a message", || subscription.take().unwrap());
        assert!(text(&sample.payload) == said, "{} characters differ", said.len());
        assert!(!sample.info.from_same_session && sample.info.source_timestamp.is_some());
    }
    publisher.wait_for_all_acked(std::time::Duration::from_secs(60)).unwrap();
    drop(subscription);
    peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 0}));
}

/// Makes shared memory the only transport of Fast DDS in a stock node.
fn shared_memory_alone(command: &mut Command) {
    command.env("FASTDDS_BUILTIN_TRANSPORTS", "SHM");
}

#[test]
fn large_messages_take_the_shared_memory_of_fast_dds() {
    let version = feros_fastdds_sys::Shim::get().unwrap().fastdds_version();
    if !version.starts_with("3.") {
        return skip(format!(
            "stock nodes on Fast DDS 3 share no memory with {version}; scripts/setup.sh installs 3"
        ));
    }
    let Some(domain) = Domain::reserve() else { return };
    let ours = Ours::new(&domain);
    let mut peer = Peer::start_prepared(&domain, "/theirs", "shares_memory", shared_memory_alone);
    peer.ask("subscription", json!({"topic": "/to_stock", "type": STRING}));
    peer.ask("publisher", json!({"topic": "/to_us", "type": STRING}));
    let (publisher, subscription) = (ours.publisher("/to_stock"), ours.subscription("/to_us"));
    ours.changed.wait_for("both matches", || {
        (publisher.matched_subscriptions() == 1 && subscription.matched_publishers() == 1)
            .then_some(())
    });
    peer.ask("matched", json!({"topic": "/to_stock", "publishers": 1}));
    peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 1}));
    for said in ["hello", &"image ".repeat(400_000)] {
        copy(&string(said), |size, fill| {
            publisher.publish(size, fill).unwrap();
        });
        assert_eq!(peer.ask("take", json!({"topic": "/to_stock"})), json!([{"data": said}]));
        peer.ask("publish", json!({"topic": "/to_us", "values": [{"data": said}]}));
        let sample = ours.changed.wait_for("a message", || subscription.take().unwrap());
        assert!(text(&sample.payload) == said, "{} characters differ", said.len());
    }
}

#[test]
fn a_peer_that_is_killed_is_followed_by_the_next_one() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = Ours::new(&domain);
    let subscription = ours.subscription("/to_us");
    for said in ["first", "second", "third"] {
        let mut peer = Peer::start(&domain, "/theirs", "mortal");
        peer.ask("publisher", json!({"topic": "/to_us", "type": STRING}));
        peer.ask("matched", json!({"topic": "/to_us", "subscriptions": 1}));
        peer.ask("publish", json!({"topic": "/to_us", "values": [{"data": said}]}));
        let sample = ours.changed.wait_for("a message", || subscription.take().unwrap());
        assert_eq!(text(&sample.payload), said);
        peer.kill();
    }
    assert!(subscription.take().unwrap().is_none());
}

#[test]
fn services_are_called_both_ways() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = Ours::new(&domain);
    let mut peer = Peer::start(&domain, "/theirs", "stock_node");
    peer.ask(
        "service",
        json!({"name": "/theirs/set", "type": SET_BOOL,
        "response": {"success": true, "message": "theirs"}}),
    );
    let client = ours.client("/theirs/set");
    ours.changed.wait_for("their server", || client.service_is_available().then_some(()));
    for _ in 0..5 {
        let mut asked = 0;
        copy(&[0, 1, 0, 0, 1], |size, fill| asked = client.send_request(size, fill).unwrap());
        let (answered, response) =
            ours.changed.wait_for("their answer", || client.take_response().unwrap());
        assert_eq!((answered, response.payload[4]), (asked, 1));
        assert_eq!(text(&response.payload[4..]), "theirs");
        assert_eq!(
            peer.ask("requests", json!({"service": "/theirs/set"})),
            json!([{"data": true}])
        );
    }

    let server = ours.service("/ours/set");
    peer.ask("client", json!({"name": "/ours/set", "type": SET_BOOL}));
    peer.ask("wait", json!({"service": "/ours/set"}));
    let message = "x".repeat(300_000);
    let answer = [&[0, 1, 0, 0, 1, 0, 0, 0], &string(&message)[4..]].concat();
    let answers = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                let (id, request) =
                    ours.changed.wait_for("a request", || server.take_request().unwrap());
                assert_eq!(request.payload[4], 1);
                copy(&answer, |size, fill| server.send_response(&id, size, fill).unwrap());
            }
        });
        let request = json!({"data": true});
        peer.ask("call", json!({"service": "/ours/set", "requests": [request, request, request]}))
    });
    let expected = json!({"success": true, "message": message});
    assert!(answers == json!([expected, expected, expected]), "the three answers are not ours");
}

#[test]
fn each_sees_the_other_in_its_graph() {
    let Some(domain) = Domain::reserve() else { return };
    let ours = Ours::new(&domain);
    let mut peer = Peer::start(&domain, "/theirs", "stock_node");
    peer.ask("subscription", json!({"topic": "/seen", "type": STRING}));
    let publisher = ours.publisher("/seen");
    let _service = ours.service("/ours/seen");
    let guard = ours.session.on_graph_change(ours.changed.notify());
    let seen = ours.changed.wait_for("the stock subscription with its node", || {
        let graph = ours.session.graph();
        let found = graph.endpoints_of(EndpointKind::Subscription, "/seen").next().cloned();
        found.filter(|endpoint| endpoint.node.name().is_some())
    });
    assert_eq!(seen.node.name().unwrap(), &NodeName::new("/theirs", "stock_node").unwrap());
    assert_eq!((seen.type_name.as_str(), seen.type_hash), (STRING, TypeHash::parse(STRING_HASH)));
    drop(guard);

    peer.ask("matched", json!({"topic": "/seen", "publishers": 1}));
    // A node is announced after its endpoints, so the test asks the stock node again until it knows
    // the announcement.
    let gid = publisher.gid().0.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let shown = (0..600).find_map(|_| {
        let shown = peer.ask("publishers", json!({"topic": "/seen"}));
        let is_named = shown[0]["node"] == "on_fastdds";
        std::thread::sleep(std::time::Duration::from_millis(if is_named { 0 } else { 100 }));
        is_named.then_some(shown)
    });
    let shown = shown.expect("the publisher is shown with its node");
    assert_eq!(shown[0]["namespace"], "/ours");
    assert_eq!(shown[0]["type"], STRING);
    assert_eq!(shown[0]["hash"], STRING_HASH);
    assert_eq!(shown[0]["gid"], gid);
    let node = peer.ask("node", json!({"name": "on_fastdds", "namespace": "/ours"}));
    assert_eq!(node["services"], json!({"/ours/seen": [SET_BOOL]}));
    assert_eq!(node["publishers"], json!({"/seen": [STRING]}));
    let nodes = peer.ask("nodes", json!({}));
    let nodes = nodes.as_array().unwrap();
    assert!(nodes.iter().any(|node| node["name"] == "on_fastdds" && node["enclave"] == "/"));
}
