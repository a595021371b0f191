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

/// Each policy has a topic of its own: when the lease of the only publisher ends, the subscription
/// expects no further messages. On a busy machine, the lease may end before the missed deadline is
/// noticed, even if the lease is longer.
#[test]
fn each_kind_of_event_reports_its_own_status() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut talker, mut listener) = (on_feros(&domain, "talker"), on_feros(&domain, "listener"));
    let lease = json!({"liveliness": "manual_by_topic", "liveliness_lease_duration": 0.3});
    let mut published = |topic: &str, kind: &str, qos: Value| {
        let events = ["matched", kind];
        let endpoint = json!({"topic": topic, "type": TYPE, "events": events, "qos": qos});
        talker.ask("publisher", endpoint.clone());
        listener.ask("subscription", endpoint);
        let of_publisher = event(&mut talker, topic, "publisher", "matched");
        let of_subscription = event(&mut listener, topic, "subscription", "matched");
        for matched in [of_publisher, of_subscription] {
            assert_eq!(
                (&matched["total_count"], &matched["current_count"]),
                (&json!(1), &json!(1))
            );
        }
        talker.ask("publish", json!({"topic": topic, "values": [{"data": "once"}]}));
    };
    published("/timely", "deadline", json!({"deadline": 0.2}));
    published("/alive", "liveliness", lease);

    let offered = event(&mut talker, "/timely", "publisher", "deadline");
    let requested = event(&mut listener, "/timely", "subscription", "deadline");
    for missed in [offered, requested] {
        assert!(missed["total_count"].as_i64() >= Some(1), "{missed}");
        assert_eq!(missed["current_count"], Value::Null, "{missed}");
        assert_eq!(missed["alive_count"], Value::Null, "{missed}");
    }
    let lost = event(&mut talker, "/alive", "publisher", "liveliness");
    assert!(lost["total_count"].as_i64() >= Some(1), "{lost}");
    // The end of liveliness implies that it began before: on a busy machine, both changes come in
    // one event.
    loop {
        let changed = event(&mut listener, "/alive", "subscription", "liveliness");
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
