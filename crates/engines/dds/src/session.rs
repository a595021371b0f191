//! A session, which is one participant with its nodes. It creates all endpoints.

use std::sync::Arc;

use feros_engine::dds::names;
use feros_engine::engine::{Front, GraphChangeGuard};
use feros_engine::{
    Client, ClientOptions, CreateEndpointError, Created, Ending, Gid, GraphSnapshot, Kept, NodeId,
    NodeName, Notify, OpenError, Publisher, PublisherOptions, QosProfile, Service, ServiceOptions,
    Session, SessionOptions, Subscription, SubscriptionOptions, Traffic,
};

use crate::client::DdsClient;
use crate::graph::Graph;
use crate::library::{Creation, Participant};
use crate::listener::Notifications;
use crate::names::EndpointNames;
use crate::nodes::SessionState;
use crate::publisher::DdsPublisher;
use crate::service::DdsService;
use crate::subscription::DdsSubscription;

/// The session of an engine on DDS.
pub struct DdsSession<P: Participant>(Arc<SessionState<P>>);

impl<P: Participant> DdsSession<P> {
    const FRONT: Front = Front {
        kept: Kept::ALL,
        check_name: names::check,
        instead_of_times: "",
        no_local_requests_only: P::NO_LOCAL_REQUESTS_ONLY,
    };

    /// Creates the session for this participant, announces it, and starts discovery.
    ///
    /// # Errors
    /// Returns an error if an endpoint for discovery cannot be created.
    pub fn new(
        options: &SessionOptions,
        participant: Arc<P>,
        graph: Arc<Graph>,
    ) -> Result<Self, OpenError> {
        let engine = participant.engine_name();
        let failed = |error: CreateEndpointError| OpenError::Engine {
            engine,
            domain_id: options.domain_id,
            operation: "starting discovery",
            code: error.to_string(),
        };
        let discovery = participant.discover(&graph).map_err(failed)?;
        let announcer = participant.create_writer(Creation {
            names: EndpointNames::of_discovery(),
            qos: &QosProfile::keep_last(1).transient_local(),
            data: None,
            ignores_local: false,
            notifications: Notifications::default(),
        });
        let announcer = announcer.map_err(failed)?;
        let state = SessionState::announce(options, participant, graph, discovery, announcer);
        Ok(Self(Arc::new(state)))
    }

    fn require_node(&self, node: NodeId, name: &str) -> Result<(), CreateEndpointError> {
        let known = self.0.has_node(node);
        known.then_some(()).ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })
    }
}

impl<P: Participant> Session for DdsSession<P> {
    fn engine_name(&self) -> &'static str {
        self.0.participant.engine_name()
    }

    fn engine_version(&self) -> String {
        self.0.participant.engine_version()
    }

    fn domain_id(&self) -> u32 {
        self.0.domain_id
    }

    fn gid(&self) -> Gid {
        self.0.participant.gid()
    }

    fn configuration(&self) -> String {
        self.0.participant.configuration()
    }

    fn received(&self) -> Option<Traffic> {
        self.0.participant.received()
    }

    fn ending(&self) -> Ending {
        self.0.ending.clone()
    }

    fn create_node(&self, name: &NodeName) -> Created<NodeId> {
        Ok(self.0.add_node(name))
    }

    fn remove_node(&self, node: NodeId) {
        self.0.remove_node(node);
    }

    fn create_publisher(&self, mut options: PublisherOptions<'_>) -> Created<Arc<dyn Publisher>> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        let topic = names::topic(options.topic, as_it_is);
        Self::FRONT.publisher(&mut options, || self.0.graph.profiles(&topic, false))?;
        self.require_node(options.node, options.topic)?;
        Ok(Arc::new(DdsPublisher::new(&self.0, options)?))
    }

    fn create_subscription(
        &self,
        mut options: SubscriptionOptions<'_>,
    ) -> Created<Arc<dyn Subscription>> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        let topic = names::topic(options.topic, as_it_is);
        Self::FRONT.subscription(&mut options, || self.0.graph.profiles(&topic, true))?;
        self.require_node(options.node, options.topic)?;
        Ok(Arc::new(DdsSubscription::new(&self.0, options)?))
    }

    fn create_service(&self, mut options: ServiceOptions<'_>) -> Created<Arc<dyn Service>> {
        Self::FRONT.service(&mut options)?;
        self.require_node(options.node, options.service)?;
        Ok(Arc::new(DdsService::new(&self.0, options)?))
    }

    fn create_client(&self, mut options: ClientOptions<'_>) -> Created<Arc<dyn Client>> {
        Self::FRONT.client(&mut options)?;
        self.require_node(options.node, options.service)?;
        Ok(Arc::new(DdsClient::new(&self.0, options)?))
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.0.graph.snapshot()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        self.0.graph.on_change(notify)
    }
}
