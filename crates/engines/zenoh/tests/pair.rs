//! Sessions that use Cyclone DDS and Zenoh at the same time (`feros_engine_pair`). The tests cover
//! the conformance suite, messages between such sessions and with nodes on only one engine, the
//! loss of an engine, a bridge between the two engines, and nodes of other projects on both
//! engines.
#![allow(clippy::unwrap_used)]

mod bridging;
mod ends;
mod network;
mod python;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use feros_conformance::{
    Fixture, TestPublisher, TestSubscription, conformance_tests, text_in, text_message,
};
use feros_cyclonedds::CycloneEngine;
use feros_engine::{DiscoveryRange, Engine, OpenError, QosProfile, Session, SessionOptions};
use feros_engine_pair::PairEngine;
use feros_interop::{Domain, Peer};
use feros_test_support::Watchdog;
use serde_json::json;

use bridging::bridging;
use ends::{SET_BOOL, STRING, response, wire_node};
use network::{DOMAIN_ID, Network};
use python::pyzeros;

/// Cyclone DDS in a fixed domain, no matter which domain the session requests.
struct InDomain(u16);

impl Engine for InDomain {
    fn name(&self) -> &'static str {
        "cyclonedds"
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        CycloneEngine.open(&SessionOptions {
            domain_id: self.0.into(),
            discovery_range: DiscoveryRange::Localhost,
            ..options.clone()
        })
    }
}

fn open(engine: &dyn Engine) -> Arc<dyn Session> {
    engine.open(&SessionOptions { domain_id: DOMAIN_ID, ..SessionOptions::default() }).unwrap()
}

/// A DDS domain and a Zenoh network.
struct Both {
    domain: Domain,
    network: Network,
}

impl Both {
    fn new() -> Self {
        Self { domain: Domain::reserve_without_ros2(), network: Network::new() }
    }

    fn dds(&self) -> Arc<dyn Session> {
        open(&InDomain(self.domain.id()))
    }

    fn zenoh(&self) -> Arc<dyn Session> {
        open(&*self.network.engine("client"))
    }

    /// Opens a session on both engines, with DDS as the first engine.
    fn pair(&self) -> Arc<dyn Session> {
        open(&self.engine())
    }

    fn engine(&self) -> PairEngine {
        let dds: Arc<dyn Engine> = Arc::new(InDomain(self.domain.id()));
        PairEngine::new([dds, self.network.engine("client")])
    }

    /// Opens a session on both engines, with Zenoh as the first engine.
    fn turned(&self) -> Arc<dyn Session> {
        let dds: Arc<dyn Engine> = Arc::new(InDomain(self.domain.id()));
        open(&PairEngine::new([self.network.engine("client"), dds]))
    }
}

/// Sessions on both engines. The first engine has enough time to find an endpoint that is on both
/// engines, no matter how busy the machine is.
struct Twins;
impl Twins {
    fn session() -> Arc<dyn Session> {
        static DOMAIN: OnceLock<Domain> = OnceLock::new();
        let domain = DOMAIN.get_or_init(Domain::reserve_without_ros2).id();
        let dds: Arc<dyn Engine> = Arc::new(InDomain(domain));
        let engine = PairEngine::new([dds, Network::shared().engine("peer")]);
        open(&engine.settling(Duration::from_secs(3600)))
    }
}
impl Fixture for Twins {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (Self::session(), Self::session())
    }
}

conformance_tests!(conformance, Twins);

/// Publishes these numbers as strings.
fn numbers(publisher: &TestPublisher, range: std::ops::Range<u32>) {
    range.for_each(|number| publisher.send(&text_message(&number.to_string())));
}

fn next_number(subscription: &TestSubscription) -> u32 {
    text_in(&subscription.next().payload).parse().unwrap()
}

fn nothing_more(subscription: &TestSubscription) {
    assert!(subscription.subscription.take().unwrap().is_none(), "a message arrived twice");
}

