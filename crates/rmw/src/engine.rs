//! The traits that an engine implements.
//!
//! All functions may be called from any thread at the same time unless they say otherwise. None of
//! them calls user code except the [`Notify`] that was given for this purpose and the `fill` that
//! was passed to the call.

mod publisher;
mod service;
mod session;
mod subscription;

use std::fmt;
use std::sync::Arc;

use crate::announcement::AnnouncementError;
use crate::gid::Gid;
use crate::graph::GraphSnapshot;
use crate::name::NodeName;

pub use publisher::{
    Fill, FillAborted, PublishError, PublishMode, Publisher, PublisherOptions, WaitForAckedError,
};
pub use service::{Client, ClientOptions, Service, ServiceMapping, ServiceOptions};
pub use session::{DiscoveryRange, EnvironmentError, OpenError, SessionOptions};
pub use subscription::{Subscription, SubscriptionOptions, TakeError};

/// Called by an engine, on any thread, when there may be something to take.
///
/// It never blocks, never calls back into the engine, and never drops the last reference to an
/// endpoint or session: an engine may wait for its notifications to end when one is dropped. The
/// engine calls it at least once after each moment at which something became available; it may call
/// it too often, never too seldom. After the endpoint was dropped it is not called any more.
pub type Notify = Arc<dyn Fn() + Send + Sync>;

/// The `tracing` target of what an engine's own code says.
///
/// Such messages may come from any thread, with locks of the engine held: whoever receives them
/// must not call an engine.
pub const LOG_TARGET: &str = "feros::engine";

/// The RIHS01 hash of a type (REP-2011), as endpoints announce it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeHash(pub [u8; 32]);

/// `RIHS01_` and 64 hexadecimal digits.
impl fmt::Display for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RIHS01_")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TypeHash {
    /// Reads `RIHS01_` and 64 hexadecimal digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("RIHS01_")?.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |c: u8| char::from(c).to_digit(16);
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
        }
        Some(Self(bytes))
    }
}

/// A way to move messages between participants.
pub trait Engine: Send + Sync + 'static {
    /// Short name by which it is chosen, such as `cyclonedds`.
    fn name(&self) -> &'static str;

    /// Opens a session: one participant, whose nodes share it (`rmw_init`).
    ///
    /// Blocks while sockets are opened; allocates; starts the engine's threads.
    ///
    /// # Errors
    /// See [`OpenError`]; nothing is left running then.
    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError>;
}

/// Number of a node within its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u64);

/// A participant: the nodes and endpoints of one context, and its view of the graph.
///
/// Dropping the last reference closes it: nobody is notified any more, its threads end.
pub trait Session: Send + Sync {
    /// Name of the engine.
    fn engine_name(&self) -> &'static str;

    /// Version of the engine.
    fn engine_version(&self) -> String;

    /// Domain that it takes part in.
    fn domain_id(&self) -> u32;

    /// Identity of the participant.
    fn gid(&self) -> Gid;

    /// The configuration that the engine runs with, in its own language; for people, reports and
    /// comparisons.
    fn configuration(&self) -> String;

    /// Announces a node. Names need not be unique, as in stock ROS 2.
    ///
    /// May allocate; does not wait for others.
    ///
    /// # Errors
    /// When the engine cannot announce it.
    fn create_node(&self, name: &NodeName) -> Result<NodeId, CreateEndpointError>;

    /// Withdraws a node; its endpoints must be gone. An unknown id is ignored.
    fn remove_node(&self, node: NodeId);

    /// Makes a publisher. Best-available and system-default policies are resolved by the call.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; nothing is announced then.
    fn create_publisher(
        &self,
        options: PublisherOptions<'_>,
    ) -> Result<Arc<dyn Publisher>, CreateEndpointError>;

    /// Makes a subscription. Best-available and system-default policies are resolved by the call.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; nothing is announced then.
    fn create_subscription(
        &self,
        options: SubscriptionOptions<'_>,
    ) -> Result<Arc<dyn Subscription>, CreateEndpointError>;

    /// Makes a server of a service.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; nothing is announced then.
    fn create_service(
        &self,
        options: ServiceOptions<'_>,
    ) -> Result<Arc<dyn Service>, CreateEndpointError>;

    /// Makes a client of a service.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; nothing is announced then.
    fn create_client(
        &self,
        options: ClientOptions<'_>,
    ) -> Result<Arc<dyn Client>, CreateEndpointError>;

    /// The graph as it is known now. Cheap while nothing changes: the same snapshot is handed out
    /// again.
    fn graph(&self) -> Arc<GraphSnapshot>;

    /// Calls `notify` after each change of the graph, until the session closes or the guard that is
    /// returned is dropped.
    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard;
}

/// Keeps a graph notification registered; dropping it ends the notification.
pub struct GraphChangeGuard(Option<Box<dyn FnOnce() + Send + Sync>>);

impl GraphChangeGuard {
    /// A guard that runs `cancel` when it is dropped.
    pub fn new(cancel: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(cancel)))
    }
}

impl Drop for GraphChangeGuard {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.take() {
            cancel();
        }
    }
}

impl fmt::Debug for GraphChangeGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GraphChangeGuard")
    }
}

/// Why an endpoint or node could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateEndpointError {
    /// The name cannot go on the wire.
    #[error("{name:?} cannot be a name on the wire: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The type's name cannot go on the wire.
    #[error("{type_name:?} is no type name: expected {expected}")]
    TypeName {
        /// The name.
        type_name: String,
        /// What it should look like.
        expected: &'static str,
    },
    /// The policies contradict each other or the engine's limits.
    #[error("the QoS of {name} is not possible: {reason}")]
    Qos {
        /// Name of the topic or service.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The announcement cannot go on the wire.
    #[error("{name} cannot be created with its announcement: {reason}")]
    Announcement {
        /// Name of the topic.
        name: String,
        /// What is wrong with the text.
        reason: AnnouncementError,
    },
    /// The node is not (or no longer) part of the session.
    #[error("{name} cannot be created: its node was removed from the session")]
    NoNode {
        /// Name of the topic or service.
        name: String,
    },
    /// The engine failed in a way that it does not explain.
    #[error("{name} cannot be created: {operation} failed with {code}")]
    Engine {
        /// Name of the topic, service or node.
        name: String,
        /// What was being done.
        operation: &'static str,
        /// The engine's own word for the failure.
        code: String,
    },
}

/// Why an event could not be taken or liveliness not be asserted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the engine refused on {topic}: {code}")]
pub struct EventError {
    /// Name of the topic.
    pub topic: String,
    /// The engine's own word for the failure.
    pub code: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_hash_text_round_trips() {
        let hash = TypeHash([0xab; 32]);
        assert_eq!(TypeHash::parse(&hash.to_string()), Some(hash));
        assert_eq!(TypeHash::parse("RIHS01_ab"), None);
        assert_eq!(TypeHash::parse(&format!("RIHS02_{}", "ab".repeat(32))), None);
        assert_eq!(TypeHash::parse(&format!("RIHS01_{}", "é".repeat(32))), None);
    }
}
