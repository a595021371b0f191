//! Tests of the robots of a fleet: a session that knows only the names of its robot, robots that
//! may use only their own names, and a robot on DDS that a bridge with a prefix joins to an
//! operator on another host.
//!
//! The tests with hosts need root, as in `hosts.rs`.
#![allow(clippy::unwrap_used)]

mod bridging;
mod ends;
mod network;
mod page;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use feros_conformance::{TestNode, text_in, text_message};
use feros_cyclonedds::CycloneEngine;
use feros_engine::{
    CreateEndpointError, EndpointKind, Engine as _, NamePrefix, NodeId, PublisherOptions,
    QosProfile, Session, SessionOptions,
};
use feros_engine_bridge::BridgeOptions;
use feros_link::{Link, LinkOptions, Namespace, NamespaceError, host_address};
use feros_test_support::{TestProcess, Watchdog, free_tcp_port, obey, skip, spawn, until};
use feros_zenoh::access_of_fleet;

use bridging::bridging_with;
use ends::{SET_BOOL, STRING, response, wire_node};
use network::{DOMAIN_ID, Network, WATCHFUL};
use page::Page;

const QOS: fn() -> QosProfile = QosProfile::default;

/// A session that knows the names below `/robot1` finds endpoints there, with their announcements.
/// It sees no other endpoints and no other nodes, and a new router does not change that.
#[test]
fn a_session_knows_only_the_names_of_its_robot() {
    let _watchdog = Watchdog::start();
    let mut network = Network::new();
    let robot = wire_node(network.part("/robot1"), "robot");
    let operator = wire_node(network.client(), "operator");
    let others: Vec<_> = ["/robot2/state", "/robot10/state", "/state", "/robot1"]
        .map(|topic| operator.publisher_of(topic, STRING, QOS()))
        .into();
    let seen = operator.subscription_of("/robot1/state", STRING, QOS());
    let command = operator.publisher_of("/robot1/arm/command", STRING, QOS());
    command.publisher.announce("announced").unwrap();
    let client = operator.client_of("/robot1/enable", SET_BOOL);
    let state = robot.publisher_of("/robot1/state", STRING, QOS());
    let obeyed = robot.subscription_of("/robot1/arm/command", STRING, QOS());
    let server = robot.service_of("/robot1/enable", SET_BOOL);
    for round in ["first", "second"] {
        for (publisher, subscription) in [(&state, &seen), (&command, &obeyed)] {
            publisher.wait_for_matches(1);
            subscription.wait_for_matches(1);
            publisher.publish(&text_message(round));
            assert_eq!(text_in(&subscription.next().payload), round);
        }
        client.wait_for_server();
        client.send(&[0, 1, 0, 0, 1]);
        server.respond_once(&server.next().0, &response(true, round)).unwrap();
        assert_eq!(text_in(&client.next().1.payload[4..]), round);
        let announced = obeyed.subscription.matches()[0].announcement.clone();
        assert_eq!(announced.as_deref(), Some("announced"));
        let graph = robot.session.graph();
        let is_below = |name: &str| name.starts_with("/robot1/");
        assert!(graph.endpoints.iter().all(|endpoint| is_below(&endpoint.name)), "{graph:?}");
        assert_eq!(graph.endpoints.len(), 6, "three of each: {graph:?}");
        assert_eq!(graph.nodes.len(), 1, "{:?}", graph.nodes);
        assert!(operator.session.graph().endpoints.len() >= 6 + others.len());
        if round == "first" {
            network.kill();
            state.wait_for_matches(0);
            network.restart();
        }
    }
}

/// An endpoint outside of the part would not find its matches, so the session refuses it.
#[test]
fn an_endpoint_outside_of_the_known_part_is_refused() {
    let network = Network::new();
    let robot = wire_node(network.part("/robot1"), "robot");
    for topic in ["/robot2/state", "/robot1"] {
        let options = PublisherOptions::new(NodeId(0), topic, STRING.0);
        let Err(error) = robot.session.create_publisher(options) else { panic!("{topic}") };
        assert!(matches!(error, CreateEndpointError::Name { .. }), "{error}");
        assert!(error.to_string().contains("names below /robot1 only"), "{error}");
    }
}

