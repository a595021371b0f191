//! Runs the conformance suite with this engine: within one session, between sessions of one
//! process, and across the network.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::{Fixture, conformance_tests};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{Engine, Session, SessionOptions};
use feros_test_support::own_domain;

/// Cyclone DDS has one stack for each domain id in a process. The configuration of a second id
/// names the domain as its external id, which gives this process a second stack. The two stacks
/// communicate over the network, like two processes.
const OTHER_STACK_ID: u32 = 122;

fn open(domain_id: u32) -> Arc<dyn Session> {
    let engine = ConfiguredCycloneEngine {
        configuration: format!(
            "<CycloneDDS><Domain id=\"{OTHER_STACK_ID}\"><Discovery><ExternalDomainId>{}</ExternalDomainId>\
             </Discovery></Domain></CycloneDDS>",
            own_domain()
        ),
    };
    engine.open(&SessionOptions::localhost(domain_id)).unwrap()
}

struct OneSession;
impl Fixture for OneSession {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let session = open(own_domain());
        (session.clone(), session)
    }
}

struct TwoSessions;
impl Fixture for TwoSessions {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (open(own_domain()), open(own_domain()))
    }
}

struct Network;
impl Fixture for Network {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (open(own_domain()), open(OTHER_STACK_ID))
    }
}

conformance_tests!(one_session, OneSession);
conformance_tests!(two_sessions, TwoSessions);
conformance_tests!(network, Network);
