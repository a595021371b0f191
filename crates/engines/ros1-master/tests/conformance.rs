//! Runs the conformance suite with this engine, within one session and between sessions of one
//! process. Such sessions exchange messages without a master, so these tests have no master.
//! `tcpros.rs` tests messages over TCPROS.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::{Fixture, conformance_tests};
use feros_engine::{Engine, Session, SessionOptions};
use feros_ros1_master::ConfiguredRos1Engine;

/// The address of a master that does not exist, because no program listens on this port.
const NO_MASTER: &str = "http://127.0.0.1:9/";

/// The tests of features that ROS 1 does not have.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("names_outside_ros_conventions", "ROS 1 has only ROS names; others are refused"),
    ("raw_requests_without_identity_are_answered", "its topics have such names"),
    ("truncated_headers_are_refused", "its topics have such names"),
];

/// An engine whose sessions share one participant. The tests use only one session.
struct OneSession(ConfiguredRos1Engine);
impl Fixture for OneSession {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let session = self.0.open(&SessionOptions::default()).unwrap();
        (session.clone(), session)
    }

    fn exceptions(&self) -> &[(&str, &str)] {
        &EXCEPTIONS
    }

    fn skip(&self, reason: &str) {
        feros_test_support::skip(reason);
    }
}

struct TwoSessions(ConfiguredRos1Engine);
impl Fixture for TwoSessions {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let open = || self.0.open(&SessionOptions::default()).unwrap();
        (open(), open())
    }

    fn exceptions(&self) -> &[(&str, &str)] {
        &EXCEPTIONS
    }

    fn skip(&self, reason: &str) {
        feros_test_support::skip(reason);
    }
}

conformance_tests!(one_session, OneSession(ConfiguredRos1Engine::new(NO_MASTER).unwrap()));
conformance_tests!(two_sessions, TwoSessions(ConfiguredRos1Engine::new(NO_MASTER).unwrap()));
