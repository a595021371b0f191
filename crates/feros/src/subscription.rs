//! Subscriptions: typed with a choice of message forms, and for types that are known only at run time.

mod callback;

pub use callback::SubscriptionCallback;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feros_executor::{Entity, Progress, Ringer};
use feros_message::{DecodeError, Message};
use feros_rmw::{
    Gid, MessageInfo, QosProfile, Sample, Subscription as EngineSubscription, SubscriptionEvent, TakeError,
};

use crate::endpoint::{Member, WatchEvents};
use crate::error::{CreateError, TypeIdentity, WaitError};
use crate::logging;
use crate::message_forms::SerializedMessage;
use crate::node::Node;

/// How a subscription is made; a number or a [`QosProfile`] will do where the rest is default.
pub struct SubscriptionOptions {
    /// Its policies.
    pub qos: QosProfile,
    /// Do not receive from publishers of the same context.
    pub ignore_local_publications: bool,
    /// Log lost messages, as often as their number doubles; the event comes in any case.
    pub log_lost_messages: bool,
    /// Called by the executor for each of the subscription's events.
    pub on_event: Option<Box<dyn FnMut(SubscriptionEvent) + Send>>,
}

impl Default for SubscriptionOptions {
    fn default() -> Self {
        let qos = QosProfile::default();
        Self { qos, ignore_local_publications: false, log_lost_messages: true, on_event: None }
    }
}

impl SubscriptionOptions {
    /// These options, without messages from publishers of the same context.
    pub fn ignore_local_publications(self) -> Self {
        Self { ignore_local_publications: true, ..self }
    }

    /// These options, with lost messages logged or not.
    pub fn log_lost_messages(self, log_lost_messages: bool) -> Self {
        Self { log_lost_messages, ..self }
    }

    /// These options, with a closure that the executor calls for each of the subscription's events.
    pub fn on_event(self, on_event: impl FnMut(SubscriptionEvent) + Send + 'static) -> Self {
        Self { on_event: Some(Box::new(on_event)), ..self }
    }
}

impl From<QosProfile> for SubscriptionOptions {
    fn from(qos: QosProfile) -> Self {
        Self { qos, ..Self::default() }
    }
}

impl From<usize> for SubscriptionOptions {
    fn from(depth: usize) -> Self {
        QosProfile::keep_last(depth).into()
    }
}

/// Receives messages of one type from one topic for as long as it lives; the executor that spins its node calls its
/// closure.
#[must_use = "a subscription ends when it is dropped"]
pub struct Subscription<M> {
    untyped: GenericSubscription,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> Subscription<M> {
    pub(crate) fn new<Form>(
        node: &Node,
        topic: &str,
        options: SubscriptionOptions,
        mut callback: impl SubscriptionCallback<M, Form>,
    ) -> Result<Self, CreateError> {
        let deliver = move |sample: Sample| callback.call(sample);
        let untyped =
            GenericSubscription::deliver_to(node, topic, &TypeIdentity::of::<M>(), options, deliver)?;
        Ok(Self { untyped, message: PhantomData })
    }
}

impl<M> std::ops::Deref for Subscription<M> {
    type Target = GenericSubscription;

    fn deref(&self) -> &GenericSubscription {
        &self.untyped
    }
}

/// Receives serialized messages of a type that is known only at run time, as `rclcpp::GenericSubscription`.
#[must_use = "a subscription ends when it is dropped"]
pub struct GenericSubscription {
    topic: String,
    engine: Arc<dyn EngineSubscription>,
    node: Node,
    malformed: Arc<AtomicU64>,
    /// Keeps the subscription on the node's executor.
    _member: Member,
}

impl GenericSubscription {
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        message_type: &TypeIdentity,
        options: SubscriptionOptions,
        mut callback: impl FnMut(SerializedMessage, MessageInfo) + Send + 'static,
    ) -> Result<Self, CreateError> {
        Self::deliver_to(node, topic, message_type, options, move |sample| {
            let info = sample.info;
            callback(SerializedMessage::new(sample.payload), info);
            Ok(())
        })
    }

