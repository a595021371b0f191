//! Who matches an endpoint of this session, and what it may report of that.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use feros_rmw::{Gid, Match, Notify, QosProfile};
use feros_sync::Mutex;

use feros_rmw_inbox::Gate;
use feros_rmw_inbox::Status;

/// Another endpoint, as an endpoint of this session knows it.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) zid: Arc<str>,
    pub(crate) announcement: Option<Arc<str>>,
    pub(crate) qos: QosProfile,
}

#[derive(Default)]
struct State {
    peers: HashMap<Gid, Peer>,
    status: Status,
}

/// The matches of one endpoint.
pub(crate) struct Matches {
    state: Mutex<State>,
    changed: Gate,
    /// A session whose endpoints do not match.
    ignored: OnceLock<Arc<str>>,
}

impl Matches {
    /// `on_change` is called after each change that may be reported.
    pub(crate) fn new(on_change: Option<Notify>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: Gate::new(on_change),
            ignored: OnceLock::new(),
        })
    }

    /// Endpoints of this session do not match.
    pub(crate) fn ignore_session(&self, zid: &Arc<str>) {
        let _ = self.ignored.set(zid.clone()); // there is one session that is one's own
    }

    pub(crate) fn ignores(&self, zid: &str) -> bool {
        self.ignored.get().is_some_and(|ignored| **ignored == *zid)
    }

    /// The caller notifies when it holds no lock.
    pub(crate) fn appeared(&self, gid: Gid, peer: Peer) {
        let mut state = self.state.lock();
        if state.peers.insert(gid, peer).is_none() {
            state.status.appeared();
        }
    }

    pub(crate) fn left(&self, gid: Gid) {
        let mut state = self.state.lock();
        if state.peers.remove(&gid).is_some() {
            state.status.left();
        }
    }

    pub(crate) fn announced(&self, gid: Gid, announcement: Option<Arc<str>>) {
        if let Some(peer) = self.state.lock().peers.get_mut(&gid) {
            peer.announcement = announcement;
        }
    }

    pub(crate) fn clashed(&self) {
        self.state.lock().status.clashed();
    }

    pub(crate) fn lost(&self, messages: u64) {
        if messages > 0 {
            self.state.lock().status.lost(messages);
            self.notify();
        }
    }

    pub(crate) fn notify(&self) {
        self.changed.notify();
    }

    /// Ends the notifications.
    pub(crate) fn close(&self) {
        self.changed.close();
    }

    pub(crate) fn take<T>(&self, of: impl FnOnce(&mut Status) -> T) -> T {
        of(&mut self.state.lock().status)
    }

    pub(crate) fn count(&self) -> usize {
        self.state.lock().peers.len()
    }

    pub(crate) fn contains(&self, gid: Gid) -> bool {
        self.state.lock().peers.contains_key(&gid)
    }

    pub(crate) fn list(&self) -> Vec<Match> {
        let state = self.state.lock();
        let peers = state.peers.iter();
        let as_match = |(gid, peer): (&Gid, &Peer)| Match {
            gid: *gid,
            announcement: peer.announcement.clone(),
            qos: peer.qos,
        };
        peers.map(as_match).collect()
    }

    pub(crate) fn gids(&self) -> Vec<Gid> {
        self.state.lock().peers.keys().copied().collect()
    }

    /// The sessions of those that match, each once.
    pub(crate) fn sessions(&self) -> Vec<Arc<str>> {
        let state = self.state.lock();
        let mut sessions: Vec<_> = state.peers.values().map(|peer| peer.zid.clone()).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    pub(crate) fn session_of(&self, gid: Gid) -> Option<Arc<str>> {
        self.state.lock().peers.get(&gid).map(|peer| peer.zid.clone())
    }

    /// Some endpoint of this session that matches: what Zenoh tells of a sender is its session.
    pub(crate) fn of_session(&self, zid: &str) -> Option<Gid> {
        let state = self.state.lock();
        state.peers.iter().find(|(_, peer)| *peer.zid == *zid).map(|(gid, _)| *gid)
    }

    /// How long a message of this one is to be delivered; nothing where there is no limit.
    pub(crate) fn lifespan_of(&self, gid: Gid) -> Option<Duration> {
        self.state.lock().peers.get(&gid).and_then(|peer| peer.qos.lifespan.finite())
    }
}
