//! The endpoints of this process for one master, their matches, and the graph.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};

use feros_engine::announcement::check_announcement;
use feros_engine::engine::GraphListeners;
use feros_engine::{
    AnnounceError, EndpointInfo, EndpointKind, Gid, GraphSnapshot, NodeInfo, NodeName, OpenError,
    QosProfile,
};
use feros_ros1::{Address, Catalog, Master, Rules, Siblings, Types};
use feros_sync::Mutex;

use crate::bell::Bell;
use crate::kept_parameters::KeptParameters;
use crate::matches::{Matches, Peer, Reach, apart};
use crate::name::ENGINE_NAME;
use crate::others::Others;
use crate::writer::Writer;
use feros_inbox::Room;

/// The environment variable with the address of the master.
pub(crate) const MASTER_VARIABLE: &str = "ROS_MASTER_URI";

/// An endpoint of this process, in the form in which the participant stores it.
pub(crate) struct Entry {
    pub(crate) info: EndpointInfo,
    pub(crate) session: Gid,
    pub(crate) matches: Arc<Matches>,
    pub(crate) reach: Reach,
    /// The writer with the history for late subscriptions. Only publishers have a writer.
    pub(crate) writer: Option<Weak<Writer>>,
    pub(crate) ignores_own_session: bool,
}

/// A node of this process.
pub(crate) struct LocalNode {
    pub(crate) name: NodeName,
    pub(crate) enclave: String,
    pub(crate) session: Gid,
    pub(crate) ros1: feros_ros1::Node,
    pub(crate) parameters: Arc<KeptParameters>,
}

/// A node of this process, with its parameters that are stored on the master.
pub(crate) type KnownNode = (feros_ros1::Node, Arc<KeptParameters>);

#[derive(Default)]
struct State {
    /// The nodes, stored by their fully qualified names.
    nodes: BTreeMap<String, LocalNode>,
    endpoints: BTreeMap<Gid, Entry>,
    others: Others,
    generation: u64,
    snapshot: Option<Arc<GraphSnapshot>>,
}

/// The state of this process for one master.
pub(crate) struct Participant {
    pub(crate) master: Master,
    pub(crate) siblings: Siblings,
    pub(crate) room: Arc<Room>,
    pub(crate) bell: Arc<Bell>,
    types: OnceLock<Types>,
    state: Mutex<State>,
    pub(crate) listeners: GraphListeners,
}

impl Participant {
    pub(crate) fn new(uri: &str) -> Result<Arc<Self>, OpenError> {
        let address = Address::parse(uri).ok_or_else(|| OpenError::Configuration {
            engine: ENGINE_NAME,
            source_name: MASTER_VARIABLE.into(),
            detail: format!(
                "`{uri}` is not an address of a ROS 1 master, such as {}",
                feros_ros1::DEFAULT_MASTER
            ),
        })?;
        Ok(Arc::new(Self {
            master: Master::new(address, &format!("/feros_{}", std::process::id())),
            siblings: Siblings::default(),
            room: Arc::default(),
            bell: Arc::default(),
            types: OnceLock::new(),
            state: Mutex::default(),
            listeners: GraphListeners::default(),
        }))
    }

    /// Returns the known types. They are loaded when they are first needed.
    pub(crate) fn types(&self) -> &Types {
        self.types.get_or_init(|| {
            let mut set = feros_interface::shipped().clone();
            for fault in set.load_environment() {
                tracing::warn!("{fault}");
            }
            let path = std::env::var_os("ROS_PACKAGE_PATH").unwrap_or_default();
            Types { set, catalog: Catalog::with_package_path(&path), rules: Rules::default() }
        })
    }

    /// Adds a node. Returns false if this process already has a node with this name, because the
    /// master knows only one node for each name.
    pub(crate) fn add_node(&self, node: LocalNode) -> bool {
        {
            let mut state = self.state.lock();
            let name = node.name.fully_qualified();
            if state.nodes.contains_key(&name) {
                return false;
            }
            state.nodes.insert(name, node);
            state.changed();
        }
        self.listeners.notify();
        true
    }

    pub(crate) fn remove_node(&self, name: &NodeName) {
        let removed = {
            let mut state = self.state.lock();
            let removed = state.nodes.remove(&name.fully_qualified());
            state.changed();
            removed
        };
        drop(removed); // dropped without the lock, because this calls the master
        self.listeners.notify();
    }

    /// Returns the nodes of this process.
    pub(crate) fn nodes(&self) -> Vec<KnownNode> {
        let state = self.state.lock();
        let known = |node: &LocalNode| (node.ros1.clone(), node.parameters.clone());
        state.nodes.values().map(known).collect()
    }

    /// Adds an endpoint and matches it with the other endpoints.
    pub(crate) fn add(self: &Arc<Self>, entry: Entry) -> Member {
        let (gid, name) = (entry.info.gid, entry.info.name.clone());
        let mut changed = vec![entry.matches.clone()];
        {
            let mut state = self.state.lock();
            for other in state.endpoints.values().filter(|other| entry.is_opposite(other)) {
                changed.extend(entry.meet(other));
            }
            if entry.info.kind == EndpointKind::Client {
                for server in state.others.servers(&name) {
                    entry.matches.appeared(server, apart());
                }
            }
            state.endpoints.insert(gid, entry);
            state.changed();
        }
        changed.iter().for_each(|matches| matches.notify());
        self.listeners.notify();
        self.bell.ring();
        Member { participant: self.clone(), gid, name }
    }

