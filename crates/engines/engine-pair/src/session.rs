//! A session on both engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_engine::{
    Client, ClientOptions, Created, Ending, EndpointKind, Gid, GraphChangeGuard, GraphSnapshot,
    Kept, NodeId, NodeName, Notify, ParameterData, ParameterServer, Publisher, PublisherOptions,
    QosProfile, Service, ServiceOptions, Session, Subscription, SubscriptionOptions,
    TakesParameters,
};

use crate::client::PairClient;
use crate::publisher::PairPublisher;
use crate::service::PairService;
use crate::shared::Shared;
use crate::subscription::PairSubscription;

pub(crate) struct PairSession {
    pub(crate) name: &'static str,
    pub(crate) shared: Arc<Shared>,
}

impl PairSession {
    /// Returns the strings that `what` returns for both engines, joined by `between`.
    fn of_each(&self, what: impl Fn(&dyn Session) -> String, between: &str) -> String {
        let of = |side: &Arc<dyn Session>| what(&**side);
        self.shared.sides.iter().map(of).collect::<Vec<_>>().join(between)
    }

    /// Calls `each` with the parameter server of each engine and the id of the node on that engine.
    /// Does nothing if the node is being dropped.
    fn with_servers(&self, node: NodeId, each: impl Fn(&dyn ParameterServer, NodeId)) {
        let Ok(ids) = self.shared.node(node, "") else { return };
        for (side, id) in self.shared.sides.iter().zip(ids) {
            if let Some(server) = side.parameter_server() {
                each(server, id);
            }
        }
    }

    fn profiles(&self, kind: EndpointKind, name: &str) -> Vec<QosProfile> {
        self.shared.graph().endpoints_of(kind, name).map(|endpoint| endpoint.qos).collect()
    }
}

/// Uses the parameter servers of both engines. If both servers store a value, the first engine's
/// value is used.
impl ParameterServer for PairSession {
    fn initial(&self, node: &NodeName) -> Vec<(String, String)> {
        let [first, second] = self.shared.sides.each_ref().map(|side| {
            side.parameter_server().map_or_else(Vec::new, |server| server.initial(node))
        });
        let mut values: BTreeMap<_, _> = second.into_iter().collect();
        values.extend(first);
        values.into_iter().collect()
    }

    fn keep(&self, node: NodeId, name: &str, value: Option<ParameterData<'_>>) {
        self.with_servers(node, |server, id| server.keep(id, name, value));
    }

    fn follow(&self, node: NodeId, taker: Arc<dyn TakesParameters>) {
        self.with_servers(node, |server, id| server.follow(id, taker.clone()));
    }
}

impl Session for PairSession {
    fn engine_name(&self) -> &'static str {
        self.name
    }

    fn engine_version(&self) -> String {
        let of = |side: &dyn Session| format!("{} {}", side.engine_name(), side.engine_version());
        self.of_each(of, ", ")
    }

    fn domain_id(&self) -> u32 {
        self.shared.sides[0].domain_id()
    }

    fn gid(&self) -> Gid {
        self.shared.sides[0].gid()
    }

    /// Returns the policies that the first engine supports. Endpoints that only the second engine
    /// reaches get the policies that the second engine supports.
    fn kept(&self) -> Kept {
        self.shared.sides[0].kept()
    }

    fn configuration(&self) -> String {
        let of = |side: &dyn Session| format!("{}:\n{}", side.engine_name(), side.configuration());
        self.of_each(of, "\n\n")
    }

    fn ending(&self) -> Ending {
        Ending::of_all(self.shared.sides.iter().map(|side| side.ending()))
    }

    fn create_node(&self, name: &NodeName) -> Created<NodeId> {
        self.shared.create_node(name)
    }

    fn parameter_server(&self) -> Option<&dyn ParameterServer> {
        let has_one = self.shared.sides.iter().any(|side| side.parameter_server().is_some());
        has_one.then_some(self)
    }

    fn remove_node(&self, node: NodeId) {
        self.shared.remove_node(node);
    }

    fn create_publisher(&self, mut options: PublisherOptions<'_>) -> Created<Arc<dyn Publisher>> {
        let subscriptions = self.profiles(EndpointKind::Subscription, options.topic);
        options.qos = options.qos.resolved_for_publisher(subscriptions.iter());
        Ok(Arc::new(PairPublisher::new(&self.shared, &options)?))
    }

    fn create_subscription(
        &self,
        mut options: SubscriptionOptions<'_>,
    ) -> Created<Arc<dyn Subscription>> {
        let publishers = self.profiles(EndpointKind::Publisher, options.topic);
        options.qos = options.qos.resolved_for_subscription(publishers.iter());
        Ok(Arc::new(PairSubscription::new(&self.shared, &options)?))
    }

    fn create_service(&self, options: ServiceOptions<'_>) -> Created<Arc<dyn Service>> {
        Ok(Arc::new(PairService::new(&self.shared, &options)?))
    }

    fn create_client(&self, options: ClientOptions<'_>) -> Created<Arc<dyn Client>> {
        Ok(Arc::new(PairClient::new(&self.shared, &options)?))
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.shared.graph()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        let guards = self.shared.sides.each_ref().map(|side| side.on_graph_change(notify.clone()));
        GraphChangeGuard::new(move || drop(guards))
    }
}
