//! A session: one participant, its nodes, and the factory of endpoints.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_rmw::engine::GraphChangeGuard;
use feros_rmw::{
    Client, ClientOptions, CreateEndpointError, Durability, FillAborted, Gid, GraphSnapshot,
    Liveliness, NodeId, NodeName, Notify, OpenError, Publisher, PublisherOptions, QosDuration,
    QosProfile, Reliability, Service, ServiceOptions, Session, SessionOptions, Stamp, Subscription,
    SubscriptionOptions,
};

use crate::client::CycloneClient;
use crate::discovery::{Discovery, discovery_names};
use crate::endpoint::{Names, Wakes, Writer};
use crate::graph::Graph;
use crate::participant::Participant;
use crate::publisher::CyclonePublisher;
use crate::qos::Qos;
use crate::service::CycloneService;
use crate::subscription::CycloneSubscription;
use crate::{ENGINE_NAME, ENGINE_VERSION};
use feros_rmw::dds::discovery_info::{NodeEntities, ParticipantEntities};
use feros_rmw::dds::names;
use feros_sync::Mutex;

/// What endpoints keep alive.
pub(crate) struct Shared {
    // Dropped in this order: nobody feeds or reads the graph when the participant goes.
    _discovery: Discovery,
    announcer: Writer,
    nodes: Mutex<Nodes>,
    pub(crate) graph: Arc<Graph>,
    pub(crate) participant: Arc<Participant>,
    domain_id: u32,
}

#[derive(Default)]
struct Nodes {
    next: u64,
    by_id: BTreeMap<NodeId, NodeEntities>,
}

impl Shared {
    /// Changes the table of nodes and announces it, whole, as stock ROS 2 does. In one piece, so
    /// that announcements go out in the order of the changes.
    fn change_nodes<T>(&self, change: impl FnOnce(&mut Nodes) -> T) -> T {
        let mut nodes = self.nodes.lock();
        let result = change(&mut nodes);
        let entities = ParticipantEntities {
            participant: self.participant.gid,
            nodes: nodes.by_id.values().cloned().collect(),
        };
        let written = self
            .announcer
            .fill(feros_cdr::encoded_size(&entities), 0, &mut |memory| {
                feros_cdr::encode_into(&entities, memory).map(drop).map_err(|_| FillAborted)
            })
            .and_then(|sample| self.announcer.write(sample, Stamp::now()));
        if let Err(error) = written {
            tracing::error!("nodes cannot be announced, others will not see them: {error}");
        }
        self.graph.announced(entities);
        result
    }

    fn has_node(&self, node: NodeId) -> bool {
        self.nodes.lock().by_id.contains_key(&node)
    }

    /// Assigns endpoints to a node until the result is dropped.
    pub(crate) fn join_node(
        self: &Arc<Self>,
        node: NodeId,
        name: &str,
        readers: Vec<Gid>,
        writers: Vec<Gid>,
    ) -> Result<NodeMember, CreateEndpointError> {
        let joined = self.change_nodes(|nodes| {
            nodes.by_id.get_mut(&node).map(|entities| {
                entities.readers.extend(&readers);
                entities.writers.extend(&writers);
            })
        });
        joined.ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })?;
        Ok(NodeMember { shared: self.clone(), node, gids: [readers, writers].concat() })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.graph.close();
    }
}

/// Keeps endpoints in the announcement of their node.
pub(crate) struct NodeMember {
    shared: Arc<Shared>,
    node: NodeId,
    gids: Vec<Gid>,
}

impl Drop for NodeMember {
    fn drop(&mut self) {
        self.gids.iter().for_each(|gid| self.shared.graph.unwatch_type(*gid));
        self.shared.change_nodes(|nodes| {
            if let Some(entities) = nodes.by_id.get_mut(&self.node) {
                entities.readers.retain(|gid| !self.gids.contains(gid));
                entities.writers.retain(|gid| !self.gids.contains(gid));
            }
        });
    }
}

/// The session that users of the engine hold.
pub(crate) struct CycloneSession(Arc<Shared>);

impl CycloneSession {
    pub(crate) fn open(
        options: &SessionOptions,
        user_configuration: Option<String>,
    ) -> Result<Self, OpenError> {
        let participant = Arc::new(Participant::open(options, user_configuration.as_deref())?);
        let graph = Arc::new(Graph::default());
        let failed = |error: CreateEndpointError| OpenError::Engine {
            engine: ENGINE_NAME,
            domain_id: options.domain_id,
            operation: "starting discovery",
            code: error.to_string(),
        };
        let discovery = Discovery::start(&participant, graph.clone()).map_err(failed)?;
        let qos = Qos::writer(&QosProfile::keep_last(1).transient_local(), "");
        let announcer =
            Writer::new(&participant, discovery_names(), &qos, Wakes::default()).map_err(failed)?;
        let shared = Shared {
            _discovery: discovery,
            announcer,
            nodes: Mutex::default(),
            graph,
            participant,
            domain_id: options.domain_id,
        };
        // Stock ROS 2 announces a context even while it has no node.
        shared.change_nodes(|_| ());
        Ok(Self(Arc::new(shared)))
    }

    fn require_node(&self, node: NodeId, name: &str) -> Result<(), CreateEndpointError> {
        let known = self.0.has_node(node);
        known.then_some(()).ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })
    }
}

