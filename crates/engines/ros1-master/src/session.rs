//! A session: its nodes, the creation of its endpoints, and how it refuses requests that ROS 1
//! cannot fulfil.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::SystemTime;

use feros_engine::dds::names;
use feros_engine::engine::GraphChangeGuard;
use feros_engine::engine::front::{self, Front};
use feros_engine::engine::known;
use feros_engine::{
    Client, ClientOptions, CreateEndpointError, Created, EndpointKind, Gid, GraphSnapshot, Kept,
    NodeId, NodeName, Notify, ParameterData, ParameterServer, Publisher, PublisherOptions,
    QosProfile, Service, ServiceOptions, Session, SessionOptions, Subscription,
    SubscriptionOptions, TakesParameters,
};
use feros_sync::{AtomicU32, AtomicU64, Mutex, Ordering};

use crate::client::Ros1Client;
use crate::kept_parameters::KeptParameters;
use crate::name::ENGINE_NAME;
use crate::node_topics::{NodeTopics, refused};
use crate::participant::{LocalNode, Participant};
use crate::place::Place;
use crate::publisher::Ros1Publisher;
use crate::service::Ros1Service;
use crate::subscription::Ros1Subscription;

/// A node of the session.
struct OwnNode {
    name: NodeName,
    ros1: feros_ros1::Node,
    topics: Arc<NodeTopics>,
    parameters: Arc<KeptParameters>,
}

/// The session of the engine.
pub(crate) struct Ros1Session {
    participant: Arc<Participant>,
    gid: Gid,
    domain_id: u32,
    enclave: String,
    nodes: Mutex<BTreeMap<NodeId, OwnNode>>,
    next_node: AtomicU64,
    next_endpoint: AtomicU32,
}

impl Ros1Session {
    pub(crate) fn open(
        options: &SessionOptions,
        participant: Arc<Participant>,
    ) -> Arc<dyn Session> {
        Arc::new(Self {
            participant,
            gid: new_gid(),
            domain_id: options.domain_id,
            enclave: options.enclave.clone(),
            nodes: Mutex::default(),
            next_node: AtomicU64::new(1),
            next_endpoint: AtomicU32::new(1),
        })
    }

    fn place(&self, node: NodeId, name: &str) -> Created<Place> {
        let nodes = self.nodes.lock();
        let node = nodes
            .get(&node)
            .ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })?;
        let Gid(mut gid) = self.gid;
        let number = self.next_endpoint.fetch_add(1, Ordering::Relaxed);
        gid[12..].copy_from_slice(&number.to_be_bytes());
        Ok(Place {
            participant: self.participant.clone(),
            ros1: node.ros1.clone(),
            topics: node.topics.clone(),
            node: node.name.clone(),
            session: self.gid,
            gid: Gid(gid),
        })
    }

    fn profiles(&self, name: &str, kind: EndpointKind) -> Vec<QosProfile> {
        self.participant.profiles(name, kind)
    }
}

impl Drop for Ros1Session {
    fn drop(&mut self) {
        let nodes = std::mem::take(&mut *self.nodes.lock());
        nodes.values().for_each(|node| self.participant.remove_node(&node.name));
    }
}

