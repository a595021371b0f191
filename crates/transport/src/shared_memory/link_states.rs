//! The progress of a subscription's connections, as its handle reports it.

use feros_rmw::{FailureCounter, Gid};
use feros_shm::Reason;
use feros_sync::Mutex;

/// The state of the connections that the handle of a subscription sees.
#[derive(Debug, Default)]
pub(crate) struct LinkStates {
    /// The number of messages refused as malformed.
    pub(crate) refused: FailureCounter,
    /// The number of publishers whose shared memory could not be opened.
    pub(crate) declined: FailureCounter,
    /// Publishers of the host, and why their messages do not come by shared memory yet.
    links: Mutex<Vec<(Gid, Option<Reason>)>>,
}

impl LinkStates {
    /// Why a publisher's messages do not come by shared memory, although they could.
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
