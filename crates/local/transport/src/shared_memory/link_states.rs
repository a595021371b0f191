//! The progress of a subscription's connections, which the subscription's handle reports.

use feros_engine::{FailureCounter, Gid};
use feros_shm::Reason;
use feros_sync::Mutex;

/// The state of a subscription's connections, as far as the handle reports it.
#[derive(Debug, Default)]
pub(crate) struct LinkStates {
    /// The number of messages refused as malformed.
    pub(crate) refused: FailureCounter,
    /// How many times the shared memory of a publisher could not be opened.
    pub(crate) declined: FailureCounter,
    /// The publishers of the host, each with the reason why its messages do not come through shared
    /// memory yet, if any.
    links: Mutex<Vec<(Gid, Option<Reason>)>>,
}

impl LinkStates {
    /// The reason why a publisher's messages do not come through shared memory, although they
    /// could.
    pub(crate) fn why_not(&self, publisher: Gid) -> Option<Reason> {
        let links = self.links.lock();
        let found = links.iter().find(|(gid, _)| *gid == publisher);
        found.map_or(Some(Reason::Pending), |(_, reason)| reason.clone())
    }

    /// Replaces the states of the connections; returns the former ones.
    pub(super) fn replace(&self, links: Vec<(Gid, Option<Reason>)>) -> Vec<(Gid, Option<Reason>)> {
        std::mem::replace(&mut *self.links.lock(), links)
    }
}
