//! Runs the conformance suite with this engine: within one session, and between sessions of one
//! process. Such sessions communicate over the transports of Fast DDS, like sessions of two
//! processes.
//!
//! Without the shim, these tests do not exist; `has_shim.rs` reports this.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::{Fixture, conformance_tests};
use feros_engine::{Engine, Session, SessionOptions};
use feros_fastdds::FastDdsEngine;
use feros_test_support::own_domain;

fn open() -> Arc<dyn Session> {
    let options = SessionOptions::localhost(own_domain());
    FastDdsEngine.open(&options).unwrap()
}

struct OneSession;
impl Fixture for OneSession {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let session = open();
        (session.clone(), session)
    }
}

struct TwoSessions;
impl Fixture for TwoSessions {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (open(), open())
    }
}

conformance_tests!(one_session, OneSession);
conformance_tests!(two_sessions, TwoSessions);
