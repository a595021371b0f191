//! A session: one participant, its nodes, and the factory of endpoints.

use std::sync::Arc;

use feros_rmw::dds::names;
use feros_rmw::engine::GraphChangeGuard;
use feros_rmw::engine::checks::{check_announcement, check_depth};
use feros_rmw::{
    Client, ClientOptions, CreateEndpointError, Gid, GraphSnapshot, NodeId, NodeName, Notify,
    OpenError, Publisher, PublisherOptions, QosProfile, Service, ServiceOptions, Session,
    SessionOptions, Subscription, SubscriptionOptions,
};
use feros_rmw_dds::graph::Graph;

use crate::ENGINE_NAME;
use crate::client::FastDdsClient;
use crate::endpoint::{Creation, Reader, Writer};
use crate::listener::Notifications;
use crate::names::{EndpointNames, discovery_names};
use crate::participant::Participant;
use crate::publisher::FastDdsPublisher;
use crate::service::FastDdsService;
use crate::session_state::SessionState;
use crate::subscription::FastDdsSubscription;

/// The session that users of the engine hold.
pub(crate) struct FastDdsSession(Arc<SessionState>);

impl FastDdsSession {
    pub(crate) fn open(options: &SessionOptions) -> Result<Self, OpenError> {
        let graph = Arc::new(Graph::default());
        let participant = Arc::new(Participant::open(options, graph.clone())?);
        let failed = |error: CreateEndpointError| OpenError::Engine {
            engine: ENGINE_NAME,
            domain_id: options.domain_id,
            operation: "starting discovery",
            code: error.to_string(),
        };
        let names = discovery_names();
        let others = Arc::downgrade(&participant);
        let on_sample = move |sample: crate::sample::Taken| {
            if let Some(participant) = others.upgrade()
                && !participant.discovered.is_own(sample.writer)
            {
                participant.discovered.announced(&sample);
            }
        };
        let reader = Creation {
            names: &names,
            qos: &QosProfile::keep_all().transient_local(),
            user_data: "",
            notifications: Notifications {
                on_sample: Some(Arc::new(on_sample)),
                ..Notifications::default()
            },
        };
        let discovery = Reader::new(&participant, &reader).map_err(failed)?;
        let writer = Creation {
            qos: &QosProfile::keep_last(1).transient_local(),
            notifications: Notifications::default(),
            ..reader
        };
        let announcer = Writer::new(&participant, &writer).map_err(failed)?;
        let state =
            SessionState::announce(options.domain_id, participant, graph, discovery, announcer);
        Ok(Self(Arc::new(state)))
    }

    fn require_node(&self, node: NodeId, name: &str) -> Result<(), CreateEndpointError> {
        let known = self.0.has_node(node);
        known.then_some(()).ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })
    }
}

impl Session for FastDdsSession {
    fn engine_name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn engine_version(&self) -> String {
        self.0.participant.shim.fastdds_version()
    }

    fn domain_id(&self) -> u32 {
        self.0.domain_id
    }

    fn gid(&self) -> Gid {
        self.0.participant.gid
    }

    fn configuration(&self) -> String {
        self.0.participant.configuration()
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
        Ok(FastDdsPublisher::new(&self.0, names, qos, options)?)
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
        Ok(Arc::new(FastDdsSubscription::new(&self.0, names, qos, options)?))
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
        Ok(Arc::new(FastDdsService::new(&self.0, qos, options)?))
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
        Ok(Arc::new(FastDdsClient::new(&self.0, qos, options)?))
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.0.graph.snapshot()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        self.0.graph.on_change(notify)
    }
}