/// In a fleet, each robot uses the names below its own namespace: with topics, latched topics and
/// services, in both directions. It neither hears nor reaches the names of another robot, and a
/// stranger with a certificate of the same authority uses nothing. The certificates and settings
/// are those of the book's page.
#[test]
fn robots_of_a_fleet_use_only_their_own_names() {
    let Some(page) = Page::followed() else { return };
    let robots = ["robot1", "robot2"].map(|robot| NamePrefix::new(robot).unwrap());
    let access = access_of_fleet(&robots, &["operator".to_owned()]).unwrap();
    let port = free_tcp_port();
    let network = Network::at(
        format!("tls/localhost:{port}"),
        &format!("{};access_control={access}", page.setting_of_router()),
    );
    let open = |name: &str| network.open("client", &page.setting_of(name, port)).unwrap();
    let part = |name: &str| network::part(&network.endpoint, name, &page.setting_of(name, port));
    let operator = wire_node(open("operator"), "operator");
    let first = TestNode::named(part("robot1"), "/robot1", "bridge");
    let second = TestNode::named(part("robot2"), "/robot2", "bridge");

    let (qos, latched) = (QosProfile::default(), QosProfile::default().transient_local());
    let state = first.publisher_of("/robot1/state", STRING, qos);
    let command = first.subscription_of("/robot1/command", STRING, qos);
    let seen = operator.subscription_of("/robot1/state", STRING, qos);
    let ordered = operator.publisher_of("/robot1/command", STRING, qos);
    let other_state = second.publisher_of("/robot2/state", STRING, qos);
    let other_seen = operator.subscription_of("/robot2/state", STRING, qos);
    for (publisher, subscription) in [(&state, &seen), (&other_state, &other_seen)] {
        publisher.wait_for_matches(1);
        subscription.wait_for_matches(1);
        publisher.publish(&text_message("allowed"));
        assert_eq!(text_in(&subscription.next().payload), "allowed");
    }
    let map = first.publisher_of("/robot1/map", STRING, latched);
    map.publish(&text_message("a map"));
    let late = operator.subscription_of("/robot1/map", STRING, latched);
    assert_eq!(text_in(&late.next().payload), "a map");
    let (server, client) = (
        first.service_of("/robot1/asked", SET_BOOL),
        operator.client_of("/robot1/asked", SET_BOOL),
    );
    client.wait_for_server();
    client.send(&[0, 1, 0, 0, 1]);
    server.respond_once(&server.next().0, &response(true, "answered")).unwrap();
    assert_eq!(text_in(&client.next().1.payload[4..]), "answered");
    until("acknowledgement", || state.publisher.wait_for_all_acked(Duration::from_secs(1)).is_ok());
    let graph = operator.session.graph();
    let has_node = |name: &str| graph.nodes.iter().any(|node| node.name.to_string() == name);
    assert!(has_node("/robot1/bridge") && has_node("/robot2/bridge"), "{:?}", graph.nodes);

    // The second robot and a stranger try to use the names of the first robot.
    let intruders = ["robot2", "fleet.local"].map(|name| wire_node(open(name), "intruder"));
    let tries = intruders.each_ref().map(|intruder| {
        let publisher = intruder.publisher_of("/robot1/command", STRING, qos);
        publisher.send(&text_message("denied"));
        (publisher, intruder.subscription_of("/robot1/state", STRING, qos))
    });
    let fine = intruders[0].publisher_of("/robot2/state", STRING, qos);
    // One link keeps the order, so what was allowed before this would be known.
    other_seen.wait_for_matches(2);
    let heard = other_seen.next_repeated(|| fine.publish(&text_message("allowed")));
    assert_eq!(text_in(&heard.payload), "allowed");
    ordered.wait_for_matches(1);
    command.wait_for_matches(1);
    ordered.publish(&text_message("an order"));
    assert_eq!(text_in(&command.next().payload), "an order");
    state.publish(&text_message("secret"));
    assert_eq!(text_in(&seen.next().payload), "secret");
    assert_eq!(seen.subscription.matched_publishers(), 1);
    for (publisher, subscription) in &tries {
        assert_eq!(publisher.publisher.matched_subscriptions(), 0);
        assert_eq!(subscription.subscription.matched_publishers(), 0);
        assert!(subscription.subscription.take().unwrap().is_none());
    }
}

/// The variable that names the host of a process, `robot` or `fleet`. It is not set in the test's
/// own process.
const HOST_VARIABLE: &str = "FEROS_TEST_FLEET_HOST";
const PREFIX: &str = "/robot1";

/// The number of endpoints of another robot, whose tokens and announcements are far larger than
/// [`MOST_BYTES`].
const CROWD: usize = 100;

/// More than the link of a robot carries while only others change.
const MOST_BYTES: u64 = 10_000;

fn start(host: &Namespace, name: &str) -> TestProcess {
    let mut command = host.command(std::env::current_exe().unwrap());
    command.env(HOST_VARIABLE, name);
    let mut process = TestProcess::start(command, "host_process");
    process.said("ready");
    process
}

