//! Subscriptions for generated types, with a choice of message forms, and for types that are known
//! only at run time.

mod callback;
mod content_filter;
mod receiver;
mod turns;

pub use callback::SubscriptionCallback;
pub use content_filter::{
    ContentFilterOptions, SerializedFilter, SerializedFilterError, SetContentFilterError,
};

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feros_engine::{EndpointKind, Gid, MessageInfo, Payload, QosProfile, SubscriptionEvent};
use feros_executor::{Entity, Kind, Ringer};
use feros_message::{DecodeError, Message};
use feros_shm::TransportSet;
use feros_trace::Point;
use feros_transport::{DirectDispatch, MatchTransport, Object, Received, SubscriptionCounts};

use self::turns::Turns;
use super::events::{SubscriptionEvents, notify_of_events};
use super::qos_overrides::QosOverrides;
use super::statistics::{Collector, TopicStatistics, TopicStatisticsOptions};
use crate::callbacks::group::{CallbackOptions, callback_setters};
use crate::callbacks::node_members::Member;
use crate::create_error::CreateError;
use crate::messages::content::{Content, Want};
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::TypeIdentity;
use crate::node::Node;
use crate::wait_error::WaitError;
use receiver::Receiver;

/// The options of a subscription. A depth or a [`QosProfile`] converts into options with defaults
/// for the rest.
pub struct SubscriptionOptions {
    /// The subscription's policies.
    pub qos: QosProfile,
    /// Whether to ignore messages from publishers of the same context.
    pub ignore_local_publications: bool,
    /// Whether to log lost messages each time their count doubles. `on_event` gets the event in
    /// either case.
    pub log_lost_messages: bool,
    /// The thread that runs the callback.
    pub dispatch: Dispatch,
    /// The transports that messages may take; the context must allow a transport too. Without the
    /// network transport, the subscription does not receive messages that were published before the
    /// subscription existed.
    pub transports: TransportSet,
    /// The policies that parameters may override. By default, parameters override no policies.
    pub qos_overrides: Option<QosOverrides>,
    /// The filter for messages, for typed subscriptions only; by default all messages pass.
    pub content_filter: Option<ContentFilterOptions>,
    /// The options of the statistics of received messages; by default no statistics are published.
    pub topic_statistics: Option<TopicStatisticsOptions>,
    /// The scheduling options of the callback.
    pub callback: CallbackOptions,
    /// The closure that the executor calls for each of the subscription's events.
    pub on_event: Option<Box<dyn FnMut(SubscriptionEvent) + Send>>,
}

callback_setters!(SubscriptionOptions);

/// The thread that runs a subscription's callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dispatch {
    /// The thread that spins the node's executor.
    #[default]
    Executor,
    /// The thread that publishes runs the callback for messages from publishers of the same
    /// process, before `publish` returns, so that the message stays on one thread. All other
    /// messages, and all events, wait for the executor.
    ///
    /// The callback never runs on two threads at once. If it is already running, on another thread
    /// or because it published the message itself, the message waits, and the thread that runs the
    /// callback delivers the message next. `publish` takes as long as the callbacks that it calls.
    PublishingThread,
}

impl Default for SubscriptionOptions {
    fn default() -> Self {
        let qos = QosProfile::default();
        Self {
            qos,
            ignore_local_publications: false,
            log_lost_messages: true,
            dispatch: Dispatch::default(),
            transports: TransportSet::default(),
            qos_overrides: None,
            content_filter: None,
            topic_statistics: None,
            callback: CallbackOptions::default(),
            on_event: None,
        }
    }
}

impl SubscriptionOptions {
    /// Ignores messages from publishers of the same context.
    pub fn ignore_local_publications(self) -> Self {
        Self { ignore_local_publications: true, ..self }
    }

    /// Sets the thread that runs the callback.
    pub fn dispatch(self, dispatch: Dispatch) -> Self {
        Self { dispatch, ..self }
    }

    /// Limits messages to these transports.
    pub fn transports(self, transports: impl Into<TransportSet>) -> Self {
        Self { transports: transports.into(), ..self }
    }

    /// Sets whether lost messages are logged.
    pub fn log_lost_messages(self, log_lost_messages: bool) -> Self {
        Self { log_lost_messages, ..self }
    }

    /// Sets the policies that parameters of the node may override.
    pub fn qos_overrides(self, qos_overrides: QosOverrides) -> Self {
        Self { qos_overrides: Some(qos_overrides), ..self }
    }

    /// Sets a filter that decides which messages reach the callback.
    ///
    /// The filter is applied on reception: all messages are transferred, and each message is
    /// decoded completely for the check. So the filter saves calls of the callback, but no network
    /// traffic.
    pub fn content_filter(self, content_filter: ContentFilterOptions) -> Self {
        Self { content_filter: Some(content_filter), ..self }
    }

