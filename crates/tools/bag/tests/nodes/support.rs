//! Contexts in a domain of the test, and spinning nodes.

use feros::engine::{DiscoveryRange, SessionOptions};
use feros::{Arguments, Context, ContextOptions, Executor, Node, TransportSet};
use feros_interop::Domain;
use feros_test_support::Background;

/// A new context in a domain.
pub(crate) fn context(domain: &Domain) -> Context {
    let session = SessionOptions {
        domain_id: domain.id().into(),
        discovery_range: DiscoveryRange::Localhost,
        ..SessionOptions::default()
    };
    Context::new(ContextOptions {
        session,
        arguments: Arguments::default(),
        engine: None,
        handle_signals: false,
        transports: TransportSet::ALL,
    })
    .unwrap()
}

/// Spins a node until the returned value is dropped.
pub(crate) fn spinning(node: &Node) -> Background {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    let stopper = executor.stopper();
    Background::start("spinning", move || executor.spin().unwrap(), move || stopper.stop())
}
