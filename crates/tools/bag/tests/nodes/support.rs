//! Contexts in a domain of the test, and spinning nodes.

use std::path::PathBuf;

use feros::engine::SessionOptions;
use feros::{Context, ContextOptions, Executor, Node};
use feros_interop::Domain;
use feros_test_support::Background;

/// A new context in a domain.
pub(crate) fn context(domain: &Domain) -> Context {
    Context::new(ContextOptions::new(SessionOptions::localhost(domain.id().into()))).unwrap()
}

/// Two contexts in a domain that belongs to the test.
pub(crate) fn contexts() -> (Domain, Context, Context) {
    let domain = Domain::reserve_without_ros2();
    let (here, there) = (context(&domain), context(&domain));
    (domain, here, there)
}

/// The path of a new bag, and the folder that it is in.
pub(crate) fn bag_path() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    (folder, path)
}

/// Spins a node until the returned value is dropped.
pub(crate) fn spinning(node: &Node) -> Background {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    let stopper = executor.stopper();
    Background::start("spinning", move || executor.spin().unwrap(), move || stopper.stop())
}
