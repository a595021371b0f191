//! The matches of an endpoint, and the events about them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use feros_engine::engine::Gate;
use feros_engine::{Gid, Match, Notify, QosProfile, ServerMatch};
use feros_sync::Mutex;

use crate::Status;

/// An endpoint that matches a local endpoint.
#[derive(Debug, Clone)]
pub struct Peer<R> {
    /// The announcement of the matching endpoint.
    pub announcement: Option<Arc<str>>,
    /// The policies of the matching endpoint.
    pub qos: QosProfile,
    /// The engine's data for sending to the matching endpoint.
    pub reach: R,
}

struct State<R> {
    peers: BTreeMap<Gid, Peer<R>>,
    status: Status,
}

/// The matches of one endpoint.
pub struct Matches<R> {
    state: Mutex<State<R>>,
    changed: Gate,
}

impl<R> Matches<R> {
    /// Creates an empty list of matches. [`notify`](Self::notify) will call `on_change`.
    pub fn new(on_change: Option<Notify>) -> Self {
        let state = Mutex::new(State { peers: BTreeMap::new(), status: Status::default() });
        Self { state, changed: Gate::new(on_change) }
    }

    /// Adds a match, or updates its data. The caller must call `notify` as soon as it holds no
    /// lock.
    pub fn appeared(&self, gid: Gid, peer: Peer<R>) {
        let mut state = self.state.lock();
        if state.peers.insert(gid, peer).is_none() {
            state.status.appeared();
        }
    }

    /// Removes an endpoint and returns whether it matched. The caller must call `notify`.
    pub fn left(&self, gid: Gid) -> bool {
        let mut state = self.state.lock();
        let was_there = state.peers.remove(&gid).is_some();
        if was_there {
            state.status.left();
        }
        was_there
    }

    /// Updates the announcement of a match. The caller must call `notify`.
    pub fn announced(&self, gid: Gid, announcement: Option<Arc<str>>) {
        if let Some(peer) = self.state.lock().peers.get_mut(&gid) {
            peer.announcement = announcement;
        }
    }

    /// Records an endpoint with the same name and another type. The caller must call `notify`.
    pub fn clashed(&self) {
        self.state.lock().status.clashed();
    }

    /// Records lost messages. Calls the notification if there are any.
    pub fn lost(&self, messages: u64) {
        if messages > 0 {
            self.state.lock().status.lost(messages);
            self.notify();
        }
    }

    /// Calls the notification, because there is an event to take.
    pub fn notify(&self) {
        self.changed.notify();
    }

    /// Closes the notification.
    pub fn close(&self) {
        self.changed.close();
    }

    /// Takes an event from the status by calling `of`.
    pub fn take<T>(&self, of: impl FnOnce(&mut Status) -> T) -> T {
        of(&mut self.state.lock().status)
    }

    /// The number of matches.
    pub fn count(&self) -> usize {
        self.state.lock().peers.len()
    }

    /// Returns the matches in the form that the engine interface uses.
    pub fn list(&self) -> Vec<Match> {
        let as_match = |(gid, peer): (&Gid, &Peer<R>)| Match {
            gid: *gid,
            announcement: peer.announcement.clone(),
            qos: peer.qos,
        };
        self.look(|peers| peers.iter().map(as_match).collect())
    }

    /// The matches of a client; each server that matches is available.
    pub fn servers(&self) -> Vec<ServerMatch> {
        let found = self.list().into_iter();
        found.map(|found| ServerMatch { found, is_available: true }).collect()
    }

    /// The gids of the matches.
    pub fn gids(&self) -> Vec<Gid> {
        self.look(|peers| peers.keys().copied().collect())
    }

    /// Whether a message that a publisher published at this time is older than the publisher's
    /// lifespan.
    pub fn is_expired(&self, publisher: Gid, published: Option<SystemTime>) -> bool {
        let qos = self.look(|peers| peers.get(&publisher).map(|peer| peer.qos));
        let Some(lifespan) = qos.and_then(|qos| qos.lifespan.finite()) else { return false };
        let age = published.and_then(|published| SystemTime::now().duration_since(published).ok());
        age.is_some_and(|age| age > lifespan)
    }

    /// Calls `look` with the matches, which do not change during the call.
    pub fn look<T>(&self, look: impl FnOnce(&BTreeMap<Gid, Peer<R>>) -> T) -> T {
        look(&self.state.lock().peers)
    }
}
