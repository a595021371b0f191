//! Publishers and subscriptions: forms of messages, late joiners, malformed samples, events.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use feros::msgs::sensor_msgs::msg::Image;
use feros::msgs::std_msgs::msg::{Int32, String as Text};
use feros::{
    Executor, MessageInfo, PublishError, QosProfile, SerializedMessage, SubscriptionEvent,
    SubscriptionOptions, Transport, TypeIdentity, View,
};

use crate::support::{
    WATCHDOG, context, listening, publish_patiently, spin_until, spinning_node, two_nodes,
};

#[test]
fn every_form_of_a_message_arrives_with_its_content() {
    let (talker, listener) = two_nodes("talker", "listener");
    let publisher = talker.create_publisher::<Image>("image", 10).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = |form: &'static str| {
        let heard = heard.clone();
        move |bytes: usize| heard.lock().unwrap().push((form, bytes))
    };
    let (owned, shared, viewed, raw, informed) =
        (hear("owned"), hear("shared"), hear("view"), hear("raw"), hear("info"));
    let gid = publisher.gid();
    let _subscriptions = (
        listener
            .create_subscription("image", 10, move |image: Image| owned(image.data.len()))
            .unwrap(),
        listener
            .create_subscription("image", 10, move |image: Arc<Image>| shared(image.data.len()))
            .unwrap(),
        listener
            .create_subscription("image", 10, move |image: View<Image>| {
                viewed(image.get().data.len())
            })
            .unwrap(),
        listener
            .create_subscription::<Image, _>("image", 10, move |bytes: SerializedMessage| {
                raw(bytes.decode::<Image>().unwrap().data.len());
            })
            .unwrap(),
        listener
            .create_subscription("image", 10, move |image: View<Image>, info: MessageInfo| {
                assert_eq!(info.publisher_gid, gid);
                assert_eq!(info.publication_sequence_number, Some(1));
                assert!(info.source_timestamp.is_some());
                assert_eq!(image.to_owned().encoding, "rgb8");
                informed(image.get().data.len());
            })
            .unwrap(),
    );
    publisher.wait_for_subscriptions(5, WATCHDOG).unwrap();
    publisher
        .publish(Image { encoding: "rgb8".into(), data: vec![7; 100_000], ..Image::default() })
        .unwrap();
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    spin_until(&executor, || heard.lock().unwrap().len() == 5);
    let mut heard = heard.lock().unwrap().clone();
    heard.sort_unstable();
    assert_eq!(heard, ["info", "owned", "raw", "shared", "view"].map(|form| (form, 100_000)));
}

#[test]
fn a_late_subscription_receives_what_is_transient_local() {
    let (here, there) = (context(), context());
    let talker = here.create_node("talker").unwrap();
    let latched = QosProfile::keep_last(1).transient_local();
    let publisher = talker.create_publisher::<Text>("latched", latched).unwrap();
    for text in ["old", "new"] {
        publisher.publish(Text { data: text.into() }).unwrap();
    }
    let listener = there.create_node("listener").unwrap();
    let (_subscription, receiver) =
        listening(&listener, "latched", latched, |text: Text| text.data);
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    let mut heard = Vec::new();
    spin_until(&executor, || {
        heard.extend(receiver.try_iter());
        !heard.is_empty()
    });
    assert_eq!(heard, ["new"]);
}

#[test]
fn malformed_samples_are_refused_and_counted_and_the_next_one_arrives() {
    let (talker, listener) = two_nodes("talker", "listener");
    let identity = TypeIdentity::of::<Text>();
    let publisher = talker.create_generic_publisher("text", &identity, 10).unwrap();
    let (subscription, receiver) = listening(&listener, "text", 10, |text: Text| text.data);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    // One string claims to have 4 GiB, and one string is cut short.
    publisher.publish_serialized(&[0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff]).unwrap();
    publisher.publish_serialized(&[0, 1, 0, 0, 9, 0, 0, 0, b'a']).unwrap();
    publisher.publish_serialized(&[0, 1, 0, 0, 3, 0, 0, 0, b'o', b'k', 0]).unwrap();
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    let mut heard = None;
    spin_until(&executor, || {
        heard = receiver.try_recv().ok();
        heard.is_some()
    });
    assert_eq!(heard.as_deref(), Some("ok"));
    assert_eq!(subscription.refused_messages(), 2);
}

#[test]
fn the_publisher_refuses_messages_that_cannot_be_serialized() {
    let context = context();
    let node = context.create_node("talker").unwrap();
    let publisher = node.create_publisher::<Text>("text", 10).unwrap();
    // The subscription takes views, because otherwise the message would not be serialized.
    let _subscription = node.create_subscription("text", 10, |_: View<Text>| {}).unwrap();
    let error = publisher.publish(Text { data: "a\0b".into() }).unwrap_err();
    assert!(
        matches!(error, PublishError::Encode { ref topic, .. } if topic.ends_with("/text")),
        "{error}"
    );
    let error = publisher.publish_serialized(&[9, 9, 0, 0, 0]).unwrap_err();
    assert!(matches!(error, PublishError::NotSerialized { .. }), "{error}");
    assert!(publisher.publish_serialized(&[0, 1]).is_err());
}

