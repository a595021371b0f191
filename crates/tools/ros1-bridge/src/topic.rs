//! Bridges one topic in one direction.

use std::sync::Arc;
use std::time::Duration;

use feros::{
    CreateError, GenericPublisher, GenericSubscription, Node, PublishError, QosProfile,
    SubscriptionEvent, SubscriptionOptions, TypeIdentity,
};
use feros_engine::{Durability, EndpointInfo, EndpointKind};
use feros_interface::TypeName;
use feros_ros1::{
    ConnectionHeader, OnConnection, Plan, Publication, PublicationOptions, Sink,
    Subscription as Ros1Subscription, type_text,
};
use feros_sync::{Mutex, Ordering};

use crate::counts::Counters;
use crate::error::BridgeError;
use crate::types::Types;

/// The topic of latched transforms. It usually has several publishers, and the messages of all are
/// kept for late subscriptions.
const STATIC_TRANSFORMS: &str = "/tf_static";
const STATIC_TRANSFORMS_DEPTH: usize = 100;
/// How long the first messages may wait for subscriptions to match.
const MATCHING: Duration = Duration::from_secs(1);

/// Messages up to this length are published without telling the runtime that the call may wait.
const SMALL_BYTES: usize = 16 << 10;

/// A topic that is bridged from ROS 1 publishers to ROS 2 subscriptions.
pub(crate) struct OneToTwo {
    ros1: feros_ros1::Node,
    subscription: Arc<Ros1Subscription>,
    pub(crate) ros1_type: String,
    pub(crate) ros2_type: TypeName,
}

/// The state that all connections to ROS 1 publishers share.
struct Receiver {
    topic: String,
    ros2: Node,
    ros2_type: TypeName,
    types: Arc<Types>,
    depth: usize,
    counters: Arc<Counters>,
    /// The ROS 2 publishers, created when needed: the first for ordinary messages, the second for
    /// latched ones.
    publishers: Mutex<[Option<GenericPublisher>; 2]>,
}

impl OneToTwo {
    pub(crate) fn new(
        (ros1, ros2): (&feros_ros1::Node, &Node),
        topic: &str,
        (ros1_type, ros2_type): (String, TypeName),
        types: &Arc<Types>,
        depth: usize,
        counters: &Arc<Counters>,
    ) -> Result<Self, BridgeError> {
        let receiver = Receiver {
            topic: topic.to_owned(),
            ros2: ros2.clone(),
            ros2_type: ros2_type.clone(),
            types: types.clone(),
            depth,
            counters: counters.clone(),
            publishers: Mutex::default(),
        };
        let subscription = ros1.subscribe(feros_ros1::SubscriptionOptions {
            topic: topic.to_owned(),
            type_name: ros1_type.clone(),
            // Any checksum is accepted, because the publisher sends its definition with the
            // connection.
            md5sum: "*".to_owned(),
            accept: Arc::new(move |header| receiver.accept(header)),
        })?;
        Ok(Self { ros1: ros1.clone(), subscription, ros1_type, ros2_type })
    }
}

impl Drop for OneToTwo {
    fn drop(&mut self) {
        self.ros1.unsubscribe(&self.subscription);
    }
}

/// Publishes in ROS 2. A message that is sent in several parts may have to wait for a slow
/// subscription.
fn publish(publisher: &GenericPublisher, message: &[u8]) -> Result<(), PublishError> {
    if message.len() <= SMALL_BYTES {
        return publisher.publish_serialized(message);
    }
    feros_ros1::waiting(|| publisher.publish_serialized(message))
}

impl Receiver {
    fn accept(&self, header: &ConnectionHeader) -> Result<Sink, String> {
        let who = header.get("callerid");
        let refuse = |reason: &dyn std::fmt::Display| {
            let reason = reason.to_string();
            let reason = feros_ros1::shown(&reason);
            format!("{} of {who} is not bridged to ROS 2: {reason}", self.topic)
        };
        if header.has("feros_bridge") {
            return Err(refuse(&"it comes from another bridge"));
        }
        let ty = self.types.ros1_message_of_peer(
            who,
            header.get("type"),
            header.get("message_definition"),
            header.get("md5sum"),
            &self.ros2_type,
        );
        let plan = ty.and_then(|ty| self.types.plans(&ty, &self.ros2_type));
        let plan = plan.map_err(|error| refuse(&error))?.to_ros2;
        let is_latched = header.get("latching") == "1";
        let publisher = self.publisher(is_latched).map_err(|error| refuse(&error))?;
        self.wait_for_subscriptions(&publisher, is_latched);
        let (counters, topic, who) = (self.counters.clone(), self.topic.clone(), who.to_owned());
        let mut out = Vec::new();
        Ok(Box::new(move |body| {
            out.clear();
            if let Err(error) = plan.convert(body, &mut out) {
                Counters::add(&counters.malformed);
                counters.warn_once(format!("messages of {who} on {topic} are refused: {error}"));
                return;
            }
            // Counted before, since a receiver of the message may end the bridge at once.
            Counters::add(&counters.to_ros2);
            if let Err(error) = publish(&publisher, &out) {
                Counters::take_back(&counters.to_ros2);
                counters.fail(format!("{topic}: {error}"));
            }
        }))
    }

