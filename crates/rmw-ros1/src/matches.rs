//! Who matches an endpoint of this process, and what it may report of that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use feros_rmw::{Gid, Match, Notify, QosProfile};
use feros_sync::Mutex;

use crate::message::Inbox;
use crate::requests::Requests;
use crate::responses::Responses;
use feros_rmw_inbox::Gate;
use feros_rmw_inbox::Status;

/// How an endpoint of this process is handed something.
#[derive(Clone)]
pub(crate) enum Reach {
    /// By TCPROS, or not at all.
    Apart,
    Subscription(Arc<Inbox>),
    Service(Arc<Requests>),
    Client(Arc<Responses>),
}

/// Another endpoint, as an endpoint of this process knows it.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) announcement: Option<Arc<str>>,
    pub(crate) qos: QosProfile,
    pub(crate) reach: Reach,
}

impl Peer {
    /// One of another process, of which ROS 1 says no more than that it is there.
    pub(crate) fn apart() -> Self {
        Self { announcement: None, qos: QosProfile::default(), reach: Reach::Apart }
    }
}

#[derive(Default)]
struct State {
    peers: BTreeMap<Gid, Peer>,
    status: Status,
}

/// The matches of one endpoint.
pub(crate) struct Matches {
    state: Mutex<State>,
    changed: Gate,
}

impl Matches {
    /// `on_change` is called after each change that may be reported.
    pub(crate) fn new(on_change: Option<Notify>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: Gate::new(on_change) })
    }

    /// The caller notifies when it holds no lock.
    pub(crate) fn appeared(&self, gid: Gid, peer: Peer) {
        let mut state = self.state.lock();
        if state.peers.insert(gid, peer).is_none() {
            state.status.appeared();
        }
    }

    /// Whether it matched until now. The caller notifies.
    pub(crate) fn left(&self, gid: Gid) -> bool {
        let mut state = self.state.lock();
        let was_there = state.peers.remove(&gid).is_some();
        if was_there {
            state.status.left();
        }
        was_there
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

    /// How a peer is reached; nothing where it does not match.
    pub(crate) fn reach(&self, gid: Gid) -> Option<Reach> {
        self.state.lock().peers.get(&gid).map(|peer| peer.reach.clone())
    }

    /// The first peer that is within this process, else the first one.
    pub(crate) fn nearest(&self) -> Option<(Gid, Reach)> {
        let state = self.state.lock();
        let is_near = |(_, peer): &(&Gid, &Peer)| !matches!(peer.reach, Reach::Apart);
        let near = state.peers.iter().find(is_near).or_else(|| state.peers.iter().next());
        near.map(|(gid, peer)| (*gid, peer.reach.clone()))
    }

    /// Calls `each` for every subscription of this process that matches.
    pub(crate) fn for_each_inbox(&self, mut each: impl FnMut(&Inbox)) {
        for peer in self.state.lock().peers.values() {
            if let Reach::Subscription(inbox) = &peer.reach {
                each(inbox);
            }
        }
    }

    /// How long a message of this one is to be delivered; nothing where there is no limit.
    pub(crate) fn lifespan_of(&self, gid: Gid) -> Option<Duration> {
        self.state.lock().peers.get(&gid).and_then(|peer| peer.qos.lifespan.finite())
    }
}
