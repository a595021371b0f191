//! Tests the range LOCALHOST on a host with a second interface, together with nodes of Cyclone DDS
//! that use a single interface, loopback or the other. Fast DDS by itself announces no address of
//! the loopback interface on such a host.
//!
//! The host is a network namespace, which needs root. Without root, the tests are skipped with a
//! message. The session is in a process of this program, because its sockets belong to the network
//! namespace of its process.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use feros_conformance::{TestNode, text_in, text_message};
use feros_engine::{DiscoveryForm, Engine as _, QosProfile, SessionOptions};
use feros_fastdds::FastDdsEngine;
use feros_interop::{Domain, HumbleOn, HumblePeer};
use feros_link::{Link, LinkOptions, Namespace, NamespaceError};
use feros_test_support::{TestProcess, obey, skip};

/// The variable with the domain for the process of the session. It is not set in the test's own
/// process.
const DOMAIN_VARIABLE: &str = "FEROS_TEST_FASTDDS_DOMAIN";
/// The interface that a link makes on its hosts.
const OTHER_INTERFACE: &str = "feros0";
const STRING: (&str, &str) = ("std_msgs/msg/String", "");
const WIRE_STRING: &str = "std_msgs::msg::dds_::String_";

#[test]
fn a_node_on_the_loopback_interface_alone_is_reached() {
    messages_go_both_ways_with_a_node_on("lo");
}

#[test]
fn a_node_on_another_interface_alone_is_reached() {
    messages_go_both_ways_with_a_node_on(OTHER_INTERFACE);
}

fn messages_go_both_ways_with_a_node_on(interface: &str) {
    let hosts = match Namespace::new().and_then(|host| Ok((host, Namespace::new()?))) {
        Ok(hosts) => hosts,
        Err(error @ NamespaceError::NotPermitted { .. }) => return skip(error),
        Err(error) => panic!("{error}"),
    };
    let (host, neighbour) = &hosts;
    let _link = Link::between(host, neighbour, LinkOptions::default()).unwrap();
    let domain = Domain::reserve_without_ros2();
    let started = HumblePeer::start_prepared(
        &domain,
        HumbleOn::CycloneDds,
        "/theirs",
        "humble_node",
        |command| {
            command.env("HUMBLE_INTERFACES", interface);
            host.place(command);
        },
    );
    let Some(mut peer) = started else { return };
    let mut command = host.command(std::env::current_exe().unwrap());
    command.env(DOMAIN_VARIABLE, domain.id().to_string());
    let mut session = TestProcess::start(command, "session_process");
    session.said("ready");

    let to_session = peer.ask(format!("publisher /words {WIRE_STRING}"));
    let from_session = peer.ask(format!("subscription /numbers {WIRE_STRING}"));
    session.command("match");
    peer.ask(format!("matched {to_session} 1"));
    peer.ask(format!("matched {from_session} 1"));
    for said in ["hello", "again"] {
        session.tell("hear");
        peer.ask(format!("publish {to_session} {}", HumblePeer::message(&text_message(said))));
        assert_eq!(session.said("heard "), said);
        session.command(said);
        let heard = peer.ask_for_message(format!("take {from_session}"));
        assert_eq!(text_in(&heard), said);
    }
    session.end();
}

/// The process of the session, which takes commands line by line. In a normal test run, this test
/// does nothing.
#[test]
fn session_process() {
    let Ok(domain) = std::env::var(DOMAIN_VARIABLE) else { return };
    let options = SessionOptions {
        discovery_form: DiscoveryForm::Humble,
        ..SessionOptions::localhost(domain.parse().unwrap())
    };
    let session = TestNode::named(FastDdsEngine.open(&options).unwrap(), "/ours", "on_fastdds");
    let publisher = session.publisher_of("/numbers", STRING, QosProfile::default());
    let subscription = session.subscription_of("/words", STRING, QosProfile::default());
    obey(|word| match word {
        "match" => {
            publisher.wait_for_matches(1);
            subscription.wait_for_matches(1);
        }
        "hear" => println!("heard {}", text_in(&subscription.next().payload)),
        said => {
            publisher.publish(&text_message(said));
        }
    });
}
