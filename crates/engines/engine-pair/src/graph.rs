//! Joins two graphs into one, in which an endpoint on both engines appears once.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use feros_engine::graph::EndpointNode;
use feros_engine::{EndpointInfo, Gid, GraphSnapshot, NodeInfo, ParticipantInfo};
use feros_sync::RwLock;
use std::sync::Arc;

use crate::announced::Announced;

/// Joins the graphs of both engines.
///
/// Two endpoints are the same if one of them names the other as its twin. Nodes have no
/// announcements. So two nodes with the same name are the same if they have endpoints that are
/// twins, or if they belong to the same session of this process.
pub(crate) fn join(of: &[Arc<GraphSnapshot>; 2]) -> GraphSnapshot {
    let mut endpoints: Vec<EndpointInfo> = Vec::new();
    let mut places = HashMap::new();
    let mut twins = HashSet::new();
    for (side, graph) in of.iter().enumerate() {
        for endpoint in &graph.endpoints {
            let said = Announced::new(side, endpoint.gid, endpoint.announcement.as_ref());
            let key = (endpoint.kind, said.identity);
            if let (1, EndpointNode::Named(name)) = (side, &endpoint.node)
                && (said.is_twin || places.contains_key(&key))
            {
                twins.insert(name);
            }
            if let Some(place) = places.get(&key) {
                let known: &mut EndpointInfo = &mut endpoints[*place];
                if known.node == EndpointNode::Unknown {
                    known.node = endpoint.node.clone();
                }
                continue; // the data of the first engine take precedence
            }
            places.insert(key, endpoints.len());
            endpoints.push(EndpointInfo {
                gid: said.identity,
                announcement: said.announcement,
                ..endpoint.clone()
            });
        }
    }
    endpoints.sort_by(|one, other| one.name.cmp(&other.name));
    let mut nodes = of[0].nodes.clone();
    for node in &of[1].nodes {
        let node = NodeInfo { participant: own_session(node.participant), ..node.clone() };
        let is_same = |known: &NodeInfo| {
            known.name == node.name
                && (known.participant == node.participant || twins.contains(&node.name))
        };
        if !of[0].nodes.iter().any(is_same) {
            nodes.push(node);
        }
    }
    nodes.sort();
    let participants = join_participants(of);
    let generation = of[0].generation + of[1].generation;
    GraphSnapshot { generation, participants, nodes, endpoints }
}

/// The participants of both engines. Sessions of this process appear once.
fn join_participants(of: &[Arc<GraphSnapshot>; 2]) -> Vec<ParticipantInfo> {
    let mut participants = of[0].participants.clone();
    for participant in &of[1].participants {
        let gid = own_session(participant.gid);
        if !of[0].participants.iter().any(|known| known.gid == gid) {
            participants.push(ParticipantInfo { gid, ..participant.clone() });
        }
    }
    participants.sort_by_key(|participant| participant.gid);
    participants
}

/// The sessions of this process that are on two engines. The key is the gid on the second engine,
/// and the value is the gid on the first engine.
static OWN_SESSIONS: LazyLock<RwLock<HashMap<Gid, Gid>>> = LazyLock::new(RwLock::default);

fn own_session(second: Gid) -> Gid {
    OWN_SESSIONS.read().get(&second).copied().unwrap_or(second)
}

/// Registers a session of this process in [`OWN_SESSIONS`] while this value exists.
pub(crate) struct OwnSession(Gid);

impl OwnSession {
    pub(crate) fn new(second: Gid, first: Gid) -> Self {
        OWN_SESSIONS.write().insert(second, first);
        Self(second)
    }
}

impl Drop for OwnSession {
    fn drop(&mut self) {
        OWN_SESSIONS.write().remove(&self.0);
    }
}