/// Each message arrives once and in order at sessions on both engines, with either engine first,
/// and at sessions on one engine.
#[test]
fn each_message_comes_once() {
    let _watchdog = Watchdog::start();
    let both = Both::new();
    let ends = [both.pair(), both.pair(), both.turned(), both.dds(), both.zenoh()]
        .map(|session| wire_node(session, "end"));
    let subscriptions: Vec<_> = ends
        .iter()
        .map(|end| end.subscription_of("/wire/once", STRING, QosProfile::keep_all()))
        .collect();
    let publisher = ends[0].publisher_of("/wire/once", STRING, QosProfile::keep_all());
    publisher.wait_for_matches(ends.len());
    subscriptions.iter().for_each(|heard| heard.wait_for_matches(1));
    std::thread::scope(|scope| {
        scope.spawn(|| numbers(&publisher, 0..500));
        for subscription in &subscriptions {
            (0..500).for_each(|number| assert_eq!(next_number(subscription), number));
        }
    });
    // Once the last message is acknowledged, any duplicate has arrived.
    publisher.publisher.wait_for_all_acked(feros_test_support::WATCHDOG).unwrap();
    subscriptions.iter().for_each(nothing_more);
}

/// A subscription on both engines also receives from publishers that are on only one engine.
#[test]
fn both_engines_are_heard() {
    let _watchdog = Watchdog::start();
    let both = Both::new();
    let subscriber = wire_node(both.pair(), "subscriber");
    let subscription = subscriber.subscription_of("/wire/heard", STRING, QosProfile::keep_all());
    let singles = [both.dds(), both.zenoh()].map(|session| wire_node(session, "single"));
    let publishers = singles
        .each_ref()
        .map(|end| end.publisher_of("/wire/heard", STRING, QosProfile::keep_all()));
    publishers.iter().for_each(|publisher| publisher.wait_for_matches(1));
    subscription.wait_for_matches(2);
    for number in 0..50 {
        publishers.iter().for_each(|publisher| numbers(publisher, number..number + 1));
        assert_eq!([next_number(&subscription), next_number(&subscription)], [number; 2]);
    }
    nothing_more(&subscription);
    let graph = subscriber
        .wait_for_graph("all nodes", |graph| (graph.nodes.len() == 3).then(|| graph.clone()));
    assert_eq!(
        graph.endpoints_of(feros_engine::EndpointKind::Subscription, "/wire/heard").count(),
        1
    );
}

/// The Zenoh router is killed while two sessions on both engines communicate, and is then started
/// again. If DDS is the first engine, no messages are lost, not even messages that use both
/// engines.
#[test]
fn the_second_engine_is_lost_and_returns() {
    let _watchdog = Watchdog::start();
    let mut both = Both::new();
    let [near, far] = [both.pair(), both.pair()].map(|session| wire_node(session, "end"));
    let latched = QosProfile::keep_all().transient_local();
    let pairs = [("/wire/volatile", QosProfile::keep_all()), ("/wire/latched", latched)].map(
        |(topic, qos)| {
            (near.publisher_of(topic, STRING, qos), far.subscription_of(topic, STRING, qos))
        },
    );
    pairs.iter().for_each(|(publisher, subscription)| {
        publisher.wait_for_matches(1);
        subscription.wait_for_matches(1);
    });
    for step in 0..4 {
        match step {
            1 => both.network.kill(),
            3 => both.network.restart(),
            _ => {}
        }
        for (publisher, subscription) in &pairs {
            std::thread::scope(|scope| {
                scope.spawn(|| numbers(publisher, step * 100..step * 100 + 100));
                (0..100).for_each(|n| assert_eq!(next_number(subscription), step * 100 + n));
            });
            assert_eq!(publisher.publisher.matched_subscriptions(), 1);
        }
    }
    // The router is back. It brings the messages on Zenoh and the latched messages again; they are
    // new only for a late subscription on Zenoh.
    let late = wire_node(both.zenoh(), "late");
    let late = late.subscription_of("/wire/latched", STRING, latched);
    assert_eq!((next_number(&late), next_number(&late)), (0, 1));
    pairs.iter().for_each(|(_, subscription)| nothing_more(subscription));
}

/// The first engine is lost. The second engine continues, and no message arrives twice or out of
/// order.
#[test]
fn the_first_engine_is_lost() {
    let _watchdog = Watchdog::start();
    let mut both = Both::new();
    let [near, far] = [both.turned(), both.turned()].map(|session| wire_node(session, "end"));
    let publisher = near.publisher_of("/wire/first", STRING, QosProfile::keep_last(1000));
    let subscription = far.subscription_of("/wire/first", STRING, QosProfile::keep_last(1000));
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    numbers(&publisher, 0..10);
    (0..10).for_each(|number| assert_eq!(next_number(&subscription), number));
    both.network.kill();
    // Messages may be lost until the loss of the first engine is noticed. From then on, every
    // message arrives.
    let mut next = 10;
    let mut last = 9;
    let first_after = loop {
        numbers(&publisher, next..next + 1);
        next += 1;
        std::thread::sleep(Duration::from_millis(5));
        if let Some(sample) = subscription.subscription.take().unwrap() {
            break text_in(&sample.payload).parse::<u32>().unwrap();
        }
    };
    assert!(first_after > last);
    last = first_after;
    numbers(&publisher, next..next + 100);
    while last < next + 99 {
        let number = next_number(&subscription);
        assert_eq!(number, last + 1, "from then on, no message is lost");
        last = number;
    }
    nothing_more(&subscription);
}

