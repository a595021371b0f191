//! Across the network an acknowledgement takes its time, and a publisher can look whether it came.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use feros_conformance::NotificationCounter;
use feros_rmw::{
    DiscoveryRange, Engine, NodeName, PublishMode, PublisherOptions, QosProfile, Session,
    SessionOptions, SubscriptionOptions,
};
use feros_rmw_cyclonedds::ConfiguredCycloneEngine;

fn open(domain_id: u32) -> Arc<dyn Session> {
    // Two stacks of this process that the wire knows as one domain.
    let configuration = "<CycloneDDS><Domain id=\"60\"><Discovery><ExternalDomainId>65</ExternalDomainId></Discovery>\
        </Domain></CycloneDDS>";
    let engine = ConfiguredCycloneEngine { configuration: configuration.into() };
    let discovery_range = DiscoveryRange::Localhost;
    engine
        .open(&SessionOptions { domain_id, discovery_range, ..SessionOptions::default() })
        .unwrap()
}

#[test]
fn looking_shows_what_is_still_under_way() {
    let (near, far) = (open(65), open(60));
    let node = |session: &Arc<dyn Session>| {
        session.create_node(&NodeName::new("/", "acknowledged").unwrap()).unwrap()
    };
    let events = NotificationCounter::new();
    let publisher = near
        .create_publisher(PublisherOptions {
            node: node(&near),
            topic: "/acknowledged",
            type_name: "std_msgs/msg/String",
            type_hash: None,
            qos: QosProfile::default(),
            announcement: "",
            mode: PublishMode::Synchronous,
            on_event: Some(events.notify()),
        })
        .unwrap();
    let publish = || {
        publisher
            .publish(1 << 20, &mut |memory| {
                memory.fill(0);
                Ok(())
            })
            .unwrap();
    };
    let subscription = far
        .create_subscription(SubscriptionOptions {
            node: node(&far),
            topic: "/acknowledged",
            type_name: "std_msgs/msg/String",
            type_hash: None,
            qos: QosProfile::keep_last(1),
            announcement: "",
            ignore_local_publications: false,
            on_data: Arc::new(|| ()),
            on_event: Some(events.notify()),
        })
        .unwrap();
    events.wait_for("the match", || {
        (publisher.matched_subscriptions() == 1 && subscription.matched_publishers() == 1)
            .then_some(())
    });
    let gid = subscription.gid();
    publish();
    let mut other = gid;
    other.0[0] ^= 1;
    assert!(publisher.is_acknowledged_by(other, Duration::ZERO), "nobody of this name matches");
    // The answer needs other threads, so it is hardly ever there when publishing returns.
    let seen_under_way = (0..1000).any(|_| {
        publish();
        let under_way = !publisher.is_acknowledged_by(gid, Duration::ZERO);
        assert!(publisher.is_acknowledged_by(gid, Duration::from_secs(60)));
        under_way
    });
    assert!(seen_under_way);
}
