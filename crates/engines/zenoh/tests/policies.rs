//! Tests that policies that Zenoh does not enforce cause a warning when an endpoint is created.
#![allow(clippy::unwrap_used)]

mod ends;
mod network;
#[path = "../../ros1-master/tests/said/mod.rs"]
mod said;

use std::time::Duration;

use feros_conformance::TestNode;
use feros_engine::{ClientOptions, Liveliness, QosProfile, ServiceOptions, TypeHash};

use ends::{SET_BOOL, STRING, wire_node};
use network::Network;

const DEADLINE: &str = "missed deadlines are not reported";
const LIVELINESS: &str = "a publisher counts as alive as long as it is connected";
const SECOND: Duration = Duration::from_secs(1);

/// Returns the warnings that the publisher, the subscription, the service and the client with this
/// name and these policies cause.
fn warnings(end: &TestNode, name: &str, qos: QosProfile) -> Vec<String> {
    let _topic = (end.publisher_of(name, STRING, qos), end.subscription_of(name, STRING, qos));
    let type_hash = TypeHash::parse(SET_BOOL.1);
    let server = ServiceOptions::new(end.node, name, SET_BOOL.0);
    let client = ClientOptions::new(end.node, name, SET_BOOL.0);
    let _service = end.service_with(ServiceOptions { type_hash, qos, ..server });
    let _client = end.client_with(ClientOptions { type_hash, qos, ..client });
    said::all_said(&format!("{name}: Zenoh announces the deadline and liveliness"))
}

#[test]
fn policies_that_zenoh_cannot_keep_are_reported_for_each_name() {
    said::listen();
    let network = Network::new();
    let end = wire_node(network.client(), "feros");
    let automatic = QosProfile::default().liveliness(Liveliness::Automatic, SECOND);
    let manual = QosProfile::default().liveliness(Liveliness::ManualByTopic, Duration::ZERO);
    for (topic, qos, is_said, is_not_said) in [
        ("/wire/deadline", QosProfile::default().deadline(SECOND), DEADLINE, Some(LIVELINESS)),
        ("/wire/lease", automatic, LIVELINESS, Some(DEADLINE)),
        ("/wire/manual", manual, LIVELINESS, Some(DEADLINE)),
        ("/wire/both", automatic.deadline(SECOND), DEADLINE, None),
        ("/wire/both_again", automatic.deadline(SECOND), LIVELINESS, None),
    ] {
        let said = warnings(&end, topic, qos);
        assert_eq!(said.len(), 3, "of the 1st, 2nd and 4th endpoint: {said:?}");
        for text in said {
            assert!(text.contains(is_said) && text.contains("FEROS_ENGINE"), "{text}");
            assert!(is_not_said.is_none_or(|other| !text.contains(other)), "{text}");
        }
    }
}

/// Policies that Zenoh enforces cause no warning, and policies that are not requested cause no
/// warning either.
#[test]
fn of_what_zenoh_keeps_nothing_is_said() {
    said::listen();
    let network = Network::new();
    let end = wire_node(network.client(), "feros");
    let kept = QosProfile::keep_all().reliable().transient_local().lifespan(SECOND);
    for (topic, qos) in [("/wire/default", QosProfile::default()), ("/wire/kept", kept)] {
        assert_eq!(warnings(&end, topic, qos), [""; 0]);
    }
}
