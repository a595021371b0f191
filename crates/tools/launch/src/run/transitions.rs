//! The changes of the states of managed nodes, for handlers of launch files in Python.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::options::{LifecycleManager, StateChange};

/// The limit on changes that wait for the supervisor; a thread with another change blocks.
const MAX_CHANGES: usize = 64;

/// Watches managed nodes, each with a thread of its own, which a wait does not keep from ending.
pub(super) struct Transitions {
    changes: Receiver<(String, StateChange)>,
    sender: SyncSender<(String, StateChange)>,
    waker: Arc<UnixStream>,
    watched: BTreeSet<String>,
    is_over: Arc<AtomicBool>,
}

impl Transitions {
    /// `waker` gets a byte for each change.
    pub(super) fn new(waker: Arc<UnixStream>) -> Self {
        let (sender, changes) = sync_channel(MAX_CHANGES);
        let is_over = Arc::new(AtomicBool::new(false));
        Self { changes, sender, waker, watched: BTreeSet::new(), is_over }
    }

    /// Watches a node from now on.
    ///
    /// # Errors
    /// Returns the reason why it cannot be watched, as text for users.
    pub(super) fn watch(
        &mut self,
        node: &str,
        manager: Option<&Arc<dyn LifecycleManager>>,
    ) -> Result<(), String> {
        if !self.watched.insert(node.to_owned()) {
            return Ok(());
        }
        let manager = Arc::clone(manager.ok_or("nodes cannot be managed here")?);
        let (sender, waker) = (self.sender.clone(), Arc::clone(&self.waker));
        let (is_over, node) = (Arc::clone(&self.is_over), node.to_owned());
        let work = move || {
            let ends = || is_over.load(Ordering::Relaxed);
            let report = |change| {
                if sender.send((node.clone(), change)).is_ok() {
                    // The write fails if the pipe is full; then the supervisor wakes up anyway.
                    let _ = (&*waker).write(&[1]);
                }
            };
            if let Err(problem) = manager.watch(&node, &report, &ends) {
                report(StateChange { problem: Some(problem), ..StateChange::default() });
            }
        };
        let started = thread::Builder::new().name("feros-launch".to_owned()).spawn(work);
        started.map(drop).map_err(|error| format!("no thread can be started: {error}"))
    }

    /// The changes since the last call, with the names of the nodes.
    pub(super) fn take(&mut self) -> Vec<(String, StateChange)> {
        self.changes.try_iter().collect()
    }
}

impl Drop for Transitions {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
