//! Each kind of event reaches its own callback with its own status. The numbers of the kinds differ
//! between distributions.

use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::support::on_feros;

const TYPE: &str = "std_msgs/msg/String";

/// The next event of one kind of an endpoint.
fn event(peer: &mut Peer, topic: &str, what: &str, kind: &str) -> Value {
    peer.ask("event", json!({"topic": topic, "what": what, "kind": kind}))
}

#[test]
fn each_kind_of_event_reports_its_own_status() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut talker, mut listener) = (on_feros(&domain, "talker"), on_feros(&domain, "listener"));
    let endpoint = json!({
        "topic": "/good", "type": TYPE, "events": ["matched", "deadline", "liveliness"],
        "qos": {
            "deadline": 0.2, "liveliness": "manual_by_topic", "liveliness_lease_duration": 0.3,
        },
    });
    talker.ask("publisher", endpoint.clone());
    listener.ask("subscription", endpoint);
    let ends = |talker: &mut Peer, listener: &mut Peer, kind| {
        let of_publisher = event(talker, "/good", "publisher", kind);
        (of_publisher, event(listener, "/good", "subscription", kind))
    };
    let (of_publisher, of_subscription) = ends(&mut talker, &mut listener, "matched");
    for matched in [of_publisher, of_subscription] {
        assert_eq!((&matched["total_count"], &matched["current_count"]), (&json!(1), &json!(1)));
    }
    talker.ask("publish", json!({"topic": "/good", "values": [{"data": "once"}]}));
    let (offered, requested) = ends(&mut talker, &mut listener, "deadline");
    for missed in [offered, requested] {
        assert!(missed["total_count"].as_i64() >= Some(1), "{missed}");
        assert_eq!(missed["current_count"], Value::Null, "{missed}");
        assert_eq!(missed["alive_count"], Value::Null, "{missed}");
    }
    let lost = event(&mut talker, "/good", "publisher", "liveliness");
    assert!(lost["total_count"].as_i64() >= Some(1), "{lost}");
    // The end of liveliness implies that it began before: on a busy machine, both changes come in
    // one event.
    loop {
        let changed = event(&mut listener, "/good", "subscription", "liveliness");
        if (&changed["alive_count"], &changed["not_alive_count"]) == (&json!(0), &json!(1)) {
            break;
        }
    }
}

#[test]
fn incompatible_policies_are_reported_with_the_policy() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut talker, mut listener) = (on_feros(&domain, "talker"), on_feros(&domain, "listener"));
    let endpoint = |reliability: &str| {
        json!({
            "topic": "/bad", "type": TYPE, "events": ["incompatible_qos"],
            "qos": {"reliability": reliability},
        })
    };
    talker.ask("publisher", endpoint("best_effort"));
    listener.ask("subscription", endpoint("reliable"));
    for (peer, what) in [(&mut talker, "publisher"), (&mut listener, "subscription")] {
        let refused = event(peer, "/bad", what, "incompatible_qos");
        assert_eq!(refused["total_count"], 1, "{what}: {refused}");
        assert_eq!(refused["last_policy_kind"], "reliability", "{what}: {refused}");
    }
}
