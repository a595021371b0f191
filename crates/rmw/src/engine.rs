//! The traits that an engine implements.
//!
//! All functions may be called from any thread at the same time unless they say otherwise. None of them calls user
//! code except the [`Notify`] that was given for this purpose and the `fill` that was passed to the call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::announcement::{AnnounceError, AnnouncementError, Match};
use crate::event::{PublisherEvent, SubscriptionEvent};
use crate::gid::Gid;
use crate::graph::GraphSnapshot;
use crate::name::NodeName;
use crate::qos::QosProfile;
use crate::sample::{RequestId, Sample};
use crate::stamp::Stamp;

/// Called by an engine, on any thread, when there may be something to take.
///
/// It never blocks, never calls back into the engine, and never drops the last reference to an endpoint or session: an
/// engine may wait for its notifications to end when one is dropped. The engine calls it at least once after each moment at which
/// something became available; it may call it too often, never too seldom. After the endpoint was dropped it is not
/// called any more.
pub type Notify = Arc<dyn Fn() + Send + Sync>;

/// The `tracing` target of what an engine's own code says.
///
/// Such messages may come from any thread, with locks of the engine held: whoever receives them must not call an engine.
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

/// How far a session looks for others: `ROS_AUTOMATIC_DISCOVERY_RANGE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiscoveryRange {
    /// All hosts that multicast reaches.
    #[default]
    Subnet,
    /// This host only.
    Localhost,
    /// Nobody but this session's own endpoints and the static peers.
    Off,
    /// Whatever the engine's own configuration says.
    SystemDefault,
}

/// What a session needs to know when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOptions {
    /// `ROS_DOMAIN_ID`; DDS allows 0 to 232.
    pub domain_id: u32,
    /// Security enclave, `/` by default; announced to others.
    pub enclave: String,
    /// How far the session looks for others.
    pub discovery_range: DiscoveryRange,
    /// Hosts to look for besides: `ROS_STATIC_PEERS`.
    pub static_peers: Vec<String>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            domain_id: 0,
            enclave: "/".into(),
            discovery_range: DiscoveryRange::default(),
            static_peers: Vec::new(),
        }
    }
}

/// Why the environment cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is {value:?}; it takes {expected}")]
pub struct EnvironmentError {
    /// Name of the variable.
    pub variable: &'static str,
    /// What it holds.
    pub value: String,
    /// What it may hold.
    pub expected: &'static str,
}

