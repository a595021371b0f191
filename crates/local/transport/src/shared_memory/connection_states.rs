//! The progress of a subscription's connections, which the handle of the subscription reports.

use std::sync::atomic::AtomicU64;

use feros_engine::Gid;
use feros_shm::Reason;
use feros_sync::Mutex;

/// The state of a subscription's connections, as far as the handle of the subscription reports it.
#[derive(Debug)]
pub(crate) struct ConnectionStates {
    /// The topic of the subscription, for log messages.
    pub(super) topic: String,
    /// The number of messages that were refused because they were malformed.
    pub(crate) refused: AtomicU64,
    /// The publishers of the host. If the messages of a publisher do not arrive through shared
    /// memory yet, the entry contains the reason.
    connections: Mutex<Vec<(Gid, Option<Reason>)>>,
}

impl ConnectionStates {
    pub(super) fn new(topic: &str) -> Self {
        Self { topic: topic.to_owned(), refused: AtomicU64::new(0), connections: Mutex::default() }
    }

    /// The reason why the messages of a publisher do not arrive through shared memory, although
    /// this would be possible.
    pub(crate) fn why_not(&self, publisher: Gid) -> Option<Reason> {
        let connections = self.connections.lock();
        let found = connections.iter().find(|(gid, _)| *gid == publisher);
        found.map_or(Some(Reason::Pending), |(_, reason)| reason.clone())
    }

    /// Replaces the states of the connections. Returns the former states.
    pub(super) fn replace(
        &self,
        connections: Vec<(Gid, Option<Reason>)>,
    ) -> Vec<(Gid, Option<Reason>)> {
        std::mem::replace(&mut *self.connections.lock(), connections)
    }
}
