//! What the endpoints of a session share and keep alive: Zenoh's session, the graph, and the nodes
//! that are announced.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use feros_rmw::{
    CreateEndpointError, EndpointKind, Gid, NodeId, NodeName, QosProfile, SessionMember, TypeHash,
};
use feros_sync::{Condvar, Mutex};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::query::Queryable;
use zenoh::{Session, Wait as _};

use crate::announcing::Announced;
use crate::graph::{Graph, session_gid};
use crate::inbox::Inbox;
use crate::matches::Matches;
use crate::wire::announcement::FIRST_ENTITY;
use crate::wire::token::{self, EndpointToken, NodeToken};

struct Node {
    token: NodeToken,
    _declared: LivelinessToken,
}

/// The state of a session.
pub(crate) struct SessionState {
    // Dropped in this order: what feeds the graph ends before the session.
    pub(crate) _feeding: (Subscriber<()>, Subscriber<()>, Queryable<()>),
    nodes: Mutex<HashMap<NodeId, Node>>,
    pub(crate) graph: Arc<Graph>,
    pub(crate) zid: Arc<str>,
    pub(crate) domain_id: u32,
    enclave: String,
    next_entity: AtomicU64,
    pub(crate) room: Arc<Room>,
    inboxes: Mutex<HashMap<Gid, Weak<Inbox>>>,
    pub(crate) configuration: String,
    pub(crate) session: Session,
}

/// Subscriptions of the session that keep all and are full: its publishers wait for them.
#[derive(Default)]
pub(crate) struct Room {
    full: AtomicUsize,
    lock: Mutex<()>,
    made: Condvar,
}

impl Room {
    pub(crate) fn filled(&self) {
        self.full.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn emptied(&self) {
        let _lock = self.lock.lock();
        self.full.fetch_sub(1, Ordering::AcqRel);
        self.made.notify_all();
    }

    /// Waits until `is_full` says no; false when that takes longer.
    pub(crate) fn wait(&self, longest: Duration, is_full: impl Fn() -> bool) -> bool {
        if self.full.load(Ordering::Acquire) == 0 {
            return true;
        }
        let deadline = Instant::now() + longest;
        let mut lock = self.lock.lock();
        while self.full.load(Ordering::Acquire) > 0 && is_full() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            lock = self.made.wait_timeout(lock, left);
        }
        true
    }
}

/// What a session is put together from.
pub(crate) struct SessionParts {
    pub(crate) feeding: (Subscriber<()>, Subscriber<()>, Queryable<()>),
    pub(crate) graph: Arc<Graph>,
    pub(crate) zid: Arc<str>,
    pub(crate) domain_id: u32,
    pub(crate) enclave: String,
    pub(crate) configuration: String,
    pub(crate) session: Session,
}

impl SessionState {
    pub(crate) fn new(parts: SessionParts) -> Self {
        Self {
            _feeding: parts.feeding,
            nodes: Mutex::default(),
            graph: parts.graph,
            zid: parts.zid,
            domain_id: parts.domain_id,
            enclave: parts.enclave,
            next_entity: AtomicU64::new(FIRST_ENTITY),
            room: Arc::default(),
            inboxes: Mutex::default(),
            configuration: parts.configuration,
            session: parts.session,
        }
    }

    fn number(&self) -> u64 {
        self.next_entity.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn add_node(&self, name: &NodeName) -> Result<NodeId, CreateEndpointError> {
        let node = self.number();
        let token = NodeToken {
            domain_id: self.domain_id,
            zid: self.zid.to_string(),
            node,
            enclave: self.enclave.clone(),
            name: name.clone(),
        };
        let key = token.encode();
        let declared = self.session.liveliness().declare_token(&key).wait();
        let declared = declared
            .map_err(|error| failed(&name.fully_qualified(), "announcing the node", &error))?;
        self.graph.node_appeared(&key, token.clone());
        self.nodes.lock().insert(NodeId(node), Node { token, _declared: declared });
        Ok(NodeId(node))
    }

    pub(crate) fn remove_node(&self, node: NodeId) {
        let removed = self.nodes.lock().remove(&node);
        if let Some(Node { token, _declared }) = removed {
            self.graph.node_left(&token.encode());
        }
    }

    /// Publishers of the session wait for this subscription from now on.
    pub(crate) fn add_inbox(&self, of: Gid, inbox: &Arc<Inbox>) {
        self.inboxes.lock().insert(of, Arc::downgrade(inbox));
    }

    pub(crate) fn remove_inbox(&self, of: Gid) {
        self.inboxes.lock().remove(&of);
    }

    pub(crate) fn is_full(&self, subscription: Gid) -> bool {
        let inbox = self.inboxes.lock().get(&subscription).and_then(Weak::upgrade);
        inbox.is_some_and(|inbox| inbox.is_full())
    }

    /// The token of an endpoint of a node.
    pub(crate) fn endpoint(
        &self,
        node: NodeId,
        kind: EndpointKind,
        name: &str,
        wire_type: String,
        type_hash: Option<TypeHash>,
        qos: QosProfile,
    ) -> Result<EndpointToken, CreateEndpointError> {
        let nodes = self.nodes.lock();
        let node = nodes
            .get(&node)
            .ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })?;
        let entity = self.number();
        let (node, name) = (node.token.clone(), name.to_owned());
        Ok(EndpointToken { node, entity, kind, name, wire_type, type_hash, qos })
    }
}

/// An error of Zenoh, which has no kinds.
pub(crate) fn failed(
    name: &str,
    operation: &'static str,
    error: &zenoh::Error,
) -> CreateEndpointError {
    CreateEndpointError::Engine { name: name.to_owned(), operation, code: error.to_string() }
}

/// An endpoint's place in the graph; dropping it withdraws it.
pub(crate) struct Member {
    declared: Option<LivelinessToken>,
    _of_session: SessionMember,
    pub(crate) gid: Gid,
    pub(crate) name: String,
    pub(crate) announced: Announced,
    pub(crate) shared: Arc<SessionState>,
}

impl Member {
    /// Announces an endpoint, which can receive or send already.
    pub(crate) fn announce(
        shared: &Arc<SessionState>,
        token: EndpointToken,
        announcement: &str,
        matches: Arc<Matches>,
    ) -> Result<Self, CreateEndpointError> {
        let key = token.encode();
        let (gid, name) = (token::gid(&key), token.name.clone());
        let refused = |error| failed(&name, "announcing the endpoint", &error);
        let of_session = SessionMember::new(gid, session_gid(&shared.zid));
        // Whoever sees the endpoint knows what it announces.
        let announced = Announced::new(shared, token.entity, announcement).map_err(refused)?;
        let declared = shared.session.liveliness().declare_token(&key).wait().map_err(refused)?;
        shared.graph.own_appeared(gid, token, matches);
        let shared = shared.clone();
        Ok(Self { declared: Some(declared), _of_session: of_session, gid, name, announced, shared })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.declared.take());
        self.shared.graph.own_left(self.gid);
    }
}
