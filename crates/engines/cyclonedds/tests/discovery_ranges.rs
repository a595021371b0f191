//! Tests sessions of one process and one domain that have different discovery ranges or static
//! peers, opened in both orders. The whole conformance suite runs with two stacks of one process
//! in `conformance.rs`.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::{
    Fixture, TestNode, discovery, lifecycle, matched, numbered, services, topics,
};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{DiscoveryRange, Engine as _, QosProfile, Session, SessionOptions};
use feros_test_support::ReservedDomain;

/// A discovery range and static peers.
type Range = (DiscoveryRange, &'static [&'static str]);

const LOCALHOST: Range = (DiscoveryRange::Localhost, &[]);
const WITH_PEER: Range = (DiscoveryRange::Localhost, &["127.0.0.1"]);
const SUBNET: Range = (DiscoveryRange::Subnet, &[]);
const OFF: Range = (DiscoveryRange::Off, &[]);

/// Keeps also sessions with the range `SUBNET` on this host.
const LOOPBACK: &str = "<CycloneDDS><Domain id=\"any\"><General><Interfaces><NetworkInterface \
                        address=\"127.0.0.1\"/></Interfaces></General></Domain></CycloneDDS>";

fn open(domain: &ReservedDomain, (discovery_range, peers): Range) -> Arc<dyn Session> {
    let engine = ConfiguredCycloneEngine { configuration: LOOPBACK.into() };
    let options = SessionOptions {
        domain_id: domain.id().into(),
        discovery_range,
        static_peers: peers.iter().map(|peer| (*peer).to_owned()).collect(),
        ..SessionOptions::default()
    };
    engine.open(&options).unwrap()
}

/// Opens a session with each of two ranges.
struct Both {
    domain: ReservedDomain,
    ranges: [Range; 2],
}

impl Fixture for Both {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let [first, second] = self.ranges.map(|range| open(&self.domain, range));
        assert_ne!(first.configuration(), second.configuration());
        assert_eq!([first.domain_id(), second.domain_id()], [u32::from(self.domain.id()); 2]);
        (first, second)
    }
}

/// Runs the test with both orders of a session without and a session with a static peer.
fn in_both_orders(test: fn(&dyn Fixture)) {
    for ranges in [[LOCALHOST, WITH_PEER], [WITH_PEER, LOCALHOST]] {
        test(&Both { domain: ReservedDomain::new(), ranges });
    }
}

#[test]
fn nodes_are_shown_and_withdrawn() {
    in_both_orders(discovery::nodes_are_shown_and_withdrawn);
}

#[test]
fn reliable_messages_arrive_in_order() {
    in_both_orders(topics::reliable_messages_arrive_in_order);
}

#[test]
fn large_messages_arrive_whole() {
    in_both_orders(topics::large_messages_arrive_whole);
}

#[test]
fn calls_are_answered() {
    in_both_orders(services::calls_are_answered);
}

#[test]
fn sessions_come_and_go() {
    in_both_orders(lifecycle::sessions_come_and_go);
}

fn assert_exchange(topic: &str, from: &Arc<dyn Session>, to: &Arc<dyn Session>) {
    let [from, to] = [from, to].map(|session| TestNode::new(session.clone()));
    let publisher = from.publisher(topic, QosProfile::default());
    let subscription = to.subscription(topic, QosProfile::default());
    matched(&publisher, &subscription);
    publisher.publish(&numbered(7));
    assert_eq!(subscription.next_number(), 7);
}

/// Sessions with the same range share a stack, whatever other sessions of the process do, and the
/// first stack closes before the others.
#[test]
fn each_range_has_one_stack() {
    for [first, second] in [[LOCALHOST, SUBNET], [SUBNET, LOCALHOST]] {
        let domain = ReservedDomain::new();
        let one = open(&domain, first);
        let other = open(&domain, second);
        let [one_more, other_more] = [first, second].map(|range| open(&domain, range));
        assert_eq!(one.configuration(), one_more.configuration());
        assert_eq!(other.configuration(), other_more.configuration());
        let external = format!("<ExternalDomainId>{}<", domain.id());
        assert!(!one.configuration().contains(&external), "{}", one.configuration());
        assert!(other.configuration().contains(&external), "{}", other.configuration());
        assert_exchange("/one", &one, &one_more);
        assert_exchange("/other", &other, &other_more);
        drop((one, one_more));
        assert_exchange("/later", &other, &other_more);
        // The domain's own id is free again.
        let again = open(&domain, first);
        assert!(!again.configuration().contains(&external), "{}", again.configuration());
    }
}

#[test]
fn range_off_stays_alone_beside_another_range_of_the_process() {
    for [first, second] in [[OFF, LOCALHOST], [LOCALHOST, OFF]] {
        let domain = ReservedDomain::new();
        let [first_session, second_session] = [first, second].map(|range| open(&domain, range));
        let (off, localhost) = if first == OFF {
            (first_session, second_session)
        } else {
            (second_session, first_session)
        };
        let third = TestNode::new(open(&domain, WITH_PEER));
        let localhost = TestNode::new(localhost);
        let off = TestNode::new(off);
        localhost.wait_for_graph("the node of the third session", |graph| {
            graph.nodes.iter().any(|node| node.name == third.name).then_some(())
        });
        third.wait_for_graph("the node of the range LOCALHOST", |graph| {
            graph.nodes.iter().any(|node| node.name == localhost.name).then_some(())
        });
        for node in [&localhost, &third] {
            let graph = node.session.graph();
            assert!(graph.nodes.iter().all(|found| found.name != off.name), "{:?}", graph.nodes);
        }
        let alone = off.session.graph();
        assert!(alone.nodes.iter().all(|found| found.name == off.name), "{:?}", alone.nodes);
    }
}
