//! Exchanges every type of test_msgs and well-known robot types with extreme values, in both
//! directions, with generated and with dynamic types.

use std::any::Any;
use std::time::Duration;

use feros::message::dynamic::{DynamicMessage, DynamicType};
use feros::message::{from_bytes, to_vec};
use feros::msgs::{
    diagnostic_msgs, geometry_msgs, nav_msgs, rcl_interfaces, sensor_msgs, shape_msgs, std_msgs,
    test_msgs, trajectory_msgs, visualization_msgs,
};
use feros::{GenericPublisher, GenericSubscription, Node, QosProfile};
use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, dynamic_type, identity, node, stock};
use crate::values::{EXTREMES, difference, from_json, to_json};

/// Publishes a serialized message through an endpoint of a generated type.
type Publish = Box<dyn Fn(&[u8])>;

/// Makes a subscription of a generated type, which the caller keeps.
type Subscribe = fn(&Node, &str, QosProfile, &Inbox<Vec<u8>>) -> Box<dyn Any>;

/// Functions that make endpoints of a generated type.
struct Generated {
    name: &'static str,
    publisher: fn(&Node, &str, QosProfile) -> (Publish, GenericPublisher),
    /// Serializes each message again and puts the bytes into the inbox.
    subscription: Subscribe,
}

impl Generated {
    fn of<M: feros::message::Message>() -> Self {
        Self {
            name: M::TYPE_NAME,
            publisher: |node, topic, qos| {
                let publisher = node.create_publisher::<M>(topic, qos).unwrap();
                let untyped = (*publisher).clone();
                (
                    Box::new(move |bytes| {
                        publisher.publish(from_bytes::<M>(bytes).unwrap()).unwrap()
                    }),
                    untyped,
                )
            },
            subscription: |node, topic, qos, inbox| {
                let put = inbox.putter();
                Box::new(
                    node.create_subscription(topic, qos, move |m: M| put(to_vec(&m).unwrap()))
                        .unwrap(),
                )
            },
        }
    }
}

macro_rules! generated {
    ($($message:path),* $(,)?) => { vec![$(Generated::of::<$message>()),*] };
}

/// All messages that can be sent without a key; the four others follow below.
fn messages_of_test_msgs() -> Vec<Generated> {
    use test_msgs::msg;
    generated![
        msg::Arrays,
        msg::BasicTypes,
        msg::BoundedPlainSequences,
        msg::BoundedSequences,
        msg::Builtins,
        msg::Constants,
        msg::Defaults,
        msg::Empty,
        msg::MultiNested,
        msg::Nested,
        msg::Strings,
        msg::UnboundedSequences,
        msg::WStrings,
    ]
}

/// The messages that stock ROS 2 defines in IDL, with key fields.
const KEYED: [&str; 4] = ["ComplexNestedKey", "KeyedLong", "KeyedString", "NonKeyedWithNestedKey"];

fn messages_of_robots() -> Vec<Generated> {
    generated![
        diagnostic_msgs::msg::DiagnosticArray,
        geometry_msgs::msg::PoseWithCovarianceStamped,
        geometry_msgs::msg::TransformStamped,
        geometry_msgs::msg::TwistStamped,
        nav_msgs::msg::OccupancyGrid,
        nav_msgs::msg::Odometry,
        nav_msgs::msg::Path,
        rcl_interfaces::msg::ParameterEvent,
        sensor_msgs::msg::BatteryState,
        sensor_msgs::msg::CameraInfo,
        sensor_msgs::msg::CompressedImage,
        sensor_msgs::msg::Image,
        sensor_msgs::msg::Imu,
        sensor_msgs::msg::JointState,
        sensor_msgs::msg::LaserScan,
        sensor_msgs::msg::MultiEchoLaserScan,
        sensor_msgs::msg::NavSatFix,
        sensor_msgs::msg::PointCloud2,
        shape_msgs::msg::SolidPrimitive,
        std_msgs::msg::Float64MultiArray,
        std_msgs::msg::Header,
        std_msgs::msg::String,
        trajectory_msgs::msg::JointTrajectory,
        visualization_msgs::msg::Marker,
    ]
}

