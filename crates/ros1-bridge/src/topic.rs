//! One topic in one direction.

use std::sync::Arc;

use feros::{
    GenericPublisher, GenericSubscription, Node, QosProfile, SubscriptionEvent, SubscriptionOptions,
};
use feros_interface::TypeName;
use feros_ros1::{
    ConnectionHeader, Publication, PublicationOptions, Sink, Subscription as Ros1Subscription,
};
use feros_sync::{Mutex, Ordering};

use crate::BridgeError;
use crate::counts::Counters;
use crate::types::{Types, ros1_name};

/// Latched transforms of several publishers: all of them are kept for subscriptions to come.
const STATIC_TRANSFORMS: &str = "/tf_static";
const STATIC_TRANSFORMS_DEPTH: usize = 100;

/// From publishers of ROS 1 to subscriptions of ROS 2.
pub(crate) struct OneToTwo {
    ros1: feros_ros1::Node,
    subscription: Arc<Ros1Subscription>,
    pub(crate) ros1_type: String,
    pub(crate) ros2_type: TypeName,
}

/// What every connection to a publisher of ROS 1 uses.
struct Receiver {
    topic: String,
    ros2: Node,
    ros2_type: TypeName,
    types: Arc<Types>,
    depth: usize,
    counters: Arc<Counters>,
    /// For what is latched, and for what is not.
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
            // Whatever it is there: its definition comes with the connection.
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

impl Receiver {
    fn accept(&self, header: &ConnectionHeader) -> Result<Sink, String> {
        let who = header.get("callerid");
        let refuse = |reason: &dyn std::fmt::Display| {
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
        let publisher = self.publisher(header.get("latching") == "1");
        let publisher = publisher.map_err(|error| refuse(&error))?;
        let (counters, topic, who) = (self.counters.clone(), self.topic.clone(), who.to_owned());
        let mut out = Vec::new();
        Ok(Box::new(move |body| {
            out.clear();
            if let Err(error) = plan.convert(body, &mut out) {
                Counters::add(&counters.malformed);
                counters.warn_once(format!("messages of {who} on {topic} are refused: {error}"));
            } else if let Err(error) = publisher.publish_serialized(&out) {
                Counters::add(&counters.failed);
                counters.warn_once(format!("{topic}: {error}"));
            } else {
                Counters::add(&counters.to_ros2);
            }
        }))
    }

    /// The publisher of ROS 2, which is made with the first connection that needs it.
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

/// How the publishers of ROS 2 on a topic publish, as far as a subscription has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) is_reliable: bool,
    pub(crate) is_transient_local: bool,
}

/// From publishers of ROS 2 to subscribers of ROS 1.
pub(crate) struct TwoToOne {
    ros1: feros_ros1::Node,
    publication: Arc<Publication>,
    counters: Arc<Counters>,
    _subscription: GenericSubscription,
    pub(crate) ros1_type: Option<String>,
    pub(crate) ros2_type: TypeName,
    pub(crate) offered: Offered,
}

impl TwoToOne {
    /// `ros1_type` is what ROS 1 says of the topic, if it says something.
    pub(crate) fn new(
        (ros1, ros2): (&feros_ros1::Node, &Node),
        topic: &str,
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
        let plan = types.plans(&ty, &ros2_type)?.to_ros1;
        let identity = types.identity(&ros2_type)?;
        let publication = ros1.advertise(PublicationOptions {
            topic: topic.to_owned(),
            type_name: ros1_name(&ty.name),
            md5sum: ty.md5sum.clone(),
            definition: ty.full_text(),
            is_latching: offered.is_transient_local,
            queue_len: depth,
        })?;
        let has_number = ty.begins_with_header();
        let (sender, counted, name) = (publication.clone(), counters.clone(), topic.to_owned());
        let mut number = 0_u32;
        let callback = move |message: feros::SerializedMessage, info: feros::MessageInfo| {
            if sender.connections() == 0 && !offered.is_transient_local {
                return;
            }
            let mut framed = Vec::with_capacity(message.len() + 64);
            framed.extend_from_slice(&[0; 4]);
            if let Err(error) = plan.convert(&message, &mut framed) {
                Counters::add(&counted.malformed);
                counted.warn_once(format!("messages of ROS 2 on {name} are refused: {error}"));
                return;
            }
            let len = u32::try_from(framed.len() - 4).unwrap_or(u32::MAX);
            framed[..4].copy_from_slice(&len.to_le_bytes());
            if has_number {
                framed[4..8].copy_from_slice(&number.to_le_bytes());
                number = number.wrapping_add(1);
            }
            sender.publish(u64::from_le_bytes(half(&info.publisher_gid.0)), Arc::new(framed));
            Counters::add(&counted.to_ros1);
        };
        let lost = counters.clone();
        let options = SubscriptionOptions::from(offered.qos(topic, depth))
            .ignore_local_publications()
            .log_lost_messages(false)
            .on_event(move |event| {
                if let SubscriptionEvent::MessageLost { change, .. } = event {
                    lost.lost_in_ros2.fetch_add(change, Ordering::Relaxed);
                }
            });
        let made = ros2.create_generic_subscription(topic, &identity, options, callback);
        let subscription = match made {
            Ok(subscription) => subscription,
            Err(error) => {
                ros1.unadvertise(&publication);
                return Err(error.into());
            }
        };
        Ok(Self {
            ros1: ros1.clone(),
            publication,
            counters: counters.clone(),
            _subscription: subscription,
            ros1_type,
            ros2_type,
            offered,
        })
    }

    /// Messages that gave way in queues so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.publication.counts().dropped
    }
}

impl Drop for TwoToOne {
    fn drop(&mut self) {
        self.counters.dropped_for_ros1.fetch_add(self.dropped(), Ordering::Relaxed);
        self.ros1.unadvertise(&self.publication);
    }
}

impl Offered {
    /// What a subscription asks for, so that it matches all publishers.
    fn qos(self, topic: &str, depth: usize) -> QosProfile {
        let depth =
            if topic == STATIC_TRANSFORMS { depth.max(STATIC_TRANSFORMS_DEPTH) } else { depth };
        let qos = QosProfile::keep_last(depth);
        let qos = if self.is_reliable { qos.reliable() } else { qos.best_effort() };
        if self.is_transient_local { qos.transient_local() } else { qos }
    }
}

/// The half of a publisher's identity that tells apart those of one host and process.
fn half(gid: &[u8; 16]) -> [u8; 8] {
    let mut half = [0; 8];
    for (index, byte) in gid.iter().enumerate() {
        half[index % 8] ^= byte.rotate_left(if index < 8 { 0 } else { 3 });
    }
    half
}