/// A late subscription gets the latched messages once, no matter whether it is on one engine or on
/// both engines.
#[test]
fn latched_messages_are_there_for_late_joiners() {
    let _watchdog = Watchdog::start();
    let both = Both::new();
    let publisher = wire_node(both.pair(), "publisher");
    let latched = QosProfile::keep_last(2).transient_local();
    let publisher = publisher.publisher_of("/wire/latched", STRING, latched);
    numbers(&publisher, 0..5);
    for session in [both.dds(), both.zenoh(), both.pair(), both.turned()] {
        let late = wire_node(session, "late");
        let late = late.subscription_of("/wire/latched", STRING, latched);
        assert_eq!((next_number(&late), next_number(&late)), (3, 4));
        late.wait_for_matches(1);
        publisher.publisher.wait_for_all_acked(feros_test_support::WATCHDOG).unwrap();
        nothing_more(&late);
    }
}

/// A server on both engines responds to clients on either engine, and a client on both engines
/// calls servers on either engine.
#[test]
fn calls_are_answered_once() {
    let _watchdog = Watchdog::start();
    let both = Both::new();
    let sessions = || [both.dds(), both.zenoh(), both.pair(), both.turned()];
    let on_both = wire_node(both.pair(), "server");
    let server = on_both.service_of("/wire/served", SET_BOOL);
    for session in sessions() {
        let client = wire_node(session, "client");
        let client = client.client_of("/wire/served", SET_BOOL);
        client.wait_for_server();
        for round in 0..10 {
            let asked = client.send(&[0, 1, 0, 0, 1]);
            let (request, _) = server.next();
            server.respond_once(&request, &response(true, &round.to_string())).unwrap();
            let (number, answer) = client.next();
            assert_eq!((number, text_in(&answer.payload[4..])), (asked, &*round.to_string()));
        }
        assert!(client.client.take_response().unwrap().is_none());
        assert!(server.service.take_request().unwrap().is_none());
    }
    let client = on_both.client_of("/wire/asked", SET_BOOL);
    for session in sessions() {
        let server = wire_node(session, "server");
        let server = server.service_of("/wire/asked", SET_BOOL);
        client.wait_for_server();
        assert_eq!(client.client.servers().len(), 1);
        let asked = client.send(&[0, 1, 0, 0, 1]);
        let (request, _) = server.next();
        server.respond_once(&request, &response(true, "yes")).unwrap();
        assert_eq!(client.next().0, asked);
        drop(server);
        client.wait_for_end_of_server();
    }
}

/// A bridge between the same two engines connects endpoints that are on only one engine. Endpoints
/// on both engines do not get messages a second time through the bridge.
#[test]
fn a_bridge_brings_no_second_copy_to_endpoints_on_both_engines() {
    let _watchdog = Watchdog::start();
    let both = Both::new();
    let ends = [both.dds(), both.zenoh()].map(|session| wire_node(session, "single"));
    let pair = wire_node(both.pair(), "pair");
    let heard = ends
        .each_ref()
        .map(|end| end.subscription_of("/wire/bridged", STRING, QosProfile::keep_all()));
    let heard_by_pair = pair.subscription_of("/wire/bridged", STRING, QosProfile::keep_all());
    let publishers = ends
        .each_ref()
        .map(|end| end.publisher_of("/wire/bridged", STRING, QosProfile::keep_all()));
    // A running bridge treats the publisher as an endpoint on one engine until it has found it on
    // both.
    let publisher = pair.publisher_of("/wire/bridged", STRING, QosProfile::keep_all());
    let sides = vec![("DDS".to_owned(), both.dds()), ("Zenoh".to_owned(), both.zenoh())];
    let _bridge = bridging(sides);
    // The bridge is ready when the subscription on each engine matches the publisher on the other
    // engine. The pair ignores the bridge.
    for subscription in heard.iter().chain([&heard_by_pair]) {
        subscription.wait_for_matches(3);
    }
    for number in 0..100 {
        let side = number as usize % 2;
        numbers(&publishers[side], number..number + 1);
        // This message arrives through the bridge. Its arrival shows that the bridge has passed it
        // to every subscription.
        assert_eq!(next_number(&heard[1 - side]), number);
        assert_eq!(next_number(&heard[side]), number);
        assert_eq!(next_number(&heard_by_pair), number);
    }
    numbers(&publisher, 100..200);
    for number in 100..200 {
        heard.iter().for_each(|heard| assert_eq!(next_number(heard), number));
        assert_eq!(next_number(&heard_by_pair), number);
    }
    // Each of these messages passes through the bridge after the earlier messages.
    for side in [0, 1] {
        numbers(&publishers[side], 200..201);
        assert_eq!(next_number(&heard[1 - side]), 200);
        assert_eq!(next_number(&heard[side]), 200);
        assert_eq!(next_number(&heard_by_pair), 200);
    }
    heard.iter().chain([&heard_by_pair]).for_each(nothing_more);
}