/// The endpoints for one type. In each direction, there is one stock endpoint and there are two
/// Feros endpoints: one with the generated type, and one with the dynamic type.
struct Lane {
    ty: DynamicType,
    /// The topics from Feros to stock and from stock to Feros.
    to_stock: String,
    to_feros: String,
    publish: [(&'static str, Publish); 2],
    publishers: [GenericPublisher; 2],
    received: [(&'static str, Inbox<Vec<u8>>); 2],
    subscriptions: (Box<dyn Any>, GenericSubscription),
}

impl Lane {
    fn new(
        node: &Node,
        peer: &mut Peer,
        generated: &Generated,
        qos: QosProfile,
        stock_qos: &Value,
    ) -> Self {
        let ty = dynamic_type(generated.name);
        let short = generated.name.replace('/', "_");
        let (to_stock, to_feros) = (format!("/to_stock/{short}"), format!("/to_feros/{short}"));
        let make = |topic: &str| json!({"topic": topic, "type": generated.name, "qos": stock_qos});
        peer.ask("subscription", make(&to_stock));
        peer.ask("publisher", make(&to_feros));

        let (typed, typed_publisher) = (generated.publisher)(node, &to_stock, qos);
        let dynamic_publisher =
            node.create_generic_publisher(&to_stock, &identity(&ty), qos).unwrap();
        let generic = dynamic_publisher.clone();
        let dynamic: Publish = Box::new(move |bytes| generic.publish_serialized(bytes).unwrap());
        let (typed_inbox, dynamic_inbox) = (Inbox::new(), Inbox::new());
        let typed_subscription = (generated.subscription)(node, &to_feros, qos, &typed_inbox);
        let put = dynamic_inbox.putter();
        let dynamic_subscription = node
            .create_generic_subscription(&to_feros, &identity(&ty), qos, move |message, _| {
                put(message.to_vec())
            })
            .unwrap();
        Self {
            ty,
            to_stock,
            to_feros,
            publish: [("typed", typed), ("dynamic", dynamic)],
            publishers: [typed_publisher, dynamic_publisher],
            received: [("typed", typed_inbox), ("dynamic", dynamic_inbox)],
            subscriptions: (typed_subscription, dynamic_subscription),
        }
    }

    fn wait_until_matched(&self, peer: &mut Peer) {
        for publisher in &self.publishers {
            publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
        }
        self.subscriptions.1.wait_for_publishers(1, WATCHDOG).unwrap();
        peer.ask("matched", json!({"topic": self.to_stock, "publishers": 2}));
        peer.ask("matched", json!({"topic": self.to_feros, "subscriptions": 2}));
    }

    /// Sends one message in both directions, each time with both Feros endpoints, and returns the
    /// differences.
    fn exchange(&self, peer: &mut Peer, value: &Value, again: bool) -> Vec<String> {
        let message = from_json(&self.ty, value);
        let expected = to_json(&message);
        let mut wrong = Vec::new();
        for (how, publish) in &self.publish {
            let found = self.to_stock(peer, &message, publish, again);
            let differs = difference(&expected, &found);
            wrong.extend(differs.map(|at| format!("{how} Feros -> stock {}{at}", self.ty.name())));
        }
        // Messages that were sent again for one endpoint may have reached the other endpoint twice.
        self.received.iter().for_each(|(_, inbox)| while inbox.take_now().is_some() {});
        let mut waiting: Vec<_> = self.received.iter().collect();
        loop {
            peer.ask("publish", json!({"topic": self.to_feros, "values": [value]}));
            waiting.retain(|(how, inbox)| match inbox.take_within(patience(again)) {
                Some(bytes) => {
                    wrong.extend(
                        self.decoded_differs(&bytes, &expected)
                            .map(|at| format!("stock -> {how} Feros {at}")),
                    );
                    false
                }
                None => true,
            });
            if waiting.is_empty() {
                return wrong;
            }
            assert!(again, "the watchdog bit: {} did not arrive from stock", self.ty.name());
        }
    }

    /// Publishes until the stock node has a message, and returns it.
    fn to_stock(
        &self,
        peer: &mut Peer,
        message: &DynamicMessage,
        publish: &Publish,
        again: bool,
    ) -> Value {
        let bytes = message.to_cdr().unwrap();
        loop {
            publish(&bytes);
            let take = json!({"topic": self.to_stock, "timeout": patience(again).as_secs()});
            match peer.try_ask("take", take) {
                Ok(mut taken) => return taken[0].take(),
                Err(error) => {
                    assert!(
                        again,
                        "{} did not arrive at stock: {error}\n{}",
                        self.ty.name(),
                        peer.said()
                    )
                }
            }
        }
    }

    fn decoded_differs(&self, bytes: &[u8], expected: &Value) -> Option<String> {
        let place = self.ty.name();
        match self.ty.decode(bytes) {
            Ok(message) => {
                difference(expected, &to_json(&message)).map(|at| format!("{place}{at}"))
            }
            Err(error) => Some(format!("{place}: {error}")),
        }
    }
}

/// The time after which a best-effort message that has not arrived is sent again.
fn patience(again: bool) -> Duration {
    if again { Duration::from_secs(3) } else { WATCHDOG }
}

/// Exchanges every extreme of every type. A lost best-effort message is sent again, since the test
/// checks only that each message arrives complete or not at all.
fn exchange_all(types: &[Generated], qos: QosProfile, stock_qos: &Value) {
    let Some(domain) = Domain::reserve() else { return };
    let again = stock_qos["reliability"] == "best_effort";
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let lanes: Vec<_> =
        types.iter().map(|ty| Lane::new(&node, &mut peer, ty, qos, stock_qos)).collect();
    let mut wrong = Vec::new();
    for lane in &lanes {
        lane.wait_until_matched(&mut peer);
        for extreme in EXTREMES {
            let found = lane.exchange(&mut peer, &extreme.of(&lane.ty), again);
            wrong.extend(found.into_iter().map(|text| format!("{extreme:?} {text}")));
        }
    }
    assert!(wrong.is_empty(), "{} messages changed on the way:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn test_msgs_arrive_as_sent_reliably() {
    exchange_all(&messages_of_test_msgs(), QosProfile::keep_last(50), &json!({"depth": 50}));
}

#[test]
fn test_msgs_arrive_as_sent_with_best_effort() {
    let stock_qos = json!({"depth": 50, "reliability": "best_effort"});
    exchange_all(&messages_of_test_msgs(), QosProfile::keep_last(50).best_effort(), &stock_qos);
}

#[test]
fn messages_of_robots_arrive_as_sent_reliably() {
    exchange_all(&messages_of_robots(), QosProfile::keep_last(50), &json!({"depth": 50}));
}

#[test]
fn messages_of_robots_arrive_as_sent_with_best_effort() {
    let stock_qos = json!({"depth": 50, "reliability": "best_effort"});
    exchange_all(&messages_of_robots(), QosProfile::keep_last(50).best_effort(), &stock_qos);
}

#[test]
fn every_message_of_test_msgs_is_exchanged() {
    let tested: Vec<_> =
        messages_of_test_msgs().iter().map(|generated| generated.name.to_owned()).collect();
    let shipped = feros_interface::shipped().messages().map(|message| message.name.to_string());
    let missing: Vec<_> = shipped
        .filter_map(|name| name.strip_prefix("test_msgs/msg/").map(str::to_owned))
        .filter(|name| !tested.contains(&format!("test_msgs/msg/{name}")))
        .collect();
    assert_eq!(missing, KEYED);
}
