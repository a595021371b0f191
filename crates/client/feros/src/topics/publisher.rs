//! Publishers for generated types, and for types that are known only at run time.

mod loan;
mod outgoing;
mod pool;

use std::sync::Arc;
use std::time::Duration;

use feros_engine::{
    EndpointKind, EventError, Gid, PublishMode, PublisherEvent, QosProfile, WaitForAckedError,
};
use feros_executor::Ringer;
use feros_message::Message;
use feros_shm::{PoolUse, TransportSet};
use feros_sync::Mutex;
use feros_trace::Outbound;
use feros_transport::{MatchTransport, PublisherCounts, SharedMemoryOptions};

pub use loan::{Loan, SerializedLoan};
pub use outgoing::Publishable;

use super::events::{notify_of_events, watch_publisher};
use super::qos_overrides::QosOverrides;
use crate::callbacks::node_members::Member;
use crate::create_error::CreateError;
use crate::messages::identity::TypeIdentity;
use crate::messages::serialize::check_header;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::wait_error::WaitError;
use outgoing::OutgoingMessage;
use pool::SharedPool;

/// The options of a publisher. A depth or a [`QosProfile`] converts into options with defaults for
/// the rest.
#[derive(Default)]
pub struct PublisherOptions {
    /// The publisher's policies.
    pub qos: QosProfile,
    /// Whether the thread that publishes also sends over the network, where it may have to wait.
    pub mode: PublishMode,
    /// The transports that the publisher's messages may take; the context must allow a transport
    /// too.
    pub transports: TransportSet,
    /// The publisher's use of shared memory.
    pub shared_memory: SharedMemoryOptions,
    /// The policies that parameters may override. By default, parameters override no policies.
    pub qos_overrides: Option<QosOverrides>,
    /// The closure that the executor calls for each of the publisher's events.
    pub on_event: Option<Box<dyn FnMut(PublisherEvent) + Send>>,
}

impl PublisherOptions {
    /// Makes a separate thread of the publisher send the messages, from a queue of at most
    /// `queue_depth` messages.
    pub fn asynchronous(self, queue_depth: usize) -> Self {
        Self { mode: PublishMode::Asynchronous { queue_depth }, ..self }
    }

    /// Sets the publisher's use of shared memory.
    pub fn shared_memory(self, shared_memory: SharedMemoryOptions) -> Self {
        Self { shared_memory, ..self }
    }

    /// Limits messages to these transports.
    pub fn transports(self, transports: impl Into<TransportSet>) -> Self {
        Self { transports: transports.into(), ..self }
    }

    /// Sets the policies that parameters of the node may override.
    pub fn qos_overrides(self, qos_overrides: QosOverrides) -> Self {
        Self { qos_overrides: Some(qos_overrides), ..self }
    }

    /// Sets a closure that the executor calls for each of the publisher's events.
    pub fn on_event(self, on_event: impl FnMut(PublisherEvent) + Send + 'static) -> Self {
        Self { on_event: Some(Box::new(on_event)), ..self }
    }
}

impl From<QosProfile> for PublisherOptions {
    fn from(qos: QosProfile) -> Self {
        Self { qos, ..Self::default() }
    }
}

impl From<usize> for PublisherOptions {
    fn from(depth: usize) -> Self {
        QosProfile::keep_last(depth).into()
    }
}

/// Publishes messages of one type on one topic. Clones publish through the same endpoint, which is
/// removed from the graph when the last clone is dropped.
pub struct Publisher<M> {
    untyped: GenericPublisher,
    /// The memory for messages that several subscriptions of this process share.
    shared: Arc<Mutex<SharedPool<M>>>,
}

impl<M> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        Self { untyped: self.untyped.clone(), shared: self.shared.clone() }
    }
}