    fn remove(&self, gid: Gid) {
        let mut changed = Vec::new();
        {
            let mut state = self.state.lock();
            let Some(entry) = state.endpoints.remove(&gid) else { return };
            for other in state.endpoints.values().filter(|other| entry.is_opposite(other)) {
                if other.matches.left(gid) {
                    changed.push(other.matches.clone());
                }
            }
            state.changed();
        }
        changed.iter().for_each(|matches| matches.notify());
        self.listeners.notify();
    }

    fn announce(&self, gid: Gid, announcement: Option<Arc<str>>) {
        let mut changed = Vec::new();
        {
            let mut state = self.state.lock();
            let Some(entry) = state.endpoints.get_mut(&gid) else { return };
            entry.info.announcement = announcement.clone();
            let Some(entry) = state.endpoints.get(&gid) else { return };
            for other in state.endpoints.values().filter(|other| entry.is_opposite(other)) {
                other.matches.announced(gid, announcement.clone());
                changed.push(other.matches.clone());
            }
            state.changed();
        }
        changed.iter().for_each(|matches| matches.notify());
        self.listeners.notify();
    }

    /// Replaces the description of other processes with a newer description.
    pub(crate) fn update_others(&self, others: Others) {
        let mut changed = Vec::new();
        {
            let mut state = self.state.lock();
            if state.others == others {
                return;
            }
            let before = std::mem::replace(&mut state.others, others);
            for (name, old, new) in state.others.servers_that_changed(&before) {
                let clients = state.endpoints.values().filter(|entry| {
                    entry.info.kind == EndpointKind::Client && entry.info.name == name
                });
                for client in clients {
                    for server in &old {
                        client.matches.left(*server);
                    }
                    new.iter().for_each(|server| client.matches.appeared(*server, apart()));
                    changed.push(client.matches.clone());
                }
            }
            state.changed();
        }
        changed.iter().for_each(|matches| matches.notify());
        self.listeners.notify();
    }

    pub(crate) fn others(&self) -> Others {
        self.state.lock().others.clone()
    }

    /// Returns the policies of all known endpoints of a kind on a topic.
    pub(crate) fn profiles(&self, name: &str, kind: EndpointKind) -> Vec<QosProfile> {
        let graph = self.graph();
        graph.endpoints_of(kind, name).map(|endpoint| endpoint.qos).collect()
    }

    pub(crate) fn graph(&self) -> Arc<GraphSnapshot> {
        let mut state = self.state.lock();
        if let Some(snapshot) = &state.snapshot {
            return snapshot.clone();
        }
        let own_nodes = state.nodes.values().map(|node| NodeInfo {
            name: node.name.clone(),
            enclave: node.enclave.clone(),
            participant: node.session,
        });
        let mut nodes: Vec<_> = own_nodes.chain(state.others.nodes()).collect();
        nodes.sort();
        let mut endpoints: Vec<_> =
            state.endpoints.values().map(|entry| entry.info.clone()).collect();
        endpoints.extend(state.others.endpoints());
        endpoints.sort_by(|a, b| a.name.cmp(&b.name));
        let snapshot = Arc::new(GraphSnapshot {
            generation: state.generation,
            participants: Vec::new(),
            nodes,
            endpoints,
        });
        state.snapshot = Some(snapshot.clone());
        snapshot
    }
}

impl State {
    fn changed(&mut self) {
        self.generation += 1;
        self.snapshot = None;
    }
}

impl Entry {
    /// Whether the other endpoint has the opposite kind and the same name.
    fn is_opposite(&self, other: &Entry) -> bool {
        use EndpointKind::{Client, Publisher, Service, Subscription};
        let kinds = (self.info.kind, other.info.kind);
        let is_pair = matches!(
            kinds,
            (Publisher, Subscription)
                | (Subscription, Publisher)
                | (Service, Client)
                | (Client, Service)
        );
        is_pair && self.info.name == other.info.name
    }

    /// Matches the two endpoints if they are compatible. Returns the matches of the other endpoint
    /// if it must be notified.
    fn meet(&self, other: &Entry) -> Option<Arc<Matches>> {
        if self.info.type_name != other.info.type_name {
            self.matches.clashed();
            other.matches.clashed();
            return Some(other.matches.clone());
        }
        let ignores = self.ignores_own_session || other.ignores_own_session;
        if ignores && self.session == other.session {
            return None;
        }
        other.know(self);
        self.know(other);
        Some(other.matches.clone())
    }

    fn know(&self, other: &Entry) {
        let appear = || self.matches.appeared(other.info.gid, other.peer());
        match (&self.writer, &other.reach) {
            (Some(writer), Reach::Subscription(inbox)) => match writer.upgrade() {
                Some(writer) => writer.meet(&other.info.qos, inbox, appear),
                None => appear(),
            },
            _ => appear(),
        }
    }

    fn peer(&self) -> Peer {
        Peer {
            announcement: self.info.announcement.clone(),
            qos: self.info.qos,
            reach: self.reach.clone(),
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.bell.ring(); // wakes the upkeep thread, which then ends
    }
}

/// Registers an endpoint in its participant. Dropping this value removes the endpoint.
pub(crate) struct Member {
    pub(crate) participant: Arc<Participant>,
    pub(crate) gid: Gid,
    pub(crate) name: String,
}

impl Member {
    /// Removes the endpoint, which ends all its matches.
    pub(crate) fn leave(&self) {
        self.participant.remove(self.gid);
    }

    pub(crate) fn announce(&self, text: &str) -> Result<(), AnnounceError> {
        check_announcement(text)
            .map_err(|reason| AnnounceError::Text { topic: self.name.clone(), reason })?;
        self.participant.announce(self.gid, announced(text));
        Ok(())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Converts a string to an announcement. The empty string becomes `None`.
pub(crate) fn announced(text: &str) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| text.into())
}
