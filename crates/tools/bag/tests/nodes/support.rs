//! Contexts in a domain of the test, and spinning nodes.

use feros::engine::SessionOptions;
use feros::{Context, ContextOptions, Executor, Node};
use feros_interop::Domain;
use feros_test_support::Background;

/// A new context in a domain.
pub(crate) fn context(domain: &Domain) -> Context {
    Context::new(ContextOptions::new(SessionOptions::localhost(domain.id().into()))).unwrap()
}

/// Spins a node until the returned value is dropped.
pub(crate) fn spinning(node: &Node) -> Background {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    let stopper = executor.stopper();
    Background::start("spinning", move || executor.spin().unwrap(), move || stopper.stop())
}