/// Returns a gid whose first 12 bytes differ from those of all other sessions of any process.
fn new_gid() -> Gid {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut hasher = DefaultHasher::new();
    (SystemTime::now(), std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
        .hash(&mut hasher);
    std::env::var_os("HOSTNAME").hash(&mut hasher);
    let mut gid = [0; 16];
    gid[..8].copy_from_slice(&hasher.finish().to_le_bytes());
    gid[8..12].copy_from_slice(&std::process::id().to_le_bytes());
    Gid(gid)
}

/// Checks the name of a topic or service. ROS 1 allows the same names as ROS 2, except names that
/// do not follow the ROS conventions.
fn check_name(name: &str, as_it_is: bool) -> Result<(), CreateEndpointError> {
    if as_it_is {
        let fits = name.starts_with('/') && feros_ros1::is_allowed_name(name);
        let expected =
            "a ROS 1 name has only letters, digits, `_` and `/`, and begins with `/` and a letter";
        front::check_wire_name(name, fits, expected)?;
    }
    front::check_ros_name(name)?;
    if name.contains("/_action/") {
        return Err(CreateEndpointError::Engine {
            name: name.to_owned(),
            operation: "creating an endpoint of an action",
            code: "actions of ROS 1 are topics of actionlib, which this engine does not support; run the node on another \
                   engine, and start `feros ros1 bridge`, which bridges actions"
                .into(),
        });
    }
    Ok(())
}

const FRONT: Front = Front {
    kept: known::ROS1.kept,
    check_name,
    instead_of_times: "ROS 1 does not support the requested deadline and liveliness",
    no_local_requests_only: Some(
        "this engine serves all nodes that reach the master; use a DDS engine",
    ),
};

impl Session for Ros1Session {
    fn engine_name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn engine_version(&self) -> String {
        concat!("XML-RPC and TCPROS of feros-ros1 ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn domain_id(&self) -> u32 {
        self.domain_id
    }

    fn gid(&self) -> Gid {
        self.gid
    }

    fn kept(&self) -> Kept {
        FRONT.kept
    }

    fn configuration(&self) -> String {
        format!("ROS_MASTER_URI={}", self.participant.master.address())
    }

    fn create_node(&self, name: &NodeName) -> Created<NodeId> {
        let full = name.fully_qualified();
        let uri = self.participant.master.address().to_string();
        let ros1 = feros_ros1::Node::among(&self.participant.siblings, &full, &uri);
        let ros1 = ros1.map_err(|error| refused(&full, "creating the node", &error))?;
        let parameters = Arc::<KeptParameters>::default();
        let local = LocalNode {
            name: name.clone(),
            enclave: self.enclave.clone(),
            session: self.gid,
            ros1: ros1.clone(),
            parameters: parameters.clone(),
        };
        if !self.participant.add_node(local) {
            return Err(CreateEndpointError::Name {
                name: full,
                reason: "this process already has a node with this name, and a ROS 1 master knows \
                         only one node per name; give it another name (__node:=NAME)"
                    .into(),
            });
        }
        self.participant.bell.ring();
        let id = NodeId(self.next_node.fetch_add(1, Ordering::Relaxed));
        let topics = Arc::new(NodeTopics::new(&self.participant, &ros1));
        let own = OwnNode { name: name.clone(), ros1, topics, parameters };
        self.nodes.lock().insert(id, own);
        Ok(id)
    }

    fn remove_node(&self, node: NodeId) {
        let removed = self.nodes.lock().remove(&node);
        if let Some(node) = removed {
            self.participant.remove_node(&node.name);
        }
    }

    fn create_publisher(&self, mut options: PublisherOptions<'_>) -> Created<Arc<dyn Publisher>> {
        let topic = options.topic;
        FRONT.publisher(&mut options, || self.profiles(topic, EndpointKind::Subscription))?;
        names::type_name(options.type_name, "")?;
        let place = self.place(options.node, options.topic)?;
        Ok(Arc::new(Ros1Publisher::new(place, options)?))
    }

    fn create_subscription(
        &self,
        mut options: SubscriptionOptions<'_>,
    ) -> Created<Arc<dyn Subscription>> {
        let topic = options.topic;
        FRONT.subscription(&mut options, || self.profiles(topic, EndpointKind::Publisher))?;
        names::type_name(options.type_name, "")?;
        let place = self.place(options.node, options.topic)?;
        Ok(Arc::new(Ros1Subscription::new(place, options)?))
    }

    fn create_service(&self, mut options: ServiceOptions<'_>) -> Created<Arc<dyn Service>> {
        FRONT.service(&mut options)?;
        names::type_name(options.type_name, "")?;
        let place = self.place(options.node, options.service)?;
        Ok(Arc::new(Ros1Service::new(place, options)?))
    }

    fn create_client(&self, mut options: ClientOptions<'_>) -> Created<Arc<dyn Client>> {
        FRONT.client(&mut options)?;
        names::type_name(options.type_name, "")?;
        let place = self.place(options.node, options.service)?;
        Ok(Arc::new(Ros1Client::new(place, options)?))
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.participant.graph()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        self.participant.listeners.add(notify)
    }

    fn parameter_server(&self) -> Option<&dyn ParameterServer> {
        Some(self)
    }
}

/// The master stores the parameters of the session's nodes.
impl ParameterServer for Ros1Session {
    fn initial(&self, node: &NodeName) -> Vec<(String, String)> {
        crate::parameters::of_node(&self.participant.master, &node.fully_qualified())
    }

    fn follow(&self, node: NodeId, taker: Arc<dyn TakesParameters>) {
        let known = self.nodes.lock().get(&node).map(|node| node.parameters.clone());
        let Some(parameters) = known else { return };
        parameters.follow_with(taker);
        self.participant.bell.ring();
    }

    fn keep(&self, node: NodeId, name: &str, value: Option<ParameterData<'_>>) {
        let known = {
            let nodes = self.nodes.lock();
            nodes.get(&node).map(|node| (node.name.clone(), node.parameters.clone()))
        };
        let Some((node, parameters)) = known else { return };
        if parameters.set(&node.fully_qualified(), name, value) {
            self.participant.bell.ring();
        }
    }
}
