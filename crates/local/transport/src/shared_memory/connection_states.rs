//! The progress of a subscription's connections, which the handle of the subscription reports.

use feros_engine::{FailureCounter, Gid};
use feros_shm::Reason;
use feros_sync::Mutex;

/// The state of a subscription's connections, as far as the handle of the subscription reports it.
#[derive(Debug, Default)]
pub(crate) struct ConnectionStates {
    /// The number of messages that were refused because they were malformed.
    pub(crate) refused: FailureCounter,
    /// How many times the shared memory of a publisher could not be opened.
    pub(crate) declined: FailureCounter,
    /// The publishers of the host. If the messages of a publisher do not arrive through shared
    /// memory yet, the entry contains the reason.
    connections: Mutex<Vec<(Gid, Option<Reason>)>>,
}

impl ConnectionStates {
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