    /// Publishes statistics about the age and the period of messages, like `rclcpp`'s topic
    /// statistics.
    pub fn topic_statistics(self, topic_statistics: TopicStatisticsOptions) -> Self {
        Self { topic_statistics: Some(topic_statistics), ..self }
    }

    /// Sets a closure that the executor calls for each of the subscription's events.
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

/// Receives messages of one type from one topic until it is dropped. The executor that spins its
/// node calls the closure.
#[must_use = "a subscription ends when it is dropped"]
pub struct Subscription<M> {
    untyped: GenericSubscription,
    filter: Option<Arc<SerializedFilter>>,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> Subscription<M> {
    pub(crate) fn new<Form, C: SubscriptionCallback<M, Form>>(
        node: &Node,
        topic: &str,
        mut options: SubscriptionOptions,
        mut callback: C,
    ) -> Result<Self, CreateError> {
        let filter = options.content_filter.take().map(SerializedFilter::of::<M>).transpose();
        let filter = filter.map_err(|reason| no_filter(node, topic, reason))?.map(Arc::new);
        let filtering = filter.clone();
        let deliver = move |message: Received<Content<M>>| match &filtering {
            Some(filter) if !filter.wants(message.object()) => Ok(()),
            _ => callback.call(message),
        };
        let identity = TypeIdentity::of::<M>();
        let own = <C as SubscriptionCallback<M, Form>>::WANT;
        // A filter reads serialized messages.
        let want = if filter.is_some() { Want::Bytes } else { own };
        let untyped =
            GenericSubscription::deliver_to(node, topic, &identity, options, want, deliver)?;
        node.note_type(M::TYPE_DESCRIPTION);
        Ok(Self { untyped, filter, message: PhantomData })
    }

    /// Replaces the content filter, from the next message on.
    ///
    /// # Errors
    /// When the subscription was made without a filter, or the expression does not fit the topic's
    /// messages.
    pub fn set_content_filter(
        &self,
        options: ContentFilterOptions,
    ) -> Result<(), SetContentFilterError> {
        match &self.filter {
            Some(filter) => Ok(filter.set(options)?),
            None => Err(SetContentFilterError::NotFiltered { topic: self.topic.clone() }),
        }
    }

    /// The content filter, if the subscription was made with a content filter.
    pub fn content_filter(&self) -> Option<ContentFilterOptions> {
        self.filter.as_ref().map(|filter| filter.options())
    }

    /// The number of messages that the content filter has rejected.
    pub fn filtered_messages(&self) -> u64 {
        self.filter.as_ref().map_or(0, |filter| filter.filtered())
    }
}

/// Wraps `deliver` so that the statistics, if they are on, count each message first.
fn noting<O: Object>(
    collector: Option<Arc<Collector>>,
    mut deliver: impl FnMut(Received<O>) -> Result<(), DecodeError>,
) -> impl FnMut(Received<O>) -> Result<(), DecodeError> {
    move |message| {
        if let Some(collector) = &collector {
            collector.note(&message.info());
        }
        deliver(message)
    }
}

/// Makes the untyped endpoint of a subscription. Each message rings `ringer`.
fn open_end<O: Object>(
    node: &Node,
    topic: &str,
    message_type: &TypeIdentity,
    options: &SubscriptionOptions,
    wish: O::Wish,
    ringer: &Ringer,
) -> Result<(feros_transport::Subscription, feros_transport::Receiver<O>), CreateError> {
    let options = feros_transport::SubscriptionOptions {
        node: node.id(),
        topic,
        type_name: &message_type.name,
        type_hash: message_type.hash,
        qos: options.qos,
        wish,
        ignore_local_publications: options.ignore_local_publications,
        transports: options.transports.intersection(node.transports()),
        ringer,
        on_event: notify_of_events(node, ringer),
    };
    feros_transport::Subscription::new(&**node.session(), options)
        .map_err(|source| CreateError::Engine { node: node.name().clone(), source })
}

fn no_filter(node: &Node, topic: &str, reason: String) -> CreateError {
    CreateError::ContentFilter { node: node.name().clone(), topic: topic.to_owned(), reason }
}

impl<M> Subscription<M> {
    /// Converts the subscription into a subscription without a type.
    pub(crate) fn into_untyped(self) -> GenericSubscription {
        self.untyped
    }
}

impl<M> std::ops::Deref for Subscription<M> {
    type Target = GenericSubscription;

