//! The state of a session: the Zenoh session, the graph, and the announced nodes. All endpoints of
//! the session share this state, and it exists while any of them exists.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use feros_engine::{
    CreateEndpointError, Created, DiscoveryForm, EndpointKind, Gid, NamePrefix, NodeId, NodeName,
    QosProfile, TypeHash,
};
use feros_sync::Mutex;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::query::Queryable;
use zenoh::{Session, Wait as _};

use crate::graph::Graph;
use crate::inbox::Inbox;
use crate::wire::announcement::FIRST_ENTITY;
use crate::wire::token::{EndpointToken, NodeToken};
use feros_inbox::Room;

struct Node {
    token: NodeToken,
    _declared: LivelinessToken,
}

/// The state of a session.
pub(crate) struct SessionState {
    // This is dropped first, because the updates of the graph must end before the session.
    pub(crate) _feeding: (Subscriber<()>, Subscriber<()>, Queryable<()>),
    nodes: Mutex<HashMap<NodeId, Node>>,
    pub(crate) graph: Arc<Graph>,
    pub(crate) zid: Arc<str>,
    pub(crate) domain_id: u32,
    below: Option<NamePrefix>,
    enclave: String,
    form: DiscoveryForm,
    next_entity: AtomicU64,
    pub(crate) room: Arc<Room>,
    inboxes: Mutex<HashMap<Gid, Weak<Inbox>>>,
    pub(crate) configuration: String,
    pub(crate) session: Session,
}

/// The parts of a new session.
pub(crate) struct SessionParts {
    pub(crate) feeding: (Subscriber<()>, Subscriber<()>, Queryable<()>),
    pub(crate) graph: Arc<Graph>,
    pub(crate) zid: Arc<str>,
    pub(crate) domain_id: u32,
    pub(crate) below: Option<NamePrefix>,
    pub(crate) enclave: String,
    pub(crate) form: DiscoveryForm,
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
            below: parts.below,
            enclave: parts.enclave,
            form: parts.form,
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

    pub(crate) fn add_node(&self, name: &NodeName) -> Created<NodeId> {
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

    /// From now on, publishers of the session wait while the inbox of this subscription is full.
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

    /// Refuses a name that the session's graph leaves out: the endpoint would not see its matches.
    fn check_is_in_graph(&self, name: &str) -> Created<()> {
        let Some(below) = self.below.as_ref().filter(|below| below.strip(name).is_none()) else {
            return Ok(());
        };
        Err(CreateEndpointError::Name {
            name: name.to_owned(),
            reason: format!(
                "the session was opened for names below {below} only (SessionOptions::graph_below)"
            ),
        })
    }

    /// Returns the token for a new endpoint of a node. In the form of Humble, which knows no type
    /// hashes, the hash is left out.
    pub(crate) fn endpoint(
        &self,
        node: NodeId,
        kind: EndpointKind,
        name: &str,
        wire_type: String,
        type_hash: Option<TypeHash>,
        qos: QosProfile,
    ) -> Created<EndpointToken> {
        self.check_is_in_graph(name)?;
        let nodes = self.nodes.lock();
        let node = nodes
            .get(&node)
            .ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })?;
        let entity = self.number();
        let (node, name) = (node.token.clone(), name.to_owned());
        let type_hash = type_hash.filter(|_| self.form != DiscoveryForm::Humble);
        let buffer_backends = None;
        Ok(EndpointToken { node, entity, kind, name, wire_type, type_hash, qos, buffer_backends })
    }
}

/// Converts an error of Zenoh. Zenoh's errors have no kind, only a text.
pub(crate) fn failed(
    name: &str,
    operation: &'static str,
    error: &zenoh::Error,
) -> CreateEndpointError {
    CreateEndpointError::Engine { name: name.to_owned(), operation, code: error.to_string() }
}
