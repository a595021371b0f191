//! The matches of an endpoint of this session, and the sessions to which the matches belong.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use feros_engine::{Gid, Notify};

/// A matching endpoint. The engine reaches it through the id of its session.
pub(crate) type Peer = feros_inbox::Peer<Arc<str>>;

/// The matches of one endpoint.
pub(crate) struct Matches {
    all: feros_inbox::Matches<Arc<str>>,
    /// A session whose endpoints never match, if there is such a session.
    ignored: OnceLock<Arc<str>>,
}

impl Deref for Matches {
    type Target = feros_inbox::Matches<Arc<str>>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl Matches {
    /// Creates an empty list of matches. `on_change` is called after each change for which there is
    /// an event.
    pub(crate) fn new(on_change: Option<Notify>) -> Arc<Self> {
        Arc::new(Self { all: feros_inbox::Matches::new(on_change), ignored: OnceLock::new() })
    }

    /// From now on, ignores the endpoints of a session.
    pub(crate) fn ignore_session(&self, zid: &Arc<str>) {
        let _ = self.ignored.set(zid.clone()); // set at most once, for this session
    }

    pub(crate) fn ignores(&self, zid: &str) -> bool {
        self.ignored.get().is_some_and(|ignored| **ignored == *zid)
    }

    pub(crate) fn contains(&self, gid: Gid) -> bool {
        self.look(|peers| peers.contains_key(&gid))
    }

    /// Returns the sessions to which the matches belong, without duplicates.
    pub(crate) fn sessions(&self) -> Vec<Arc<str>> {
        let mut sessions: Vec<_> =
            self.look(|peers| peers.values().map(|peer| peer.reach.clone()).collect());
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    pub(crate) fn session_of(&self, gid: Gid) -> Option<Arc<str>> {
        self.look(|peers| peers.get(&gid).map(|peer| peer.reach.clone()))
    }

    /// Returns one of the matches in this session. It may be any of these matches, because Zenoh
    /// identifies only the session of a sender.
    pub(crate) fn of_session(&self, zid: &str) -> Option<Gid> {
        self.look(|peers| peers.iter().find(|(_, peer)| *peer.reach == *zid).map(|(gid, _)| *gid))
    }
}
