//! Tests that an acknowledgement over the network takes time, and that a publisher can check
//! whether it has arrived.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use feros_conformance::TestNode;
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{Engine, QosProfile, Session, SessionOptions};

fn open(domain_id: u32) -> Arc<dyn Session> {
    // This process has two stacks. On the network, they form one domain.
    let configuration = "<CycloneDDS><Domain id=\"60\"><Discovery><ExternalDomainId>65</ExternalDomainId></Discovery>\
        </Domain></CycloneDDS>";
    let engine = ConfiguredCycloneEngine { configuration: configuration.into() };
    engine.open(&SessionOptions::localhost(domain_id)).unwrap()
}

#[test]
fn looking_shows_what_is_still_under_way() {
    let [near, far] = [65, 60].map(|domain_id| TestNode::new(open(domain_id)));
    let talker = near.publisher("/acknowledged", QosProfile::default());
    let listener = far.subscription("/acknowledged", QosProfile::keep_last(1));
    let publish = || talker.publish(&[0; 1 << 20]);
    talker.wait_for_matches(1);
    listener.wait_for_matches(1);
    let (publisher, subscription) = (&talker.publisher, &listener.subscription);
    let gid = subscription.gid();
    publish();
    let mut other = gid;
    other.0[0] ^= 1;
    assert!(
        publisher.is_acknowledged_by(other, Duration::ZERO),
        "no endpoint with this name matches"
    );
    // The acknowledgement needs other threads, so usually it has not arrived yet when `publish`
    // returns.
    let seen_under_way = (0..1000).any(|_| {
        publish();
        let under_way = !publisher.is_acknowledged_by(gid, Duration::ZERO);
        assert!(publisher.is_acknowledged_by(gid, Duration::from_secs(60)));
        under_way
    });
    assert!(seen_under_way);
}