    /// Waits briefly until the known subscriptions match a new publisher, so that the first
    /// messages are not read before they can be delivered.
    fn wait_for_subscriptions(&self, publisher: &GenericPublisher, is_latched: bool) {
        let context = self.ros2.context();
        let own = context.session().gid();
        let is_known = |endpoint: &&EndpointInfo| {
            endpoint.kind == EndpointKind::Subscription
                && endpoint.name == self.topic
                && endpoint.type_name == self.ros2_type.to_string()
                && (is_latched || endpoint.qos.durability == Durability::Volatile)
                && !endpoint.gid.is_of_session_of(&own)
        };
        let known = context.graph().endpoints.iter().filter(is_known).count();
        // The timeout is for subscriptions that have left or do not match.
        let _ = publisher.wait_for_subscriptions(known, MATCHING);
    }

    /// Returns the ROS 2 publisher, which is created for the first connection that needs it.
    fn publisher(&self, is_latched: bool) -> Result<GenericPublisher, BridgeError> {
        let mut publishers = self.publishers.lock();
        let place = &mut publishers[usize::from(is_latched)];
        if let Some(publisher) = place {
            return Ok(publisher.clone());
        }
        let qos = match (is_latched, &*self.topic) {
            (true, STATIC_TRANSFORMS) => {
                QosProfile::keep_last(STATIC_TRANSFORMS_DEPTH).transient_local()
            }
            (true, _) => QosProfile::keep_last(1).transient_local(),
            (false, _) => QosProfile::keep_last(self.depth),
        };
        let identity = self.types.identity(&self.ros2_type)?;
        let publisher = self.ros2.create_generic_publisher(&self.topic, &identity, qos)?;
        *place = Some(publisher.clone());
        Ok(publisher)
    }
}

/// The QoS that all ROS 2 publishers of a topic offer, as far as it matters to a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) is_reliable: bool,
    pub(crate) is_transient_local: bool,
}

/// A topic that is bridged from ROS 2 publishers to ROS 1 subscribers.
pub(crate) struct TwoToOne {
    ros1: feros_ros1::Node,
    publication: Arc<Publication>,
    sender: Arc<Sender>,
    pub(crate) ros1_type: Option<String>,
    pub(crate) ros2_type: TypeName,
    pub(crate) offered: Offered,
}

/// Sends the messages to ROS 1. It subscribes in ROS 2 once the expected subscribers are connected.
struct Sender {
    topic: String,
    ros2: Node,
    identity: TypeIdentity,
    plan: Plan,
    has_number: bool,
    offered: Offered,
    depth: usize,
    counters: Arc<Counters>,
    subscribed: Mutex<Subscribed>,
}

enum Subscribed {
    /// The bridge subscribes once this many subscribers are connected, so that early subscribers
    /// get no message that later ones miss.
    NotYet(usize),
    To(#[expect(dead_code, reason = "held")] GenericSubscription),
    Over,
}

impl TwoToOne {
    /// `ros1_type` is the type that ROS 1 nodes have stated for the topic, if any. `subscribers` is
    /// the number of subscribers that the master knows.
    pub(crate) fn new(
        (ros1, ros2): (&feros_ros1::Node, &Node),
        (topic, subscribers): (&str, usize),
        (ros1_type, ros2_type): (Option<String>, TypeName),
        offered: Offered,
        types: &Arc<Types>,
        depth: usize,
        counters: &Arc<Counters>,
    ) -> Result<Self, BridgeError> {
        let ty = match &ros1_type {
            Some(name) => types.ros1_message_named(name, &ros2_type)?,
            None => types.ros1_message(&ros2_type)?,
        };
        let sender = Arc::new(Sender {
            topic: topic.to_owned(),
            ros2: ros2.clone(),
            identity: types.identity(&ros2_type)?,
            plan: types.plans(&ty, &ros2_type)?.to_ros1,
            has_number: ty.begins_with_header(),
            offered,
            depth,
            counters: counters.clone(),
            subscribed: Mutex::new(Subscribed::NotYet(subscribers)),
        });
        let hears = sender.clone();
        let publication = ros1.advertise(PublicationOptions {
            topic: topic.to_owned(),
            type_name: type_text(&ty.name),
            md5sum: ty.md5sum.clone(),
            definition: ty.full_text(),
            is_latching: offered.is_transient_local,
            queue_len: depth,
            on_connection: Some(OnConnection(Arc::new(move |publication| {
                hears.subscribe(publication, false);
            }))),
            on_disconnection: None,
            is_of_bridge: true,
        })?;
        Ok(Self { ros1: ros1.clone(), publication, sender, ros1_type, ros2_type, offered })
    }