impl SessionOptions {
    /// Options from `ROS_DOMAIN_ID`, `ROS_AUTOMATIC_DISCOVERY_RANGE`, `ROS_STATIC_PEERS` and the old
    /// `ROS_LOCALHOST_ONLY`, looked up by `variable` (pass `|name| std::env::var(name).ok()`).
    ///
    /// # Errors
    /// The first variable that holds something it may not hold.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, EnvironmentError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut options = Self::default();
        if let Some(value) = set("ROS_DOMAIN_ID") {
            options.domain_id =
                value.trim().parse().ok().filter(|id| *id <= 232).ok_or(EnvironmentError {
                    variable: "ROS_DOMAIN_ID",
                    value,
                    expected: "a number from 0 to 232",
                })?;
        }
        // Stock ROS 2 lets the old variable win over the new one where both are set.
        match set("ROS_LOCALHOST_ONLY").as_deref() {
            Some("1") => options.discovery_range = DiscoveryRange::Localhost,
            _ => {
                if let Some(value) = set("ROS_AUTOMATIC_DISCOVERY_RANGE") {
                    options.discovery_range = match value.as_str() {
                        "SUBNET" => DiscoveryRange::Subnet,
                        "LOCALHOST" => DiscoveryRange::Localhost,
                        "OFF" => DiscoveryRange::Off,
                        "SYSTEM_DEFAULT" => DiscoveryRange::SystemDefault,
                        _ => {
                            return Err(EnvironmentError {
                                variable: "ROS_AUTOMATIC_DISCOVERY_RANGE",
                                value,
                                expected: "SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT",
                            });
                        }
                    };
                }
            }
        }
        if let Some(value) = set("ROS_STATIC_PEERS") {
            options.static_peers =
                value.split(';').map(str::trim).filter(|p| !p.is_empty()).map(str::to_owned).collect();
        }
        Ok(options)
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

/// Why a session could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The domain id is out of range.
    #[error("domain id {domain_id} is not possible with {engine}: use 0 to {largest} (ROS_DOMAIN_ID)")]
    DomainId {
        /// What was asked for.
        domain_id: u32,
        /// The largest that the engine takes.
        largest: u32,
        /// Name of the engine.
        engine: &'static str,
    },
    /// No network interface could be used.
    #[error("no network interface can be used: {detail}. {cure}")]
    NoInterface {
        /// What the engine says.
        detail: String,
        /// What helps.
        cure: String,
    },
    /// All ports of the domain on this host are taken.
    #[error(
        "all {participants} participant slots of domain {domain_id} on this host are in use: stop some processes, or \
         use another ROS_DOMAIN_ID"
    )]
    NoFreePort {
        /// The domain.
        domain_id: u32,
        /// How many participants fit.
        participants: u32,
    },
    /// The configuration was refused.
    #[error("{engine} refuses its configuration: {detail}. Check {source_name}")]
    Configuration {
        /// Name of the engine.
        engine: &'static str,
        /// Where it came from, such as `CYCLONEDDS_URI`.
        source_name: String,
        /// What the engine says.
        detail: String,
    },
    /// The engine failed in a way that it does not explain.
    #[error("{engine} could not open a session in domain {domain_id}: {operation} failed with {code}")]
    Engine {
        /// Name of the engine.
        engine: &'static str,
        /// The domain.
        domain_id: u32,
        /// What was being done.
        operation: &'static str,
        /// The engine's own word for the failure.
        code: String,
    },
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

    /// The configuration that the engine runs with, in its own language; for people, reports and comparisons.
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
    fn create_service(&self, options: ServiceOptions<'_>) -> Result<Arc<dyn Service>, CreateEndpointError>;

    /// Makes a client of a service.
    ///
    /// # Errors
    /// See [`CreateEndpointError`]; nothing is announced then.
    fn create_client(&self, options: ClientOptions<'_>) -> Result<Arc<dyn Client>, CreateEndpointError>;

    /// The graph as it is known now. Cheap while nothing changes: the same snapshot is handed out again.
    fn graph(&self) -> Arc<GraphSnapshot>;

    /// Calls `notify` after each change of the graph, until the session closes or the guard that is returned is dropped.
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

/// Whether publishing waits for the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublishMode {
    /// The caller's thread sends; it waits when a reliable subscription's buffers are full.
    #[default]
    Synchronous,
    /// A thread of the publisher sends from a queue of at most `queue_depth` messages; publishing never waits. When the queue
    /// is full, the oldest message in it is dropped and counted, as the history of a publisher does.
    Asynchronous {
        /// Messages that wait to be sent, at least 1.
        queue_depth: usize,
    },
}

/// What a publisher is made of.
#[derive(Clone)]
pub struct PublisherOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid topic name; with `avoid_ros_namespace_conventions` the name on the wire.
    pub topic: &'a str,
    /// Type as `package/msg/Name`.
    pub type_name: &'a str,
    /// Its hash; announced when given.
    pub type_hash: Option<TypeHash>,
    /// Its policies.
    pub qos: QosProfile,
    /// What it announces of itself beyond DDS, as [`check_announcement`](crate::announcement::check_announcement) allows
    /// it; the empty text announces nothing.
    pub announcement: &'a str,
    /// Whether publishing waits for the link.
    pub mode: PublishMode,
    /// Called when [`Publisher::take_event`] may have something.
    pub on_event: Option<Notify>,
}

/// What a subscription is made of.
#[derive(Clone)]
pub struct SubscriptionOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid topic name; with `avoid_ros_namespace_conventions` the name on the wire.
    pub topic: &'a str,
    /// Type as `package/msg/Name`.
    pub type_name: &'a str,
    /// Its hash; announced when given.
    pub type_hash: Option<TypeHash>,
    /// Its policies.
    pub qos: QosProfile,
    /// What it announces of itself beyond DDS, as [`check_announcement`](crate::announcement::check_announcement) allows
    /// it; the empty text announces nothing.
    pub announcement: &'a str,
    /// Do not receive from publishers of the same session.
    pub ignore_local_publications: bool,
    /// Called when [`Subscription::take`] may have something.
    pub on_data: Notify,
    /// Called when [`Subscription::take_event`] may have something.
    pub on_event: Option<Notify>,
}

