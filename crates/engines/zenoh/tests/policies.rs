//! Tests that policies that Zenoh does not enforce cause a warning when an endpoint is created.
#![allow(clippy::unwrap_used)]

mod ends;
mod network;
#[path = "../../ros1-master/tests/said/mod.rs"]
mod said;

use std::time::Duration;

use feros_engine::{Liveliness, QosProfile};

use ends::{End, SET_BOOL, STRING};
use network::Network;

const DEADLINE: &str = "missed deadlines are not reported";
const LIVELINESS: &str = "a publisher counts as alive as long as it is connected";
const SECOND: Duration = Duration::from_secs(1);

/// Returns the warnings that a publisher, a subscription, a service and a client with this name and
/// these policies cause.
fn warnings(end: &End, name: &str, qos: QosProfile) -> Vec<String> {
    let _topic = (end.publisher(name, STRING, qos), end.subscription(name, STRING, qos));
    let _service = (end.service_with(name, SET_BOOL, qos), end.client_with(name, SET_BOOL, qos));
    said::all_said(&format!("{name}: Zenoh announces the deadline and liveliness"))
}

#[test]
fn what_zenoh_cannot_keep_is_said_of_each_endpoint() {
    said::listen();
    let network = Network::new();
    let end = End::new(network.client(), "feros");
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
        assert_eq!(said.len(), 4, "one of each: {said:?}");
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
    let end = End::new(network.client(), "feros");
    let kept = QosProfile::keep_all().reliable().transient_local().lifespan(SECOND);
    for (topic, qos) in [("/wire/default", QosProfile::default()), ("/wire/kept", kept)] {
        assert_eq!(warnings(&end, topic, qos), [""; 0]);
    }
}
