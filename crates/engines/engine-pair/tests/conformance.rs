//! Runs the conformance suite with a pair that consists of Cyclone DDS in two domains: within one
//! session, between sessions of one process, and across the network.
#![allow(clippy::unwrap_used)]

mod domains;

use std::sync::Arc;
use std::time::Duration;

use feros_conformance::{Fixture, conformance_tests};
use feros_engine::{Engine, Session, SessionOptions};
use feros_engine_pair::PairEngine;

use domains::{InDomain, patient};

/// The domains that these tests use.
const DOMAIN_IDS: [u32; 2] = [126, 127];

/// Ids that represent the same domains on the network. They give this process two more stacks,
/// which communicate with the first two stacks over the network, as if they were in another
/// process.
const OTHER_STACK_IDS: [u32; 2] = [128, 129];

fn elsewhere() -> Arc<dyn Session> {
    let sides = [0, 1].map(|side| {
        let (id, known_as) = (OTHER_STACK_IDS[side], DOMAIN_IDS[side]);
        let configuration = format!(
            "<CycloneDDS><Domain id=\"{id}\"><Discovery><ExternalDomainId>{known_as}</ExternalDomainId></Discovery>\
             </Domain></CycloneDDS>"
        );
        let engine: Arc<dyn Engine> = Arc::new(InDomain { domain_id: id, configuration });
        engine
    });
    let engine = PairEngine::new(sides).settling(Duration::from_secs(3600));
    engine.open(&SessionOptions::default()).unwrap()
}

struct OneSession;
impl Fixture for OneSession {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let session = patient(DOMAIN_IDS);
        (session.clone(), session)
    }

    fn wires(&self) -> usize {
        2
    }
}

struct TwoSessions;
impl Fixture for TwoSessions {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (patient(DOMAIN_IDS), patient(DOMAIN_IDS))
    }

    fn wires(&self) -> usize {
        2
    }
}

struct Network;
impl Fixture for Network {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (patient(DOMAIN_IDS), elsewhere())
    }

    fn wires(&self) -> usize {
        2
    }
}

conformance_tests!(one_session, OneSession);
conformance_tests!(two_sessions, TwoSessions);
conformance_tests!(network, Network);