/// Checks a name for the wire.
fn check_name(name: &str, as_it_is: bool) -> Result<(), CreateEndpointError> {
    let refused = |reason: String| CreateEndpointError::Name {
        name: name.chars().take(300).collect(),
        reason,
    };
    if !as_it_is {
        return feros_rmw::name::validate_full_topic_name(name)
            .map_err(|error| refused(error.reason));
    }
    let fits = (1..=255).contains(&name.len()) && !name.contains('\0');
    fits.then_some(()).ok_or_else(|| refused("it must have 1 to 255 bytes and no NUL".into()))
}

fn check_announcement(name: &str, text: &str) -> Result<(), CreateEndpointError> {
    feros_rmw::announcement::check_announcement(text)
        .map_err(|reason| CreateEndpointError::Announcement { name: name.to_owned(), reason })
}

fn check_qos(name: &str, profile: &QosProfile) -> Result<(), CreateEndpointError> {
    if i32::try_from(profile.depth).is_ok() {
        return Ok(());
    }
    let reason = format!("depth {} is more than {}; use keep_all", profile.depth, i32::MAX);
    Err(CreateEndpointError::Qos { name: name.to_owned(), reason })
}

/// Best-available policies of services are those of `services_default`, as in rmw.
fn service_qos(mut profile: QosProfile) -> QosProfile {
    if profile.reliability == Reliability::BestAvailable {
        profile.reliability = Reliability::Reliable;
    }
    if profile.durability == Durability::BestAvailable {
        profile.durability = Durability::Volatile;
    }
    if profile.liveliness == Liveliness::BestAvailable {
        profile.liveliness = Liveliness::Automatic;
    }
    for duration in [&mut profile.deadline, &mut profile.liveliness_lease_duration] {
        if *duration == QosDuration::BestAvailable {
            *duration = QosDuration::Infinite;
        }
    }
    profile.with_system_defaults_resolved()
}

impl Session for CycloneSession {
    fn engine_name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn engine_version(&self) -> String {
        ENGINE_VERSION.to_owned()
    }

    fn domain_id(&self) -> u32 {
        self.0.domain_id
    }

    fn gid(&self) -> Gid {
        self.0.participant.gid
    }

    fn configuration(&self) -> String {
        self.0.participant.domain.configuration.clone()
    }

    fn create_node(&self, name: &NodeName) -> Result<NodeId, CreateEndpointError> {
        Ok(self.0.change_nodes(|nodes| {
            let id = NodeId(nodes.next);
            nodes.next += 1;
            nodes.by_id.insert(
                id,
                NodeEntities { name: name.clone(), readers: Vec::new(), writers: Vec::new() },
            );
            id
        }))
    }

    fn remove_node(&self, node: NodeId) {
        if self.0.has_node(node) {
            self.0.change_nodes(|nodes| nodes.by_id.remove(&node));
        }
    }

    fn create_publisher(
        &self,
        options: PublisherOptions<'_>,
    ) -> Result<Arc<dyn Publisher>, CreateEndpointError> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        check_name(options.topic, as_it_is)?;
        check_announcement(options.topic, options.announcement)?;
        self.require_node(options.node, options.topic)?;
        let names = Names {
            ros: options.topic.to_owned(),
            topic: names::topic(options.topic, as_it_is),
            type_name: names::type_name(options.type_name, "")?,
        };
        let subscriptions = self.0.graph.profiles(&names.topic, false);
        let qos = options
            .qos
            .resolved_for_publisher(subscriptions.iter())
            .with_system_defaults_resolved();
        check_qos(options.topic, &qos)?;
        Ok(CyclonePublisher::new(&self.0, names, qos, options)?)
    }

    fn create_subscription(
        &self,
        options: SubscriptionOptions<'_>,
    ) -> Result<Arc<dyn Subscription>, CreateEndpointError> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        check_name(options.topic, as_it_is)?;
        check_announcement(options.topic, options.announcement)?;
        self.require_node(options.node, options.topic)?;
        let names = Names {
            ros: options.topic.to_owned(),
            topic: names::topic(options.topic, as_it_is),
            type_name: names::type_name(options.type_name, "")?,
        };
        let publishers = self.0.graph.profiles(&names.topic, true);
        let qos = options
            .qos
            .resolved_for_subscription(publishers.iter())
            .with_system_defaults_resolved();
        check_qos(options.topic, &qos)?;
        Ok(Arc::new(CycloneSubscription::new(&self.0, names, qos, options)?))
    }

    fn create_service(
        &self,
        options: ServiceOptions<'_>,
    ) -> Result<Arc<dyn Service>, CreateEndpointError> {
        check_name(options.service, false)?;
        self.require_node(options.node, options.service)?;
        let qos = service_qos(options.qos);
        check_qos(options.service, &qos)?;
        Ok(Arc::new(CycloneService::new(&self.0, qos, options)?))
    }

    fn create_client(
        &self,
        options: ClientOptions<'_>,
    ) -> Result<Arc<dyn Client>, CreateEndpointError> {
        check_name(options.service, false)?;
        self.require_node(options.node, options.service)?;
        let qos = service_qos(options.qos);
        check_qos(options.service, &qos)?;
        Ok(Arc::new(CycloneClient::new(&self.0, qos, options)?))
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.0.graph.snapshot()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        self.0.graph.on_change(notify)
    }
}
