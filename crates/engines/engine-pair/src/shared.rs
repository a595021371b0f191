//! The state that the endpoints of a session share: the sessions of both engines, and the joined
//! graph.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feros_engine::{
    BridgeMark, CreateEndpointError, Created, EndpointKind, Gid, GraphChangeGuard, GraphSnapshot,
    NodeId, NodeName, Session,
};
use feros_sync::Mutex;

use crate::graph;
use crate::later::Later;

pub(crate) struct Shared {
    pub(crate) sides: [Arc<dyn Session>; 2],
    /// How long the first engine has to find an endpoint that the second engine has already found.
    pub(crate) settle: Duration,
    pub(crate) later: Later,
    nodes: Mutex<Nodes>,
    graph: Mutex<Option<JoinedGraph>>,
    version: Arc<AtomicU64>,
    _changes: [GraphChangeGuard; 2],
    _session: graph::OwnSession,
}

#[derive(Default)]
struct Nodes {
    next: u64,
    by_id: HashMap<NodeId, [NodeId; 2]>,
}

struct JoinedGraph {
    of: [Arc<GraphSnapshot>; 2],
    joined: Arc<GraphSnapshot>,
}

impl Shared {
    pub(crate) fn new(sides: [Arc<dyn Session>; 2], settle: Duration) -> Arc<Self> {
        let version = Arc::new(AtomicU64::new(0));
        let changes = [0, 1].map(|side: usize| {
            let version = version.clone();
            sides[side].on_graph_change(Arc::new(move || {
                version.fetch_add(1, Ordering::AcqRel);
            }))
        });
        Arc::new(Self {
            _session: graph::OwnSession::new(sides[1].gid(), sides[0].gid()),
            sides,
            settle,
            later: Later::default(),
            nodes: Mutex::default(),
            graph: Mutex::default(),
            version,
            _changes: changes,
        })
    }

    pub(crate) fn create_node(&self, name: &NodeName) -> Created<NodeId> {
        let first = self.sides[0].create_node(name)?;
        let second = self.sides[1].create_node(name);
        let second = second.inspect_err(|_| self.sides[0].remove_node(first))?;
        let mut nodes = self.nodes.lock();
        nodes.next += 1;
        let id = NodeId(nodes.next);
        nodes.by_id.insert(id, [first, second]);
        Ok(id)
    }

    pub(crate) fn remove_node(&self, node: NodeId) {
        let Some(ids) = self.nodes.lock().by_id.remove(&node) else { return };
        self.sides.iter().zip(ids).for_each(|(side, id)| side.remove_node(id));
    }

    /// Returns the ids of a node on each engine. `name` is the name of the endpoint that is being
    /// created, and is used in the error.
    pub(crate) fn node(&self, node: NodeId, name: &str) -> Created<[NodeId; 2]> {
        let found = self.nodes.lock().by_id.get(&node).copied();
        found.ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })
    }

    /// Returns the joined graph of both engines.
    pub(crate) fn graph(&self) -> Arc<GraphSnapshot> {
        let of = self.sides.each_ref().map(|side| side.graph());
        let mut known = self.graph.lock();
        if let Some(graph) = &*known {
            let is_same = |side: usize| Arc::ptr_eq(&graph.of[side], &of[side]);
            // Another thread may already have joined later graphs.
            let is_later = |side: usize| graph.of[side].generation > of[side].generation;
            if [0, 1].into_iter().all(|side| is_same(side) || is_later(side)) {
                return graph.joined.clone();
            }
        }
        let joined = Arc::new(graph::join(&of));
        *known = Some(JoinedGraph { of, joined: joined.clone() });
        joined
    }

    /// A number that increases with each change of either graph.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Whether the graph of the first engine contains the endpoint, no matter whether it matches.
    pub(crate) fn first_shows(&self, gid: Gid) -> bool {
        self.sides[0].graph().endpoints.iter().any(|endpoint| endpoint.gid == gid)
    }

    /// Whether an endpoint on engine `side` belongs to a bridge that repeats messages of the other
    /// engine. A bridge announces the same mark for the endpoints that take messages from one of
    /// its sides, and for the endpoints that forward these messages to other sides. So the mark
    /// also appears on the other engine in two cases: the bridge takes the messages there, or it
    /// takes them from a third side and forwards them to both engines. In the second case, the
    /// messages of the first engine are used.
    pub(crate) fn repeats_the_other(&self, side: usize, announcement: Option<&str>) -> bool {
        let Some(mark) = BridgeMark::read(announcement) else { return false };
        let takes = |kind| matches!(kind, EndpointKind::Subscription | EndpointKind::Client);
        self.sides[1 - side].graph().endpoints.iter().any(|endpoint| {
            let is_of_the_bridge = BridgeMark::read(endpoint.announcement.as_deref()) == Some(mark);
            is_of_the_bridge && (side == 1 || takes(endpoint.kind))
        })
    }
}
