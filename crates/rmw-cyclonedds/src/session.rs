//! A session: one participant, its nodes, and the factory of endpoints.

use std::sync::Arc;

use feros_rmw::engine::GraphChangeGuard;
use feros_rmw::engine::checks::{check_announcement, check_depth};
use feros_rmw::{
    Client, ClientOptions, CreateEndpointError, Gid, GraphSnapshot, NodeId, NodeName, Notify,
    OpenError, Publisher, PublisherOptions, QosProfile, Service, ServiceOptions, Session,
    SessionOptions, Subscription, SubscriptionOptions,
};

use crate::client::CycloneClient;
use crate::discovery::{Discovery, discovery_names};
use crate::domain::{ENGINE_NAME, ENGINE_VERSION};
use crate::endpoint::{Notifications, Writer};
use crate::participant::Participant;
use crate::publisher::CyclonePublisher;
use crate::qos::Qos;
use crate::service::CycloneService;
use crate::session_state::SessionState;
use crate::subscription::CycloneSubscription;
use crate::topic::EndpointNames;

use feros_rmw::dds::names;
use feros_rmw_dds::graph::Graph;

/// The session that users of the engine hold.
pub(crate) struct CycloneSession(Arc<SessionState>);

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
            Writer::new(&participant, discovery_names(), &qos, Notifications::default())
                .map_err(failed)?;
        let state =
            SessionState::announce(options.domain_id, participant, graph, discovery, announcer);
        Ok(Self(Arc::new(state)))
    }

    fn require_node(&self, node: NodeId, name: &str) -> Result<(), CreateEndpointError> {
        let known = self.0.has_node(node);
        known.then_some(()).ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })
    }
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
        Ok(self.0.add_node(name))
    }

    fn remove_node(&self, node: NodeId) {
        self.0.remove_node(node);
    }

    fn create_publisher(
        &self,
        options: PublisherOptions<'_>,
    ) -> Result<Arc<dyn Publisher>, CreateEndpointError> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        names::check(options.topic, as_it_is)?;
        check_announcement(options.topic, options.announcement)?;
        self.require_node(options.node, options.topic)?;
        let names = EndpointNames {
            ros: options.topic.to_owned(),
            topic: names::topic(options.topic, as_it_is),
            type_name: names::type_name(options.type_name, "")?,
        };
        let subscriptions = self.0.graph.profiles(&names.topic, false);
        let qos = options
            .qos
            .resolved_for_publisher(subscriptions.iter())
            .with_system_defaults_resolved();
        check_depth(options.topic, &qos)?;
        Ok(CyclonePublisher::new(&self.0, names, qos, options)?)
    }

    fn create_subscription(
        &self,
        options: SubscriptionOptions<'_>,
    ) -> Result<Arc<dyn Subscription>, CreateEndpointError> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        names::check(options.topic, as_it_is)?;
        check_announcement(options.topic, options.announcement)?;
        self.require_node(options.node, options.topic)?;
        let names = EndpointNames {
            ros: options.topic.to_owned(),
            topic: names::topic(options.topic, as_it_is),
            type_name: names::type_name(options.type_name, "")?,
        };
        let publishers = self.0.graph.profiles(&names.topic, true);
        let qos = options
            .qos
            .resolved_for_subscription(publishers.iter())
            .with_system_defaults_resolved();
        check_depth(options.topic, &qos)?;
        Ok(Arc::new(CycloneSubscription::new(&self.0, names, qos, options)?))
    }

    fn create_service(
        &self,
        options: ServiceOptions<'_>,
    ) -> Result<Arc<dyn Service>, CreateEndpointError> {
        names::check(options.service, false)?;
        check_announcement(options.service, options.announcement)?;
        self.require_node(options.node, options.service)?;
        let qos = options.qos.resolved_for_service();
        check_depth(options.service, &qos)?;
        Ok(Arc::new(CycloneService::new(&self.0, qos, options)?))
    }

    fn create_client(
        &self,
        options: ClientOptions<'_>,
    ) -> Result<Arc<dyn Client>, CreateEndpointError> {
        names::check(options.service, false)?;
        check_announcement(options.service, options.announcement)?;
        self.require_node(options.node, options.service)?;
        let qos = options.qos.resolved_for_service();
        check_depth(options.service, &qos)?;
        Ok(Arc::new(CycloneClient::new(&self.0, qos, options)?))
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.0.graph.snapshot()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        self.0.graph.on_change(notify)
    }
}
