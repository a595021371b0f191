//! Runs the conformance suite with this engine: within one session, between directly connected
//! sessions, and over a router that forwards all messages.
#![allow(clippy::unwrap_used)]

mod network;

use std::sync::Arc;

use feros_conformance::{Fixture, conformance_tests};
use feros_engine::Session;

use network::Network;

struct OneSession;
impl Fixture for OneSession {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        let session = Network::shared().peer();
        (session.clone(), session)
    }
}

struct Peers;
impl Fixture for Peers {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (Network::shared().peer(), Network::shared().peer())
    }
}

/// Two sessions that communicate only through the router, because clients have no links to each
/// other.
struct Routed;
impl Fixture for Routed {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (Network::shared().client(), Network::shared().client())
    }
}

conformance_tests!(one_session, OneSession);
conformance_tests!(peers, Peers);
conformance_tests!(routed, Routed);