/// One session communicates with stock rclpy on DDS and with pyzeros on Zenoh.
#[test]
fn stock_nodes_of_both_engines_are_met() {
    let Some(domain) = Domain::reserve() else { return };
    let both = Both { domain, network: Network::new() };
    let Some(_pyzeros) = pyzeros(&both.network) else { return };
    let mut stock = Peer::start(&both.domain, "/theirs", "stock");
    let end = wire_node(both.pair(), "pair");
    let qos = QosProfile::default();
    let of = |topic: &str| json!({"topic": topic, "type": STRING.0, "qos": {}});
    stock.ask("subscription", of("/wire/in"));
    let [out, input] = [("/wire/out"), ("/wire/in")];
    let heard = end.subscription_of(out, STRING, qos);
    let publisher = end.publisher_of(input, STRING, qos);
    publisher.wait_for_matches(2);
    heard.wait_for_matches(1);
    stock.ask("matched", json!({"topic": input, "publishers": 1}));
    publisher.publish(&text_message("hello, both"));
    assert_eq!(text_in(&heard.next().payload), "repeated: hello, both");
    let taken = stock.ask("take", json!({"topic": input}));
    assert_eq!(taken, json!([{"data": "hello, both"}]));
    stock.ask("publisher", of(out));
    stock.ask("matched", json!({"topic": out, "subscriptions": 1}));
    stock.ask("publish", json!({"topic": out, "values": [{"data": "by stock"}]}));
    assert_eq!(text_in(&heard.next().payload), "by stock");
    nothing_more(&heard);

    let answer = json!({"success": true, "message": "by stock"});
    stock.ask("service", json!({"name": "/wire/stock", "type": SET_BOOL.0, "response": answer}));
    for (service, says) in [("/wire/stock", "by stock"), ("/wire/python", "by Python")] {
        let client = end.client_of(service, SET_BOOL);
        client.wait_for_server();
        let asked = client.send(&[0, 1, 0, 0, 1]);
        let (number, answer) = client.next();
        assert_eq!((number, text_in(&answer.payload[4..])), (asked, says));
    }
    // pyzeros calls this server, and so does stock ROS 2.
    let server = end.service_of("/wire/feros", SET_BOOL);
    let called = end.subscription_of("/wire/called", STRING, qos);
    let (request, _) = server.next();
    server.respond_once(&request, &response(true, "by both")).unwrap();
    assert_eq!(text_in(&called.next().payload), "True by both");
    stock.ask("client", json!({"name": "/wire/feros", "type": SET_BOOL.0}));
    stock.ask("wait", json!({"service": "/wire/feros"}));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (request, _) = server.next();
            server.respond_once(&request, &response(true, "to stock")).unwrap();
        });
        let call = json!({"service": "/wire/feros", "requests": [{"data": true}]});
        assert_eq!(stock.ask("call", call)[0], json!({"success": true, "message": "to stock"}));
    });
}

/// The error names the engine that cannot start.
#[test]
fn the_engine_that_cannot_start_is_named() {
    let dds: Arc<dyn Engine> = Arc::new(CycloneEngine);
    let engine = PairEngine::new([dds, Network::shared().engine("peer")]);
    let options = SessionOptions { domain_id: 233, ..SessionOptions::default() };
    let error = engine.open(&options).err().unwrap().to_string();
    assert!(
        error.starts_with("cyclonedds,zenoh could not start together, because of cyclonedds: ")
    );
}
