//! Lets two sessions discover each other, for several test files.

use std::sync::Arc;

use feros_conformance::TestNode;
use feros_engine::Session;

/// Waits until `far` knows a new node of `near`. If that never happens, the test fails with the
/// message `otherwise`.
pub(crate) fn find_each_other(near: &Arc<dyn Session>, far: &Arc<dyn Session>, otherwise: &str) {
    let [near, far] = [near, far].map(|session| TestNode::new(session.clone()));
    let knows = |node: &feros_engine::NodeInfo| node.name == near.name;
    far.wait_for_graph(otherwise, |graph| graph.nodes.iter().any(knows).then_some(()));
}