/// An operator reaches a robot on DDS over a long and lossy link, in both directions, before and
/// after the link has failed. The link does not carry what the operator's host says about others.
#[test]
fn an_operator_reaches_a_robot_on_another_host() {
    let hosts = Namespace::new().and_then(|robot| Ok((robot, Namespace::new()?)));
    let (robot_host, fleet_host) = match hosts {
        Ok(hosts) => hosts,
        Err(error @ NamespaceError::NotPermitted { .. }) => return skip(error),
        Err(error) => panic!("{error}"),
    };
    let long =
        LinkOptions { delay: Duration::from_millis(5), loss: 0.02, ..LinkOptions::default() };
    let link = Link::between(&robot_host, &fleet_host, long.clone()).unwrap();
    let mut fleet = start(&fleet_host, "fleet");
    let robot = start(&robot_host, "robot");
    fleet.command("pass");
    let bytes = || link.counters().backward.bytes;
    let before = bytes();
    fleet.command("crowd");
    fleet.command("pass");
    let carried = bytes() - before;
    assert!(carried < MOST_BYTES, "the link carried {carried} bytes to the robot");
    link.set(LinkOptions { loss: 1.0, ..long.clone() }).unwrap();
    fleet.command("parted");
    link.set(long).unwrap();
    fleet.command("pass");
    robot.end();
    fleet.command("parted");
    fleet.end();
}

/// Plays a host, which takes commands line by line. In a normal test run, this test does nothing.
#[test]
fn host_process() {
    match std::env::var(HOST_VARIABLE).as_deref() {
        Ok("robot") => play_robot(),
        Ok("fleet") => play_fleet(),
        _ => {}
    }
}

fn endpoint() -> String {
    format!("tcp/{}:7447", host_address(1))
}

/// The robot: a node on DDS that knows nothing of Zenoh, and a bridge. It echoes commands as its
/// state, and answers calls, on threads that end with the process.
fn play_robot() {
    let dds = || -> Arc<dyn Session> {
        CycloneEngine.open(&SessionOptions::localhost(DOMAIN_ID)).unwrap()
    };
    let node = TestNode::named(dds(), "/", "robot");
    let command = node.subscription_of("/command", STRING, QOS());
    let state = node.publisher_of("/state", STRING, QOS());
    let map = node.publisher_of("/map", STRING, QOS().transient_local());
    map.publish(&text_message("a map"));
    let server = node.service_of("/enable", SET_BOOL);
    let options = BridgeOptions {
        prefixes: BTreeMap::from([(1, NamePrefix::new(PREFIX).unwrap())]),
        ..BridgeOptions::default()
    };
    let fleet = network::part(&endpoint(), PREFIX, WATCHFUL);
    let sides = vec![("robot".to_owned(), dds()), ("fleet".to_owned(), fleet)];
    let _bridge = bridging_with(sides, options);
    spawn("echo", move || {
        loop {
            let sample = command.next();
            state.publish(&text_message(text_in(&sample.payload)));
        }
    });
    spawn("answers", move || {
        loop {
            server.respond_once(&server.next().0, &response(true, "by the robot")).unwrap();
        }
    });
    obey(|other| panic!("{other}"));
    drop((node, map));
}

/// The host of the fleet: the router and an operator.
fn play_fleet() {
    let network = Network::at(endpoint(), WATCHFUL);
    let operator = wire_node(network.client(), "operator");
    let command = operator.publisher_of("/robot1/command", STRING, QOS());
    let state = operator.subscription_of("/robot1/state", STRING, QOS());
    let client = operator.client_of("/robot1/enable", SET_BOOL);
    let mut crowd = Vec::new();
    let mut rounds = 0;
    obey(|line| match line {
        "pass" => {
            rounds += 1;
            let text = format!("round {rounds}");
            command.wait_for_matches(1);
            state.wait_for_matches(1);
            client.wait_for_server();
            // A link that is busy with declarations may drop a message.
            let echo = state.next_repeated(|| command.publish(&text_message(&text)));
            assert!(text_in(&echo.payload).starts_with("round "));
            client.send(&[0, 1, 0, 0, 1]);
            assert_eq!(text_in(&client.next().1.payload[4..]), "by the robot");
            let latched = QOS().transient_local();
            let late = operator.subscription_of("/robot1/map", STRING, latched);
            assert_eq!(text_in(&late.next().payload), "a map");
        }
        "crowd" => {
            let other = wire_node(network.client(), "other");
            let topics = (0..CROWD).map(|number| format!("/robot2/topic_{number}"));
            let publishers = topics.map(|topic| other.publisher_of(&topic, STRING, QOS()));
            crowd.push((publishers.collect::<Vec<_>>(), other));
            until("the crowd", || {
                let graph = operator.session.graph();
                let of_crowd = |name: &str| name.starts_with("/robot2/");
                graph.endpoints.iter().filter(|end| of_crowd(&end.name)).count() == CROWD
            });
        }
        "parted" => {
            state.wait_for_matches(0);
            until("the end of the robot's endpoints", || {
                operator.session.graph().count(EndpointKind::Publisher, "/robot1/state") == 0
            });
        }
        other => panic!("{other}"),
    });
}