#[test]
fn names_that_are_not_allowed_are_refused_with_the_reason() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let error = node.create_publisher::<Text>("2fast", 10).err().unwrap();
    assert!(error.to_string().contains("starts with a digit"), "{error}");
    assert!(context.create_node("a/b").is_err());
}

#[test]
fn remap_rules_of_the_command_line_hold_for_topics_and_nodes() {
    let context = crate::support::context_with(
        "--ros-args -r __ns:=/robot -r chatter:=talk -r __node:=speaker",
    );
    let node = context.create_node("talker").unwrap();
    assert_eq!(node.name().fully_qualified(), "/robot/speaker");
    assert_eq!(node.logger_name(), "robot.speaker");
    let publisher = node.create_publisher::<Text>("chatter", 10).unwrap();
    assert_eq!(publisher.topic_name(), "/robot/talk");
}

#[test]
fn incompatible_qos_is_an_event_on_both_sides() {
    let (talker, listener) = two_nodes("talker", "listener");
    let incompatible = Arc::new(AtomicUsize::new(0));
    let count = incompatible.clone();
    let on_event = move |event| {
        if matches!(event, SubscriptionEvent::RequestedQosIncompatible { .. }) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    };
    let options =
        SubscriptionOptions::from(QosProfile::keep_last(1).transient_local()).on_event(on_event);
    let subscription = listener.create_subscription("text", options, |_: Text| {}).unwrap();
    let _publisher = talker.create_publisher::<Text>("text", 1).unwrap();
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    spin_until(&executor, || incompatible.load(Ordering::Relaxed) > 0);
    assert_eq!(subscription.publisher_count(), 0);
}

#[test]
fn a_dropped_subscription_hears_no_more_and_leaves_the_graph() {
    let (talker, listener) = two_nodes("talker", "listener");
    let publisher = talker.create_publisher::<Int32>("number", 10).unwrap();
    let heard = Arc::new(AtomicUsize::new(0));
    let count = heard.clone();
    let subscription = listener
        .create_subscription("number", 10, move |_: Int32| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    drop(subscription);
    talker
        .context()
        .wait_for_graph(WATCHDOG, || "the end of the match", || publisher.subscription_count() == 0)
        .unwrap();
    publisher.publish(Int32 { data: 1 }).unwrap();
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    executor.spin_all(WATCHDOG).unwrap();
    assert_eq!(heard.load(Ordering::Relaxed), 0);
    assert_eq!(Arc::strong_count(&heard), 1, "the closure is dropped with its subscription");
}

#[test]
fn an_asynchronous_publisher_delivers() {
    let (talker, listener) = two_nodes("talker", "listener");
    let options = feros::PublisherOptions::from(100).asynchronous(100);
    let publisher = talker.create_publisher::<Int32>("number", options).unwrap();
    let (_subscription, receiver) =
        listening(&listener, "number", 100, |number: Int32| number.data);
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    for data in 0..50 {
        publisher.publish(Int32 { data }).unwrap();
    }
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    let mut heard = Vec::new();
    spin_until(&executor, || {
        heard.extend(receiver.try_iter());
        heard.len() == 50
    });
    assert_eq!(heard, (0..50).collect::<Vec<_>>());
    assert_eq!(publisher.dropped_messages(), 0);
}

#[test]
fn a_keep_all_subscription_of_this_process_is_bounded_on_the_network_too() {
    let (talker, listener) = two_nodes("talker", "listener");
    let publisher = talker.create_publisher::<Int32>("kept", QosProfile::keep_all()).unwrap();
    let (heard, numbers) = sync_channel(100_000);
    let options = SubscriptionOptions::from(QosProfile::keep_all()).transports(Transport::Network);
    let _subscription = listener
        .create_subscription("kept", options, move |number: Int32| {
            heard.send(number.data).unwrap();
        })
        .unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    // The engine may keep the same number of messages at the publisher, in addition to those at the
    // subscription.
    let least = i32::try_from(feros::engine::KEEP_ALL_LIMIT).unwrap();
    let refused = (0..3 * least)
        .map(|number| (number, publisher.publish(Int32 { data: number })))
        .find(|(_, published)| published.is_err());
    let (kept, full) = refused.expect("a publisher that finds no room");
    assert!(
        matches!(full, Err(PublishError::Engine(feros::engine::PublishError::Timeout { .. }))),
        "{full:?}"
    );
    assert!(kept >= least, "{kept} messages filled it");
    let _spinning = spinning_node(&listener);
    publish_patiently(&publisher, &Int32 { data: kept });
    for expected in 0..=kept {
        assert_eq!(numbers.recv_timeout(WATCHDOG), Ok(expected));
    }
}