/// How requests and replies of a service travel on DDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ServiceMapping {
    /// Request identity in the inline QoS, as `rmw_fastrtps` does.
    #[default]
    RelatedSampleIdentity,
    /// A 16-byte header before the message, as `rmw_cyclonedds` does.
    PayloadHeader,
}

/// What a server of a service is made of.
#[derive(Clone)]
pub struct ServiceOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid service name.
    pub service: &'a str,
    /// Type as `package/srv/Name`.
    pub type_name: &'a str,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// Policies of both directions.
    pub qos: QosProfile,
    /// How the server announces itself; it understands clients of either mapping in any case.
    pub mapping: ServiceMapping,
    /// Whether what sends the responses may wait to come into being until there is a client: for services that every node has and
    /// that few are asked for. Others see the service in any case; a client finds it available a little later.
    pub replies_on_demand: bool,
    /// Called when [`Service::take_request`] may have something.
    pub on_request: Notify,
}

/// What a client of a service is made of.
#[derive(Clone)]
pub struct ClientOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid service name.
    pub service: &'a str,
    /// Type as `package/srv/Name`.
    pub type_name: &'a str,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// Policies of both directions.
    pub qos: QosProfile,
    /// Use this mapping whatever the server announces; `None` follows the server, which is what users want.
    pub force_mapping: Option<ServiceMapping>,
    /// Called when [`Client::take_response`] may have something, or when the service's availability changed.
    pub on_response: Notify,
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

/// The caller's `fill` gave up; the caller knows why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillAborted;

/// Why a message was not published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// `fill` gave up; nothing was published.
    #[error("the message could not be serialized")]
    FillAborted,
    /// The engine has no memory for a sample of this size.
    #[error("no memory for a sample of {size_bytes} bytes on {topic}")]
    OutOfMemory {
        /// Name of the topic or service.
        topic: String,
        /// Size of the sample.
        size_bytes: usize,
    },
    /// A sample must have its 4-byte header, and DDS carries at most 2 GiB.
    #[error("a sample of {size_bytes} bytes cannot be sent on {topic}: possible are 4 to {largest_bytes}")]
    Size {
        /// Name of the topic or service.
        topic: String,
        /// Size of the sample.
        size_bytes: usize,
        /// The largest possible.
        largest_bytes: usize,
    },
    /// The source timestamp cannot go on the wire.
    #[error(
        "nothing was published on {topic} with the source timestamp {stamp} ns: possible are {} to {}",
        Stamp::MIN,
        Stamp::MAX
    )]
    Stamp {
        /// Name of the topic.
        topic: String,
        /// What was asked for.
        stamp: Stamp,
    },
    /// Subscriptions did not make room in time.
    #[error(
        "{topic} was not published: the buffers of a reliable subscription stayed full for {waited:?}; publish less, \
         use keep_last, or publish asynchronously"
    )]
    Timeout {
        /// Name of the topic or service.
        topic: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The client that asked is gone, or did not get ready to receive within the time that stock ROS 2 waits.
    #[error(
        "the client that called {service} cannot be reached: it left, or did not match within {waited:?}"
    )]
    ClientGone {
        /// Name of the service.
        service: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// Servers of both RMW families answer under one name, so no request would be understood by all of them.
    #[error(
        "{service} was not called: it has servers of rmw_fastrtps and of rmw_cyclonedds at once; stop one of them or \
         rename it"
    )]
    MixedServers {
        /// Name of the service.
        service: String,
    },
    /// The engine failed in a way that it does not explain.
    #[error("{topic} was not published: the engine says {code}")]
    Engine {
        /// Name of the topic or service.
        topic: String,
        /// The engine's own word for the failure.
        code: String,
    },
}

