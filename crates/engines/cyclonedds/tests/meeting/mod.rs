//! Lets two sessions discover each other, for several test files.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use feros_engine::{NodeName, Session};

/// Waits until `far` knows a new node of `near`.
///
/// # Panics
///
/// Panics with the message `otherwise` if `far` does not know the node within a minute.
pub(crate) fn find_each_other(near: &Arc<dyn Session>, far: &Arc<dyn Session>, otherwise: &str) {
    let bell = Arc::new((Mutex::new(()), Condvar::new()));
    let ring = bell.clone();
    let _guard = far.on_graph_change(Arc::new(move || {
        drop(ring.0.lock().unwrap());
        ring.1.notify_all();
    }));
    let name = NodeName::new("/", "near").unwrap();
    near.create_node(&name).unwrap();
    let found = || far.graph().nodes.iter().any(|node| node.name == name);
    let lock = bell.0.lock().unwrap();
    let (_lock, waited) =
        bell.1.wait_timeout_while(lock, Duration::from_secs(60), |()| !found()).unwrap();
    assert!(!waited.timed_out(), "{otherwise}");
}
