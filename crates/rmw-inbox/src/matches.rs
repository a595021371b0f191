//! Who matches an endpoint, and what it may report of that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use feros_rmw::{Gid, Match, Notify, QosProfile};
use feros_sync::Mutex;

use crate::{Gate, Status};

/// Another endpoint, as an endpoint knows it that matches.
#[derive(Debug, Clone)]
pub struct Peer<R> {
    /// What it announces.
    pub announcement: Option<Arc<str>>,
    /// Its policies.
    pub qos: QosProfile,
    /// How the engine reaches it.
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
    /// None yet. `on_change` is called by [`notify`](Self::notify).
    pub fn new(on_change: Option<Notify>) -> Self {
        let state = Mutex::new(State { peers: BTreeMap::new(), status: Status::default() });
        Self { state, changed: Gate::new(on_change) }
    }

    /// An endpoint matches, or is known better than before. The caller notifies when it holds no
    /// lock.
    pub fn appeared(&self, gid: Gid, peer: Peer<R>) {
        let mut state = self.state.lock();
        if state.peers.insert(gid, peer).is_none() {
            state.status.appeared();
        }
    }

    /// An endpoint is gone; whether it matched until now. The caller notifies.
    pub fn left(&self, gid: Gid) -> bool {
        let mut state = self.state.lock();
        let was_there = state.peers.remove(&gid).is_some();
        if was_there {
            state.status.left();
        }
        was_there
    }

    /// One that matches announces something else. The caller notifies.
    pub fn announced(&self, gid: Gid, announcement: Option<Arc<str>>) {
        if let Some(peer) = self.state.lock().peers.get_mut(&gid) {
            peer.announcement = announcement;
        }
    }

    /// An endpoint has the name and another type. The caller notifies.
    pub fn clashed(&self) {
        self.state.lock().status.clashed();
    }

    /// So many messages were lost, which is notified if there are any.
    pub fn lost(&self, messages: u64) {
        if messages > 0 {
            self.state.lock().status.lost(messages);
            self.notify();
        }
    }

    /// Says that there is something to report.
    pub fn notify(&self) {
        self.changed.notify();
    }

    /// Ends the notifications.
    pub fn close(&self) {
        self.changed.close();
    }

    /// Takes an event.
    pub fn take<T>(&self, of: impl FnOnce(&mut Status) -> T) -> T {
        of(&mut self.state.lock().status)
    }

    /// How many match.
    pub fn count(&self) -> usize {
        self.state.lock().peers.len()
    }

    /// Those that match, as the engine boundary tells them.
    pub fn list(&self) -> Vec<Match> {
        let as_match = |(gid, peer): (&Gid, &Peer<R>)| Match {
            gid: *gid,
            announcement: peer.announcement.clone(),
            qos: peer.qos,
        };
        self.look(|peers| peers.iter().map(as_match).collect())
    }

    /// Those that match.
    pub fn gids(&self) -> Vec<Gid> {
        self.look(|peers| peers.keys().copied().collect())
    }

    /// How long a message of this one is to be delivered; nothing where there is no limit.
    pub fn lifespan_of(&self, gid: Gid) -> Option<Duration> {
        self.look(|peers| peers.get(&gid).and_then(|peer| peer.qos.lifespan.finite()))
    }

    /// Looks at those that match, who do not change meanwhile.
    pub fn look<T>(&self, look: impl FnOnce(&BTreeMap<Gid, Peer<R>>) -> T) -> T {
        look(&self.state.lock().peers)
    }
}