    /// Subscribes in ROS 2 for the subscribers that are connected, because the missing ones may
    /// never connect.
    pub(crate) fn update(&self) {
        if self.publication.connections() > 0 {
            self.sender.subscribe(&self.publication, true);
        }
    }

    /// The number of messages that have been dropped from queues so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.publication.counts().dropped
    }
}

impl Drop for TwoToOne {
    fn drop(&mut self) {
        let ended = std::mem::replace(&mut *self.sender.subscribed.lock(), Subscribed::Over);
        drop(ended);
        let dropped = self.dropped();
        self.sender.counters.dropped_for_ros1.fetch_add(dropped, Ordering::Relaxed);
        self.ros1.unadvertise(&self.publication);
    }
}

impl Sender {
    /// Subscribes in ROS 2 unless that has been done. A failure is logged, and a later call tries
    /// again.
    fn subscribe(self: &Arc<Self>, publication: &Arc<Publication>, is_late: bool) {
        let mut subscribed = self.subscribed.lock();
        let Subscribed::NotYet(awaited) = &*subscribed else { return };
        if !is_late && publication.connections() < *awaited {
            return;
        }
        match self.subscription(publication) {
            Ok(subscription) => *subscribed = Subscribed::To(subscription),
            Err(error) => {
                self.counters.warn_once(format!("{} is not bridged: {error}", self.topic));
            }
        }
    }

    fn subscription(
        self: &Arc<Self>,
        publication: &Arc<Publication>,
    ) -> Result<GenericSubscription, CreateError> {
        let (sender, publication, mut number) = (self.clone(), publication.clone(), 0_u32);
        let callback = move |message: feros::SerializedMessage, info: feros::MessageInfo| {
            if publication.connections() == 0 && !sender.offered.is_transient_local {
                return;
            }
            let Some(mut framed) = sender.framed(&message) else { return };
            if sender.has_number {
                framed[4..8].copy_from_slice(&number.to_le_bytes());
                number = number.wrapping_add(1);
            }
            publication.publish(u64::from_le_bytes(half(&info.publisher_gid.0)), Arc::new(framed));
            Counters::add(&sender.counters.to_ros1);
        };
        let lost = self.counters.clone();
        let options = SubscriptionOptions::from(self.offered.qos(&self.topic, self.depth))
            .ignore_local_publications()
            .log_lost_messages(false)
            .on_event(move |event| {
                if let SubscriptionEvent::MessageLost { change, .. } = event {
                    lost.lost_in_ros2.fetch_add(change, Ordering::Relaxed);
                }
            });
        self.ros2.create_generic_subscription(&self.topic, &self.identity, options, callback)
    }

    /// Converts a message to the ROS 1 format; `None` if it does not fit its type, which is logged.
    fn framed(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut framed = Vec::with_capacity(message.len() + 64);
        framed.extend_from_slice(&[0; 4]);
        if let Err(error) = self.plan.convert(message, &mut framed) {
            Counters::add(&self.counters.malformed);
            let topic = &self.topic;
            self.counters.warn_once(format!("messages of ROS 2 on {topic} are refused: {error}"));
            return None;
        }
        let len = u32::try_from(framed.len() - 4).unwrap_or(u32::MAX);
        framed[..4].copy_from_slice(&len.to_le_bytes());
        Some(framed)
    }
}

impl Offered {
    /// Returns the QoS of a subscription that matches all publishers.
    fn qos(self, topic: &str, depth: usize) -> QosProfile {
        let depth =
            if topic == STATIC_TRANSFORMS { depth.max(STATIC_TRANSFORMS_DEPTH) } else { depth };
        let qos = QosProfile::keep_last(depth);
        let qos = if self.is_reliable { qos.reliable() } else { qos.best_effort() };
        if self.is_transient_local { qos.transient_local() } else { qos }
    }
}

/// Shortens a gid to half its length. The result still differs between publishers of one host and
/// process.
fn half(gid: &[u8; 16]) -> [u8; 8] {
    let mut half = [0; 8];
    for (index, byte) in gid.iter().enumerate() {
        half[index % 8] ^= byte.rotate_left(if index < 8 { 0 } else { 3 });
    }
    half
}