/// Why something could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// The engine failed in a way that it does not explain.
    #[error("nothing could be taken from {topic}: the engine says {code}")]
    Engine {
        /// Name of the topic or service.
        topic: String,
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

/// Why waiting for acknowledgements ended without them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitForAckedError {
    /// Time ran out.
    #[error("not all subscriptions of {topic} acknowledged within {waited:?}")]
    Timeout {
        /// Name of the topic.
        topic: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The engine failed in a way that it does not explain.
    #[error("waiting for acknowledgements of {topic} failed: the engine says {code}")]
    Engine {
        /// Name of the topic.
        topic: String,
        /// The engine's own word for the failure.
        code: String,
    },
}

/// Writes the serialized message into memory of the engine that is exactly as large as was asked for. The memory is
/// initialised but not zero: `fill` writes every byte.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), FillAborted>;

/// Sends messages of one topic. Dropping it withdraws it.
pub trait Publisher: Send + Sync {
    /// Its identity on the wire.
    fn gid(&self) -> Gid;

    /// Its policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Publishes one message of `size_bytes`, written once by `fill` into the memory that the engine sends from, with the
    /// current time as its source timestamp.
    ///
    /// Returns the message's sequence number, from 1. Blocks as [`PublishMode`] says; allocates only when no buffer of
    /// the size is free.
    ///
    /// # Errors
    /// See [`PublishError`]; nothing was published then.
    fn publish(&self, size_bytes: usize, fill: Fill<'_>) -> Result<u64, PublishError> {
        self.publish_at(Stamp::now(), size_bytes, fill)
    }

    /// As [`publish`](Self::publish), with this source timestamp, which subscriptions receive to the nanosecond. A lifespan
    /// counts from it. The engine does not care for the order of stamps: messages stay in the order of publishing.
    ///
    /// # Errors
    /// See [`PublishError`]; nothing was published then.
    fn publish_at(&self, stamp: Stamp, size_bytes: usize, fill: Fill<'_>) -> Result<u64, PublishError>;

    /// Subscriptions that match now. Lock-free in spirit: never waits for the network.
    fn matched_subscriptions(&self) -> usize;

    /// The subscriptions that match now, those of the same session included. Allocates; never waits for the network, and
    /// not for a publish that waits.
    ///
    /// What a notification of [`PublisherOptions::on_event`] told of a match is in it from then on, until it ends.
    fn matches(&self) -> Vec<Match>;

    /// Gids of the subscriptions that match now.
    fn matched_gids(&self) -> Vec<Gid> {
        self.matches().into_iter().map(|matched| matched.gid).collect()
    }

    /// Announces another text from now on; the empty text announces nothing. Others see it in their graph, whose change
    /// is notified, and in their [`matches`](Subscription::matches); the matches themselves stay as they are.
    ///
    /// May wait for a publish that waits; never waits for others to see it.
    ///
    /// # Errors
    /// See [`AnnounceError`]; nothing was changed then.
    fn announce(&self, announcement: &str) -> Result<(), AnnounceError>;

    /// Waits until all reliable subscriptions acknowledged all that was published.
    ///
    /// # Errors
    /// [`WaitForAckedError::Timeout`] after `timeout`.
    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError>;

    /// Whether this subscription has all that was published, as far as delivery is reliable; one that does not match misses
    /// nothing. Waits for that at most for `patience`, and never for other subscriptions: one of a killed process acknowledges
    /// nothing until the engine forgets it.
    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool;

    /// Shows that the publisher is alive (manual liveliness).
    ///
    /// # Errors
    /// When the engine refuses.
    fn assert_liveliness(&self) -> Result<(), EventError>;

    /// Takes the next event that was not taken yet.
    ///
    /// # Errors
    /// When the engine refuses.
    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError>;

    /// Messages that were dropped by an asynchronous publisher because its queue was full.
    fn dropped_messages(&self) -> u64;
}

/// Receives messages of one topic. Dropping it withdraws it; afterwards it notifies no more.
pub trait Subscription: Send + Sync {
    /// Its identity on the wire.
    fn gid(&self) -> Gid;

    /// Its policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Takes the oldest message that was not taken yet; its bytes are lent, not copied. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take(&self) -> Result<Option<Sample>, TakeError>;

    /// Publishers that match now.
    fn matched_publishers(&self) -> usize;

    /// The publishers that match now, those of the same session included. Allocates; never waits for the network.
    ///
    /// What a notification of [`SubscriptionOptions::on_event`] told of a match is in it from then on, until it ends.
    fn matches(&self) -> Vec<Match>;

    /// Gids of the publishers that match now.
    fn matched_gids(&self) -> Vec<Gid> {
        self.matches().into_iter().map(|matched| matched.gid).collect()
    }

    /// Announces another text from now on, as [`Publisher::announce`] does.
    ///
    /// # Errors
    /// See [`AnnounceError`]; nothing was changed then.
    fn announce(&self, announcement: &str) -> Result<(), AnnounceError>;

    /// While `expect` is set, gaps in this publisher's numbers are not counted as lost messages, because its messages come
    /// by another way as well. When it is unset, counting begins anew with the next message of the publisher.
    ///
    /// Bounded in memory: publishers that do not match any more are forgotten when there are many.
    fn expect_gaps(&self, publisher: Gid, expect: bool);

    /// Takes the next event that was not taken yet.
    ///
    /// # Errors
    /// When the engine refuses.
    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError>;

    /// Samples that the engine refused as malformed before they became messages.
    fn refused_samples(&self) -> u64;
}

/// Answers requests of one service. Dropping it withdraws it; afterwards it notifies no more.
pub trait Service: Send + Sync {
    /// Identity of the endpoint that receives requests.
    fn gid(&self) -> Gid;

    /// Its policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Takes the oldest request that was not taken yet: the plain request message, whichever mapping it came by. Never
    /// blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError>;

    /// Sends the response to the request with this id, as [`Publisher::publish`] does; in the mapping of the request.
    ///
    /// Waits up to 100 ms for a client that asked but is not matched yet, as stock ROS 2 does.
    ///
    /// # Errors
    /// See [`PublishError`].
    fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError>;

    /// Requests that the engine refused as malformed.
    fn refused_samples(&self) -> u64;
}

/// Calls one service. Dropping it withdraws it; afterwards it notifies no more.
pub trait Client: Send + Sync {
    /// Identity of the endpoint that sends requests.
    fn gid(&self) -> Gid;

    /// Its policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Whether a server matches in both directions, so that a request sent now is answered.
    fn service_is_available(&self) -> bool;

    /// Sends a request, as [`Publisher::publish`] does, in the mapping of the server; returns the number under which its
    /// response will come.
    ///
    /// # Errors
    /// See [`PublishError`].
    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError>;

    /// Takes the oldest response to this client that was not taken yet, with its request's number; responses to other
    /// clients are skipped. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError>;

    /// Responses that the engine refused as malformed.
    fn refused_samples(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(variables: &[(&str, &str)]) -> Result<SessionOptions, EnvironmentError> {
        SessionOptions::from_variables(|name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn environment_is_read_as_stock_ros_2_reads_it() {
        assert_eq!(options(&[]), Ok(SessionOptions::default()));
        assert_eq!(options(&[("ROS_DOMAIN_ID", "42")]).map(|o| o.domain_id), Ok(42));
        assert_eq!(options(&[("ROS_DOMAIN_ID", "")]).map(|o| o.domain_id), Ok(0));
        let range = |variables: &[(&str, &str)]| options(variables).map(|o| o.discovery_range);
        assert_eq!(range(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")]), Ok(DiscoveryRange::Off));
        assert_eq!(range(&[("ROS_LOCALHOST_ONLY", "1")]), Ok(DiscoveryRange::Localhost));
        assert_eq!(range(&[("ROS_LOCALHOST_ONLY", "0")]), Ok(DiscoveryRange::Subnet));
        assert_eq!(
            options(&[("ROS_STATIC_PEERS", "10.0.0.1; robot ;")]).map(|o| o.static_peers),
            Ok(vec!["10.0.0.1".to_owned(), "robot".to_owned()])
        );
    }

    #[test]
    fn wrong_variables_say_what_is_allowed() {
        let error = options(&[("ROS_DOMAIN_ID", "300")]).expect_err("out of range");
        assert_eq!(error.to_string(), "ROS_DOMAIN_ID is \"300\"; it takes a number from 0 to 232");
        assert!(options(&[("ROS_DOMAIN_ID", "two")]).is_err());
        let error = options(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "subnet")]).expect_err("lower case");
        assert!(error.to_string().contains("SUBNET, LOCALHOST"));
    }

    #[test]
    fn type_hash_text_round_trips() {
        let hash = TypeHash([0xab; 32]);
        assert_eq!(TypeHash::parse(&hash.to_string()), Some(hash));
        assert_eq!(TypeHash::parse("RIHS01_ab"), None);
        assert_eq!(TypeHash::parse(&format!("RIHS02_{}", "ab".repeat(32))), None);
        assert_eq!(TypeHash::parse(&format!("RIHS01_{}", "é".repeat(32))), None);
    }
}