    fn deref(&self) -> &GenericSubscription {
        &self.untyped
    }
}

/// Receives serialized messages of a type that is known only at run time, like
/// `rclcpp::GenericSubscription`.
#[must_use = "a subscription ends when it is dropped"]
pub struct GenericSubscription {
    topic: String,
    end: Arc<feros_transport::Subscription>,
    node: Node,
    /// Counts messages that do not have the subscription's type.
    malformed: Arc<AtomicU64>,
    _statistics: Option<TopicStatistics>,
    /// Keeps direct dispatch enabled. Dropping this value drops the closure that owns the callback.
    _direct: Option<DirectDispatch>,
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
        if options.content_filter.is_some() {
            let reason = "only the name of its type is known; examine the messages in the callback";
            return Err(no_filter(node, topic, reason.to_owned()));
        }
        let deliver = move |message: Received<Payload>| {
            let info = message.info();
            let serialized =
                callback::traced(|| Ok(SerializedMessage::new(message.into_object())))?;
            callback(serialized, info);
            feros_trace::delivery(Point::CallbackEnd);
            Ok(())
        };
        Self::deliver_to(node, topic, message_type, options, (), deliver)
    }

    fn deliver_to<O: Object>(
        node: &Node,
        topic: &str,
        message_type: &TypeIdentity,
        mut options: SubscriptionOptions,
        wish: O::Wish,
        deliver: impl FnMut(Received<O>) -> Result<(), DecodeError> + Send + 'static,
    ) -> Result<Self, CreateError> {
        let topic = node.resolve_topic_name(topic, options.qos.avoid_ros_namespace_conventions)?;
        if let Some(overrides) = &options.qos_overrides {
            overrides.apply(node, &topic, EndpointKind::Subscription, &mut options.qos)?;
        }
        let collector = options.topic_statistics.as_ref().map(|_| Arc::<Collector>::default());
        let deliver = noting(collector.clone(), deliver);
        let ringer = Ringer::new();
        let (end, messages) = open_end::<O>(node, &topic, message_type, &options, wish, &ringer)?;
        let (end, malformed) = (Arc::new(end), Arc::new(AtomicU64::new(0)));
        let receiver = Receiver {
            node: node.downgrade(),
            topic: topic.clone(),
            type_name: message_type.name.clone(),
            messages,
            events: SubscriptionEvents::new(
                node,
                &topic,
                &end,
                &ringer,
                options.callback.group.clone(),
                options.on_event,
                options.log_lost_messages,
            ),
            deliver,
            malformed: malformed.clone(),
            taken: None,
            logger: node.logger().clone(),
        };
        let (entity, direct) = match options.dispatch {
            Dispatch::Executor => (Entity::new(&ringer, receiver), None),
            Dispatch::PublishingThread => {
                let turns = Arc::new(Turns::new(receiver));
                let (direct, ring_again) = (turns.clone(), ringer.clone());
                let members = node.members().clone();
                let guard = end.dispatch_directly(move || {
                    members.supervise(|| direct.receive_all(&ring_again));
                });
                (Entity::new(&ringer, move || turns.receive_one()), Some(guard))
            }
        };
        let member = node.add_member_with(&topic, entity, Kind::Subscription, &options.callback)?;
        let statistics = collector
            .zip(options.topic_statistics)
            .map(|(of, how)| TopicStatistics::start(node, &of, how, &options.callback))
            .transpose()?;
        let node = node.clone();
        Ok(Self {
            topic,
            end,
            node,
            malformed,
            _statistics: statistics,
            _direct: direct,
            _member: member,
        })
    }

    /// The fully qualified topic, after remapping.
    pub fn topic_name(&self) -> &str {
        &self.topic
    }

    /// The subscription's policies, with `SystemDefault` and `BestAvailable` resolved.
    pub fn qos(&self) -> QosProfile {
        self.end.qos()
    }

    /// The subscription's identity.
    pub fn gid(&self) -> Gid {
        self.end.gid()
    }

    /// The number of publishers that match now.
    pub fn publisher_count(&self) -> usize {
        self.end.matched_publishers()
    }

    /// Waits until at least `count` publishers match.
    ///
    /// # Errors
    /// When `timeout` passes or the context is shut down before the publishers match.
    pub fn wait_for_publishers(&self, count: usize, timeout: Duration) -> Result<(), WaitError> {
        let what = || format!("{count} publishers of {}", self.topic);
        self.node.context().wait_for_graph(timeout, what, || self.publisher_count() >= count)
    }

    /// The number of messages that were refused because they do not have the subscription's type.
    pub fn refused_messages(&self) -> u64 {
        self.malformed.load(Ordering::Relaxed) + self.end.refused_samples()
    }

    /// The numbers of messages received so far, by transport.
    pub fn counts(&self) -> SubscriptionCounts {
        self.end.counts()
    }

    /// The transport of each match, with the reason why no shorter transport is used. The executor
    /// opens shared memory when it first takes messages, so messages take the network transport
    /// until the node is spun.
    pub fn transports(&self) -> Vec<MatchTransport> {
        self.end.transports()
    }
}
