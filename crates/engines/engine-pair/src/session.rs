//! A session on both engines.

use std::sync::Arc;

use feros_engine::{
    Client, ClientOptions, Created, Ending, EndpointKind, Gid, GraphChangeGuard, GraphSnapshot,
    Kept, NodeId, NodeName, Notify, Publisher, PublisherOptions, QosProfile, Service,
    ServiceOptions, Session, Subscription, SubscriptionOptions, Traffic,
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

    fn profiles(&self, kind: EndpointKind, name: &str) -> Vec<QosProfile> {
        self.shared.graph().endpoints_of(kind, name).map(|endpoint| endpoint.qos).collect()
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

    fn received(&self) -> Option<Traffic> {
        self.shared.sides.iter().find_map(|side| side.received())
    }

    fn ending(&self) -> Ending {
        Ending::of_all(self.shared.sides.iter().map(|side| side.ending()))
    }

    fn create_node(&self, name: &NodeName) -> Created<NodeId> {
        self.shared.create_node(name)
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