impl<M: Message> Publisher<M> {
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        options: PublisherOptions,
    ) -> Result<Self, CreateError> {
        let untyped = GenericPublisher::new(node, topic, &TypeIdentity::of::<M>(), options)?;
        node.note_type(M::TYPE_DESCRIPTION);
        Ok(Self { untyped, shared: Arc::default() })
    }

    /// Publishes a message: `publish(message)`, `publish(&message)` or
    /// `publish(Arc::clone(&message))`.
    ///
    /// Subscriptions of this process get the message itself. A message that is passed by value is
    /// moved to a single subscription that takes `M`, and shared in one `Arc` by several
    /// subscriptions that take `Arc<M>`. Neither case copies the message. The message is serialized
    /// at most once, and only if a subscription needs bytes, because it takes views or raw messages
    /// or is outside this process.
    ///
    /// With reliable delivery, `publish` waits up to a second for subscriptions that have the
    /// history `KeepAll` and a full queue.
    ///
    /// # Errors
    /// When the message cannot be serialized, the queue of a subscription stays full, or the engine
    /// cannot send the message; see [`PublishError`].
    pub fn publish(&self, message: impl Publishable<M>) -> Result<(), PublishError> {
        let mut trace = Outbound::publish();
        let mut outgoing = OutgoingMessage::new(message.into_form(), &self.shared);
        let failed = |source| PublishError::Encode { topic: self.untyped.0.topic.clone(), source };
        outgoing.check_bounds().map_err(failed)?;
        let published = self.untyped.0.end.publish(&mut outgoing, &mut trace);
        match outgoing.failure {
            Some(source) => Err(failed(source)),
            None => Ok(published?),
        }
    }

    /// Lends memory for a message whose strings and sequences have the sizes in `shape`. Build the
    /// message in this memory, then publish it.
    ///
    /// If a subscription in another process of this host takes the message, the memory is shared
    /// memory, from which the subscription reads the message without a copy.
    ///
    /// # Errors
    /// When the sizes violate the type, or when shared memory is exhausted and
    /// [`WhenExhausted`](crate::WhenExhausted) asks for an error.
    ///
    /// ```no_run
    /// # let publisher: feros::Publisher<feros::msgs::sensor_msgs::msg::Image> = unimplemented!();
    /// use feros::msgs::{sensor_msgs::msg::ImageShape, std_msgs::msg::HeaderShape};
    /// let header = HeaderShape { frame_id: "camera" };
    /// let mut loan = publisher.loan(&ImageShape { header, encoding: "rgb8", data: 640 * 480 * 3 })?;
    /// let image = loan.fields()?;
    /// (*image.width, *image.height, *image.step) = (640, 480, 640 * 3);
    /// image.data.fill(128);
    /// loan.publish()?;
    /// # Ok::<(), feros::PublishError>(())
    /// ```
    pub fn loan(&self, shape: &M::Shape<'_>) -> Result<Loan<M>, PublishError> {
        Loan::new(&self.untyped.0.end, shape)
    }
}

impl<M> std::ops::Deref for Publisher<M> {
    type Target = GenericPublisher;

    fn deref(&self) -> &GenericPublisher {
        &self.untyped
    }
}

/// Publishes serialized messages of a type that is known only at run time, like
/// `rclcpp::GenericPublisher`.
#[derive(Clone)]
pub struct GenericPublisher(Arc<Inner>);

struct Inner {
    topic: String,
    end: Arc<feros_transport::Publisher>,
    node: Node,
    /// Keeps the publisher's events on the node's executor.
    _events: Member,
}

