//! The traits that an engine implements.
//!
//! Unless their documentation says otherwise, all functions may be called on any thread, and at the
//! same time. The only user code that they call is the `fill` that is passed to the call, and the
//! [`Notify`] callbacks. [`TakesParameters`] is called only by a thread of the engine.

mod ending;
mod error;
pub mod front;
mod gate;
pub mod known;
pub mod meeting_points;
mod node_id;
mod notify;
mod parameter;
mod publisher;
mod service;
mod session;
mod subscription;
mod traffic;

use std::sync::Arc;

use crate::gid::Gid;
use crate::graph::GraphSnapshot;
use crate::name::NodeName;

pub use crate::environment_error::EnvironmentError;
pub use crate::service_mapping::ServiceMapping;
pub use crate::type_hash::TypeHash;
pub use ending::Ending;
pub use error::{CreateEndpointError, Created, EventError};
pub use front::{Front, Kept};
pub use gate::{Gate, GraphListeners};
pub use node_id::NodeId;
pub use notify::{GraphChangeGuard, LOG_TARGET, Notify};
pub use parameter::{ParameterData, ParameterServer, TakeOverError, TakesParameters};
pub use publisher::{
    Fill, FillAborted, PublishError, PublishMode, Publisher, PublisherOptions, WaitForAckedError,
    copied, filled,
};
pub use service::{Client, ClientOptions, ServerMatch, Service, ServiceOptions};
pub use session::{DiscoveryRange, OpenError, SessionOptions};
pub use subscription::{Subscription, SubscriptionOptions, TakeError};
pub use traffic::Traffic;

/// A library that carries messages between participants.
pub trait Engine: Send + Sync + 'static {
    /// The short name, such as `cyclonedds`, by which users choose the engine.
    fn name(&self) -> &'static str;

    /// Opens a session: one participant that all nodes of a context share (`rmw_init`).
    ///
    /// Blocks while sockets are opened, allocates memory, and starts the engine's threads.
    ///
    /// # Errors
    /// See [`OpenError`]. After an error, nothing keeps running.
    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError>;
}

/// A participant: the nodes and endpoints of one context, and the graph as this participant sees
/// it.
///
/// Dropping the last reference closes the session, which ends its notifications and its threads.
pub trait Session: Send + Sync {
    /// The name of the engine.
    fn engine_name(&self) -> &'static str;

    /// The version of the engine.
    fn engine_version(&self) -> String;

    /// The domain of the participant.
    fn domain_id(&self) -> u32;

    /// The gid of the participant.
    fn gid(&self) -> Gid;

    /// The policies that the engine supports.
    fn kept(&self) -> Kept {
        Kept::ALL
    }

    /// The configuration that the engine uses, in the engine's own format, for users, reports and
    /// comparisons.
    fn configuration(&self) -> String;

    /// The datagrams that this process has received in the domain of this session, since it opened
    /// the first session that shares the engine's sockets with this one. `None` if the engine does
    /// not count them.
    fn received(&self) -> Option<Traffic> {
        None
    }

    /// Announces a node. As in stock ROS 2, several nodes may have the same name.
    ///
    /// May allocate memory. Does not wait for other participants.
    ///
    /// # Errors
    /// Returns an error if the engine cannot announce the node.
    fn create_node(&self, name: &NodeName) -> Created<NodeId>;

    /// The server outside the nodes that stores parameters, such as a ROS 1 master. Most engines
    /// have no such server and return `None`.
    fn parameter_server(&self) -> Option<&dyn ParameterServer> {
        None
    }

    /// The ending of the session. An engine that tells other participants nothing at the end of a
    /// single endpoint has one; for others, the default changes nothing.
    fn ending(&self) -> Ending {
        Ending::default()
    }

    /// Withdraws a node. The endpoints of the node must be dropped first. An unknown id is ignored.
    fn remove_node(&self, node: NodeId);

    /// Creates a publisher and resolves its best-available and system-default policies.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]. After an error, nothing is announced.
    fn create_publisher(&self, options: PublisherOptions<'_>) -> Created<Arc<dyn Publisher>>;

    /// Creates a subscription and resolves its best-available and system-default policies.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]. After an error, nothing is announced.
    fn create_subscription(
        &self,
        options: SubscriptionOptions<'_>,
    ) -> Created<Arc<dyn Subscription>>;

    /// Creates a service server.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]. After an error, nothing is announced.
    fn create_service(&self, options: ServiceOptions<'_>) -> Created<Arc<dyn Service>>;

    /// Creates a service client.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]. After an error, nothing is announced.
    fn create_client(&self, options: ClientOptions<'_>) -> Created<Arc<dyn Client>>;

    /// Returns the graph as it is known at present. The call costs little while nothing changes,
    /// because it returns the same snapshot again.
    fn graph(&self) -> Arc<GraphSnapshot>;

    /// Calls `notify` after each change of the graph, until the session is closed or the returned
    /// guard is dropped.
    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard;
}
