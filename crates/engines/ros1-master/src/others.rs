//! The nodes of other processes that the master knows, represented as a ROS 2 graph.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use feros_engine::{EndpointInfo, EndpointKind, Gid, NodeInfo, NodeName};
use feros_ros1::SystemState;

/// Names of topics or services, each with the nodes that publish it, subscribe to it or serve it.
type Holders = BTreeMap<String, BTreeSet<String>>;

/// The publishers, subscribers and servers in other processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Others {
    publishers: Holders,
    subscribers: Holders,
    services: Holders,
    /// The ROS 2 types of topics and services whose types nodes have stated.
    types: BTreeMap<String, String>,
}

impl Others {
    /// Creates the description. Omits the nodes of this process (`own`), because the participant
    /// knows more about them.
    pub(crate) fn new(state: &SystemState, own: &BTreeSet<String>) -> Self {
        let others = |all: &[(String, Vec<String>)]| -> Holders {
            let without = |(name, nodes): &(String, Vec<String>)| {
                let nodes: BTreeSet<_> =
                    nodes.iter().filter(|node| !own.contains(*node)).cloned().collect();
                (!nodes.is_empty()).then(|| (name.clone(), nodes))
            };
            all.iter().filter_map(without).collect()
        };
        Self {
            publishers: others(&state.publishers),
            subscribers: others(&state.subscribers),
            services: others(&state.services),
            types: BTreeMap::new(),
        }
    }

    /// Returns the topics. After this, the caller must set their types and the types of the
    /// services.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &String> {
        self.publishers.keys().chain(self.subscribers.keys())
    }

    pub(crate) fn services(&self) -> impl Iterator<Item = &String> {
        self.services.keys()
    }

    pub(crate) fn type_of(&self, name: &str) -> Option<&String> {
        self.types.get(name)
    }

    pub(crate) fn set_type(&mut self, name: &str, ty: String) {
        self.types.insert(name.to_owned(), ty);
    }

    /// Returns the servers of a service.
    pub(crate) fn servers(&self, service: &str) -> Vec<Gid> {
        let nodes = self.services.get(service).into_iter().flatten();
        nodes.map(|node| gid_of(EndpointKind::Service, node, service)).collect()
    }

    /// Returns the services whose servers have changed, each with its former and its current
    /// servers.
    pub(crate) fn servers_that_changed(&self, before: &Self) -> Vec<(String, Vec<Gid>, Vec<Gid>)> {
        let names: BTreeSet<&String> = self.services.keys().chain(before.services.keys()).collect();
        let change = |name: &String| {
            let (old, new) = (before.servers(name), self.servers(name));
            (old != new).then(|| (name.clone(), old, new))
        };
        names.into_iter().filter_map(change).collect()
    }

    pub(crate) fn nodes(&self) -> Vec<NodeInfo> {
        let all = [&self.publishers, &self.subscribers, &self.services];
        let names: BTreeSet<&String> =
            all.iter().flat_map(|holders| holders.values().flatten()).collect();
        let node = |name: &String| NodeInfo {
            name: node_name(name),
            enclave: String::new(),
            participant: participant_of(name),
        };
        names.into_iter().map(node).collect()
    }

    /// Returns all endpoints whose types are known.
    pub(crate) fn endpoints(&self) -> Vec<EndpointInfo> {
        let kinds = [
            (EndpointKind::Publisher, &self.publishers),
            (EndpointKind::Subscription, &self.subscribers),
            (EndpointKind::Service, &self.services),
        ];
        let mut found = Vec::new();
        for (kind, holders) in kinds {
            for (name, nodes) in holders {
                let Some(type_name) = self.types.get(name) else { continue };
                found.extend(nodes.iter().map(|node| EndpointInfo {
                    gid: gid_of(kind, node, name),
                    ..EndpointInfo::of_node(kind, name, type_name, node_name(node))
                }));
            }
        }
        found
    }
}

/// Splits the full name of a ROS 1 node, `/namespace/name`.
fn node_name(full: &str) -> NodeName {
    match full.rsplit_once('/') {
        Some(("", name)) => NodeName::announced("/", name),
        Some((namespace, name)) => NodeName::announced(namespace, name),
        None => NodeName::announced("/", full),
    }
}

fn hash(of: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Returns the gid of a node's participant. ROS 1 nodes have no identity except their name, so each
/// node counts as a participant, and the prefix of its gid is a hash of its name.
pub(crate) fn participant_of(node: &str) -> Gid {
    let mut gid = [0; 16];
    gid[..8].copy_from_slice(&hash(&["node", node]).to_le_bytes());
    gid[8..12].copy_from_slice(b"ros1");
    Gid(gid)
}

/// Returns the gid of a node's endpoint on a topic or service.
pub(crate) fn gid_of(kind: EndpointKind, node: &str, name: &str) -> Gid {
    let Gid(mut gid) = participant_of(node);
    let word = match kind {
        EndpointKind::Publisher => "publisher",
        EndpointKind::Subscription => "subscription",
        EndpointKind::Service => "service",
        EndpointKind::Client => "client",
    };
    let endpoint = hash(&[word, name]);
    gid[12..].copy_from_slice(&endpoint.to_le_bytes()[..4]);
    Gid(gid)
}
