//! One topic in one direction.

use std::sync::Arc;
use std::time::Duration;

use feros::{
    CreateError, GenericPublisher, GenericSubscription, Node, PublishError, QosProfile,
    SubscriptionEvent, SubscriptionOptions, TypeIdentity,
};
use feros_interface::TypeName;
use feros_rmw::{Durability, EndpointInfo, EndpointKind};
use feros_ros1::{
    ConnectionHeader, OnConnection, Plan, Publication, PublicationOptions, Sink,
    Subscription as Ros1Subscription,
};
use feros_sync::{Mutex, Ordering};

use crate::BridgeError;
use crate::counts::Counters;
use crate::types::{Types, ros1_name};

/// Latched transforms of several publishers: all are kept for later subscriptions.
const STATIC_TRANSFORMS: &str = "/tf_static";
const STATIC_TRANSFORMS_DEPTH: usize = 100;
/// The longest time that the first messages wait for subscriptions to match.
const MATCHING: Duration = Duration::from_secs(1);

/// Messages up to this length are published directly, without allowing for a wait.
const SMALL_BYTES: usize = 16 << 10;

/// From publishers of ROS 1 to subscriptions of ROS 2.
pub(crate) struct OneToTwo {
    ros1: feros_ros1::Node,
    subscription: Arc<Ros1Subscription>,
    pub(crate) ros1_type: String,
    pub(crate) ros2_type: TypeName,
}

/// The state that all connections to publishers of ROS 1 share.
struct Receiver {
    topic: String,
    ros2: Node,
    ros2_type: TypeName,
    types: Arc<Types>,
    depth: usize,
    counters: Arc<Counters>,
    /// The publishers for messages that are not latched, and for latched ones.
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
            // Accepts any checksum: the definition comes with the connection.
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

/// Publishes in ROS 2. A message that is sent in several parts may wait for a slow subscription.
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
            } else if let Err(error) = publish(&publisher, &out) {
                Counters::add(&counters.failed);
                counters.warn_once(format!("{topic}: {error}"));
            } else {
                Counters::add(&counters.to_ros2);
            }
        }))
    }

    /// Waits briefly until the known subscriptions match a publisher that may be new, so that the
    /// first messages are not read before they can be delivered.
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
        // The timeout covers subscriptions that have left or do not match.
        let _ = publisher.wait_for_subscriptions(known, MATCHING);
    }

    /// The publisher of ROS 2, created with the first connection that needs it.
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

/// The QoS of the ROS 2 publishers of a topic, as far as a subscription depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) is_reliable: bool,
    pub(crate) is_transient_local: bool,
}

/// From publishers of ROS 2 to subscribers of ROS 1.
pub(crate) struct TwoToOne {
    ros1: feros_ros1::Node,
    publication: Arc<Publication>,
    sender: Arc<Sender>,
    pub(crate) ros1_type: Option<String>,
    pub(crate) ros2_type: TypeName,
    pub(crate) offered: Offered,
}

/// Subscribes in ROS 2 once the awaited subscribers are connected.
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
    /// Until this many are connected, so that early subscribers get no message that others miss.
    NotYet(usize),
    To(#[expect(dead_code, reason = "held")] GenericSubscription),
    Over,
}

impl TwoToOne {
    /// `ros1_type` is the type that ROS 1 names for the topic, if any; `subscribers` is the number
    /// of subscribers that the master knows.
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
            type_name: ros1_name(&ty.name),
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

    /// Subscribes for the present subscribers: missing ones may never connect.
    pub(crate) fn update(&self) {
        if self.publication.connections() > 0 {
            self.sender.subscribe(&self.publication, true);
        }
    }

    /// The messages that were dropped from queues so far.
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
    /// Subscribes in ROS 2, unless that was done; a failure is logged and retried.
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

    /// The message in the form of ROS 1; `None` if it does not fit its type, which is logged.
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
    /// The QoS of a subscription that matches all publishers.
    fn qos(self, topic: &str, depth: usize) -> QosProfile {
        let depth =
            if topic == STATIC_TRANSFORMS { depth.max(STATIC_TRANSFORMS_DEPTH) } else { depth };
        let qos = QosProfile::keep_last(depth);
        let qos = if self.is_reliable { qos.reliable() } else { qos.best_effort() };
        if self.is_transient_local { qos.transient_local() } else { qos }
    }
}

/// Half a gid, which still distinguishes the publishers of one host and process.
fn half(gid: &[u8; 16]) -> [u8; 8] {
    let mut half = [0; 8];
    for (index, byte) in gid.iter().enumerate() {
        half[index % 8] ^= byte.rotate_left(if index < 8 { 0 } else { 3 });
    }
    half
}