impl GenericPublisher {
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        message_type: &TypeIdentity,
        mut options: PublisherOptions,
    ) -> Result<Self, CreateError> {
        let topic = node.resolve_topic_name(topic, options.qos.avoid_ros_namespace_conventions)?;
        if let Some(overrides) = &options.qos_overrides {
            overrides.apply(node, &topic, EndpointKind::Publisher, &mut options.qos)?;
        }
        let ringer = Ringer::new();
        let end = feros_transport::Publisher::new(
            &**node.session(),
            feros_transport::PublisherOptions {
                node: node.id(),
                topic: &topic,
                type_name: &message_type.name,
                type_hash: message_type.hash,
                qos: options.qos,
                mode: options.mode,
                transports: options.transports.intersection(node.transports()),
                shared_memory: &options.shared_memory,
                on_event: notify_of_events(node, &ringer),
            },
        )
        .map_err(|source| CreateError::Engine { node: node.name().clone(), source })?;
        let end = Arc::new(end);
        let events = watch_publisher(node, &topic, &end, &ringer, options.on_event)?;
        let (node, topic) = (node.clone(), topic);
        Ok(Self(Arc::new(Inner { topic, end, node, _events: events })))
    }

    pub(crate) fn node(&self) -> &Node {
        &self.0.node
    }

    /// Publishes a message that is already serialized, with its 4-byte header. The content is not
    /// checked.
    ///
    /// # Errors
    /// When the bytes are not a serialized message, or the engine cannot send them; see
    /// [`PublishError`].
    pub fn publish_serialized(&self, bytes: &[u8]) -> Result<(), PublishError> {
        let mut trace = Outbound::publish();
        check_header(bytes, &self.0.topic)?;
        Ok(self.0.end.publish_bytes(bytes, &mut trace)?)
    }

    /// Lends memory for a serialized message of this size, including its 4-byte header. Build the
    /// message in this memory, then publish it. The memory is shared memory if a subscription in
    /// another process of this host reads the message through shared memory.
    ///
    /// # Errors
    /// When shared memory is exhausted and [`WhenExhausted`](crate::WhenExhausted) asks for an
    /// error.
    pub fn loan_serialized(&self, size_bytes: usize) -> Result<SerializedLoan, PublishError> {
        SerializedLoan::new(&self.0.end, size_bytes)
    }

    /// The transport of each match, with the reason why no shorter transport is used.
    ///
    /// ```no_run
    /// # let publisher: feros::GenericPublisher = unimplemented!();
    /// for found in publisher.transports() {
    ///     println!("{}: {:?} {:?}", found.gid, found.transport, found.reason.map(|reason| reason.to_string()));
    /// }
    /// ```
    pub fn transports(&self) -> Vec<MatchTransport> {
        self.0.end.transports()
    }

    /// How much of the publisher's shared memory is in use. `None` while no subscription in another
    /// process of this host needs shared memory.
    pub fn pool(&self) -> Option<PoolUse> {
        self.0.end.pool()
    }

    /// The numbers of messages sent so far, by transport.
    pub fn counts(&self) -> PublisherCounts {
        self.0.end.counts()
    }

    /// The fully qualified topic, after remapping.
    pub fn topic_name(&self) -> &str {
        &self.0.topic
    }

    /// The publisher's policies, with `SystemDefault` and `BestAvailable` resolved.
    pub fn qos(&self) -> QosProfile {
        self.0.end.qos()
    }

    /// The publisher's identity.
    pub fn gid(&self) -> Gid {
        self.0.end.gid()
    }

    /// The number of subscriptions that match now.
    pub fn subscription_count(&self) -> usize {
        self.0.end.matched_subscriptions()
    }

    /// Waits until at least `count` subscriptions match. Then waits until the best-effort
    /// subscriptions among them have found this publisher, so that the next message reaches them;
    /// this second wait ends after one second at the latest, since some subscriptions do not report
    /// that they have found the publisher.
    ///
    /// # Errors
    /// When `timeout` passes or the context is shut down before the subscriptions match.
    pub fn wait_for_subscriptions(&self, count: usize, timeout: Duration) -> Result<(), WaitError> {
        const PATIENCE: Duration = Duration::from_secs(1);
        let what = || format!("{count} subscriptions of {}", self.0.topic);
        let are_there = || self.subscription_count() >= count;
        self.0.node.context().wait_for_graph(timeout, what, are_there)?;
        if count > 0 {
            self.0.end.wait_until_announced(PATIENCE);
        }
        Ok(())
    }

    /// Waits until all reliable subscriptions have acknowledged all published messages.
    ///
    /// # Errors
    /// When `timeout` passes before that.
    pub fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        self.0.end.wait_for_all_acked(timeout)
    }

    /// Asserts the publisher's liveliness, for the liveliness policy `ManualByTopic`.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn assert_liveliness(&self) -> Result<(), EventError> {
        self.0.end.assert_liveliness()
    }

    /// The number of messages that an asynchronous publisher has dropped because its queue was
    /// full.
    pub fn dropped_messages(&self) -> u64 {
        self.0.end.dropped_messages()
    }
}
