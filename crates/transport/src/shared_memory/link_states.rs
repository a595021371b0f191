//! How far the links of one subscription are, as its handle tells users.

use feros_rmw::{FailureCounter, Gid};
use feros_shm::Reason;
use feros_sync::Mutex;

/// What the handle of a subscription sees of its links.
#[derive(Debug, Default)]
pub(crate) struct LinkStates {
    /// Messages refused as malformed.
    pub(crate) refused: FailureCounter,
    /// Publishers whose shared memory could not be opened.
    pub(crate) declined: FailureCounter,
    /// Publishers of the host, and why they are not heard by shared memory yet.
    links: Mutex<Vec<(Gid, Option<Reason>)>>,
}

impl LinkStates {
    /// Why a publisher's messages, which could come by shared memory, do not.
    pub(crate) fn why_not(&self, publisher: Gid) -> Option<Reason> {
        let links = self.links.lock();
        let found = links.iter().find(|(gid, _)| *gid == publisher);
        found.map_or(Some(Reason::Pending), |(_, reason)| reason.clone())
    }

    /// Takes in how far the links are; returns how far they were.
    pub(super) fn replace(&self, links: Vec<(Gid, Option<Reason>)>) -> Vec<(Gid, Option<Reason>)> {
        std::mem::replace(&mut *self.links.lock(), links)
    }
}