    fn deliver_to(
        node: &Node,
        topic: &str,
        message_type: &TypeIdentity,
        options: SubscriptionOptions,
        deliver: impl FnMut(Sample) -> Result<(), DecodeError> + Send + 'static,
    ) -> Result<Self, CreateError> {
        let topic = node.resolve_topic_name(topic, options.qos.avoid_ros_namespace_conventions)?;
        let ringer = Ringer::new();
        let watch = WatchEvents::new(node, ringer.clone());
        let on_data = {
            let ringer = ringer.clone();
            Arc::new(move || ringer.ring())
        };
        let engine = node
            .session()
            .create_subscription(feros_rmw::SubscriptionOptions {
                node: node.id(),
                topic: &topic,
                type_name: &message_type.name,
                type_hash: message_type.hash,
                qos: options.qos,
                announcement: "",
                ignore_local_publications: options.ignore_local_publications,
                on_data,
                on_event: Some(watch.notify()),
            })
            .map_err(|source| CreateError::Engine { node: node.name().clone(), source })?;
        let malformed = Arc::new(AtomicU64::new(0));
        let mut receiver = Receiver {
            node: node.downgrade(),
            topic: topic.clone(),
            type_name: message_type.name.clone(),
            engine: engine.clone(),
            malformed: malformed.clone(),
            deliver,
            logger: node.logger().clone(),
        };
        let mut events =
            watch.subscription_events(node, &topic, &engine, options.on_event, options.log_lost_messages);
        let entity = Entity::new(&ringer, move || {
            events.handle();
            receiver.receive_one()
        });
        let member = node.add_member(&topic, entity)?;
        Ok(Self { topic, engine, node: node.clone(), malformed, _member: member })
    }

    /// The fully qualified topic, after remapping.
    pub fn topic_name(&self) -> &str {
        &self.topic
    }

    /// Its policies after system-default and best-available were resolved.
    pub fn qos(&self) -> QosProfile {
        self.engine.qos()
    }

    /// Its identity.
    pub fn gid(&self) -> Gid {
        self.engine.gid()
    }

    /// Publishers that match now.
    pub fn publisher_count(&self) -> usize {
        self.engine.matched_publishers()
    }

    /// Waits until at least `count` publishers match.
    ///
    /// # Errors
    /// When time runs out or the context is shut down before.
    pub fn wait_for_publishers(&self, count: usize, timeout: Duration) -> Result<(), WaitError> {
        let what = || format!("{count} publishers of {}", self.topic);
        self.node.context().wait_for_graph(timeout, what, || self.publisher_count() >= count)
    }

    /// Samples that were refused because they are no message of the subscription's type.
    pub fn refused_messages(&self) -> u64 {
        self.malformed.load(Ordering::Relaxed) + self.engine.refused_samples()
    }
}

/// Takes one message per turn and hands it to the closure.
struct Receiver<D> {
    node: crate::node::WeakNode,
    topic: String,
    type_name: String,
    engine: Arc<dyn EngineSubscription>,
    malformed: Arc<AtomicU64>,
    deliver: D,
    logger: Arc<str>,
}

impl<D: FnMut(Sample) -> Result<(), DecodeError>> Receiver<D> {
    fn receive_one(&mut self) -> Progress {
        let sample = match self.engine.take() {
            Ok(Some(sample)) => sample,
            Ok(None) => return Progress::Done,
            Err(error) => {
                self.log_failure(&error);
                return Progress::Done;
            }
        };
        let publisher = sample.info.publisher_gid;
        let size_bytes = sample.payload.len();
        let logger = logging::enter_logger(&self.logger);
        let delivered = (self.deliver)(sample);
        drop(logger);
        if let Err(error) = delivered {
            self.refuse(publisher, size_bytes, &error);
        }
        Progress::More
    }

    fn log_failure(&self, error: &TakeError) {
        tracing::error!(ros_logger = &*self.logger, "{error}");
    }

    /// Says what is wrong the first time and then at each power of two, so that a stream of rubbish fills no disk.
    fn refuse(&self, publisher: Gid, size_bytes: usize, error: &DecodeError) {
        let count = self.malformed.fetch_add(1, Ordering::Relaxed) + 1;
        if !count.is_power_of_two() {
            return;
        }
        let from = self
            .node
            .upgrade()
            .map_or_else(String::new, |node| node.describe_publisher(&self.topic, publisher));
        tracing::error!(
            ros_logger = &*self.logger,
            "{}: refused {count} so far: a sample of {size_bytes} bytes from {from} is no {}: {error}. Check that both \
             sides were built from the same definition",
            self.topic,
            self.type_name,
        );
    }
}
