//! Tests that a publisher reaches each of many subscriptions while other subscriptions of the same
//! participant appear and disappear. The engine recomputes only the addresses that change
//! (`cyclonedds-sys`, `build/addresses.rs`).
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::{TestNode, TestPublisher, TestSubscription, numbered};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{Engine, QosProfile, Session, SessionOptions};
use feros_test_support::own_domain;

/// The number of subscriptions of each participant. If there are fewer than 16, the engine always
/// recomputes all addresses.
const MANY: usize = 20;
const TOPIC: &str = "/many_readers";

/// Opens a session on its own stack, so that its endpoints are remote for the other sessions of
/// this process.
fn open(stack: u32, domain: u32) -> Arc<dyn Session> {
    let configuration = format!(
        "<CycloneDDS><Domain id=\"any\"><Discovery><ExternalDomainId>{domain}</ExternalDomainId>\
         </Discovery></Domain></CycloneDDS>"
    );
    let options = SessionOptions::localhost(stack);
    ConfiguredCycloneEngine { configuration }.open(&options).unwrap()
}

fn listen(node: &TestNode) -> Vec<TestSubscription> {
    (0..MANY).map(|_| node.subscription(TOPIC, QosProfile::default())).collect()
}

/// Waits until exactly these subscriptions match, publishes a number, and checks that each of them
/// receives it.
fn reaches(talker: &TestPublisher, number: u32, listeners: &[&[TestSubscription]]) {
    let listeners: Vec<&TestSubscription> = listeners.iter().copied().flatten().collect();
    talker.wait_for_matches(listeners.len());
    talker.publish(&numbered(number));
    for listener in listeners {
        assert_eq!(listener.next_number(), number);
    }
}

#[test]
fn each_is_reached_while_others_of_its_participant_come_and_go() {
    let domain = own_domain();
    let [near, here, there] = [1, 2, 3].map(|stack| TestNode::new(open(stack, domain)));
    let talker = near.publisher(TOPIC, QosProfile::default());
    let (mut some, others) = (listen(&here), listen(&there));
    reaches(&talker, 1, &[&some, &others]);
    some.truncate(1);
    reaches(&talker, 2, &[&some, &others]);
    some.clear();
    reaches(&talker, 3, &[&others]);
    some = listen(&here);
    reaches(&talker, 4, &[&some, &others]);
    drop((here, some));
    reaches(&talker, 5, &[&others]);
}
