//! The traits that an engine implements.
//!
//! All functions may be called from any thread at the same time unless they say otherwise. None of
//! them calls user code except the [`Notify`] that was given for this purpose and the `fill` that
//! was passed to the call. A thread of the engine calls [`TakesParameters`].

mod error;
pub mod front;
pub mod known;
mod node_id;
mod notify;
mod parameter;
mod publisher;
mod service;
mod session;
mod subscription;

use std::sync::Arc;

use crate::gid::Gid;
use crate::graph::GraphSnapshot;
use crate::name::NodeName;

pub use crate::service_mapping::ServiceMapping;
pub use crate::type_hash::TypeHash;
pub use error::{CreateEndpointError, EventError};
pub use front::{Front, Kept};
pub use node_id::NodeId;
pub use notify::{GraphChangeGuard, LOG_TARGET, Notify};
pub use parameter::{ParameterData, ParameterServer, TakeOverError, TakesParameters};
pub use publisher::{
    Fill, FillAborted, PublishError, PublishMode, Publisher, PublisherOptions, WaitForAckedError,
    filled,
};
pub use service::{Client, ClientOptions, ServerMatch, Service, ServiceOptions};
pub use session::{DiscoveryRange, EnvironmentError, OpenError, SessionOptions};
pub use subscription::{Subscription, SubscriptionOptions, TakeError};

/// A way to move messages between participants.
pub trait Engine: Send + Sync + 'static {
    /// The short name by which users choose the engine, such as `cyclonedds`.
    fn name(&self) -> &'static str;

    /// Opens a session: one participant, whose nodes share it (`rmw_init`).
    ///
    /// Blocks while sockets are opened; allocates; starts the engine's threads.
    ///
    /// # Errors
    /// See [`OpenError`]; after an error nothing is left running.
    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError>;
}

/// A participant: the nodes and endpoints of one context, and its view of the graph.
///
/// Dropping the last reference closes the session: its notifications and its threads end.
pub trait Session: Send + Sync {
    /// Name of the engine.
    fn engine_name(&self) -> &'static str;

    /// Version of the engine.
    fn engine_version(&self) -> String;

    /// The domain of the participant.
    fn domain_id(&self) -> u32;

    /// Identity of the participant.
    fn gid(&self) -> Gid;

    /// The policies that the engine supports.
    fn kept(&self) -> Kept {
        Kept::ALL
    }

    /// The configuration that the engine runs with, in the engine's own language; for people,
    /// reports and comparisons.
    fn configuration(&self) -> String;

    /// Announces a node. Names need not be unique, as in stock ROS 2.
    ///
    /// May allocate; does not wait for other participants.
    ///
    /// # Errors
    /// Returns an error if the engine cannot announce the node.
    fn create_node(&self, name: &NodeName) -> Result<NodeId, CreateEndpointError>;

    /// The server outside of the nodes that keeps parameters, such as a ROS 1 master; `None` for
    /// most engines, which have no such server.
    fn parameter_server(&self) -> Option<&dyn ParameterServer> {
        None
    }

    /// Withdraws a node, whose endpoints must be dropped before. An unknown id is ignored.
    fn remove_node(&self, node: NodeId);

    /// Makes a publisher. Best-available and system-default policies are resolved by the call.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; after an error nothing is announced.
    fn create_publisher(
        &self,
        options: PublisherOptions<'_>,
    ) -> Result<Arc<dyn Publisher>, CreateEndpointError>;

    /// Makes a subscription. Best-available and system-default policies are resolved by the call.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; after an error nothing is announced.
    fn create_subscription(
        &self,
        options: SubscriptionOptions<'_>,
    ) -> Result<Arc<dyn Subscription>, CreateEndpointError>;

    /// Makes a server of a service.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; after an error nothing is announced.
    fn create_service(
        &self,
        options: ServiceOptions<'_>,
    ) -> Result<Arc<dyn Service>, CreateEndpointError>;

    /// Makes a client of a service.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; after an error nothing is announced.
    fn create_client(
        &self,
        options: ClientOptions<'_>,
    ) -> Result<Arc<dyn Client>, CreateEndpointError>;

    /// The graph as it is known now. The call is cheap while nothing changes: it returns the same
    /// snapshot again.
    fn graph(&self) -> Arc<GraphSnapshot>;

    /// Calls `notify` after each change of the graph, until the session closes or the returned
    /// guard is dropped.
    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard;
}
