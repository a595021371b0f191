//! Late joiners, incompatible policies, and the events of deadline, liveliness and lifespan.

use std::time::Duration;

use feros::engine::QosPolicyKind;
use feros::msgs::std_msgs::msg::Int32;
use feros::{
    Liveliness, PublisherEvent, PublisherOptions, QosProfile, SubscriptionEvent,
    SubscriptionOptions,
};
use feros_interop::Domain;
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, items, node, stock};

const TYPE: &str = "std_msgs/msg/Int32";

fn numbers(taken: &Value) -> Vec<i64> {
    items(taken).iter().map(|item| item["data"].as_i64().unwrap()).collect()
}

#[test]
fn late_joiners_get_what_transient_local_keeps() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let qos = QosProfile::keep_last(2).transient_local();
    let stock_qos = json!({"depth": 2, "durability": "transient_local"});

    let publisher = node.create_publisher::<Int32>("/ours", qos).unwrap();
    for data in 1..=3 {
        publisher.publish(Int32 { data }).unwrap();
    }
    let ours = json!({"topic": "/ours", "type": TYPE, "qos": stock_qos});
    peer.ask("subscription", ours);
    assert_eq!(numbers(&peer.ask("take", json!({"topic": "/ours", "count": 2}))), [2, 3]);
    publisher.publish(Int32 { data: 4 }).unwrap();
    assert_eq!(numbers(&peer.ask("take", json!({"topic": "/ours"}))), [4]);

    peer.ask("publisher", json!({"topic": "/theirs", "type": TYPE, "qos": stock_qos}));
    let publish =
        |values: &[i32]| -> Value { values.iter().map(|data| json!({"data": data})).collect() };
    peer.ask("publish", json!({"topic": "/theirs", "values": publish(&[1, 2, 3])}));
    let inbox = Inbox::new();
    let put = inbox.putter();
    let subscription =
        node.create_subscription("/theirs", qos, move |number: Int32| put(number.data)).unwrap();
    assert_eq!([inbox.take(), inbox.take()], [2, 3]);
    peer.ask("publish", json!({"topic": "/theirs", "values": publish(&[4])}));
    assert_eq!(inbox.take(), 4);
    // A volatile subscription on the same topic gets no past messages.
    let volatile = Inbox::new();
    let put = volatile.putter();
    let late =
        node.create_subscription("/theirs", 10, move |number: Int32| put(number.data)).unwrap();
    late.wait_for_publishers(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/theirs", "subscriptions": 2}));
    peer.ask("publish", json!({"topic": "/theirs", "values": publish(&[5])}));
    assert_eq!(volatile.take(), 5);
    assert_eq!(inbox.take(), 5);
    drop(subscription);
}

#[test]
fn incompatible_policies_are_reported_on_both_sides() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let weak = [
        (
            "reliability",
            QosProfile::keep_last(1).best_effort(),
            QosPolicyKind::Reliability,
            json!({"reliability": "best_effort"}),
        ),
        ("durability", QosProfile::keep_last(1), QosPolicyKind::Durability, json!({})),
        ("deadline", QosProfile::keep_last(1), QosPolicyKind::Deadline, json!({})),
        ("liveliness", QosProfile::keep_last(1), QosPolicyKind::Liveliness, json!({})),
    ];
    let strict = [
        (QosProfile::keep_last(1), json!({})),
        (QosProfile::keep_last(1).transient_local(), json!({"durability": "transient_local"})),
        (QosProfile::keep_last(1).deadline(Duration::from_secs(1)), json!({"deadline": 1})),
        (
            QosProfile::keep_last(1)
                .liveliness(Liveliness::ManualByTopic, Duration::from_secs(100)),
            json!({"liveliness": "manual_by_topic", "liveliness_lease_duration": 100}),
        ),
    ];
    for ((policy, offered, kind, stock_offered), (requested, stock_requested)) in
        weak.into_iter().zip(strict)
    {
        // The Feros publisher offers too little.
        let topic = format!("/ours/{policy}");
        let inbox = Inbox::new();
        let options = PublisherOptions::from(offered).on_event(inbox.putter());
        let publisher = node.create_publisher::<Int32>(&topic, options).unwrap();
        let arguments = json!({"topic": topic, "type": TYPE, "qos": stock_requested, "events": ["incompatible_qos"]});
        peer.ask("subscription", arguments);
        let event = inbox
            .take_where(|event| matches!(event, PublisherEvent::OfferedQosIncompatible { .. }));
        assert_eq!(
            event,
            PublisherEvent::OfferedQosIncompatible { total: 1, change: 1, last_policy: kind }
        );
        let theirs = json!({"topic": topic, "what": "subscription", "kind": "incompatible_qos"});
        let theirs = peer.ask("event", theirs);
        assert_eq!(theirs["last_policy_kind"], policy, "{theirs}");
        assert_eq!(publisher.subscription_count(), 0);

        // The Feros subscription requests too much.
        let topic = format!("/theirs/{policy}");
        let inbox = Inbox::new();
        let options = SubscriptionOptions::from(requested).on_event(inbox.putter());
        let subscription = node.create_subscription(&topic, options, |_: Int32| {}).unwrap();
        let arguments = json!({"topic": topic, "type": TYPE, "qos": stock_offered, "events": ["incompatible_qos"]});
        peer.ask("publisher", arguments);
        let event = inbox.take_where(|event| {
            matches!(event, SubscriptionEvent::RequestedQosIncompatible { .. })
        });
        assert_eq!(
            event,
            SubscriptionEvent::RequestedQosIncompatible { total: 1, change: 1, last_policy: kind }
        );
        let theirs = json!({"topic": topic, "what": "publisher", "kind": "incompatible_qos"});
        let theirs = peer.ask("event", theirs);
        assert_eq!(theirs["last_policy_kind"], policy, "{theirs}");
        assert_eq!(subscription.publisher_count(), 0);
    }
}

#[test]
fn missed_deadlines_are_reported_on_both_sides() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let qos = QosProfile::keep_last(1).deadline(Duration::from_millis(200));
    let stock_qos = json!({"deadline": 0.2});
    let with_event = |topic: &str| json!({"topic": topic, "type": TYPE, "qos": stock_qos, "events": ["deadline"]});

    let inbox = Inbox::new();
    let options = PublisherOptions::from(qos).on_event(inbox.putter());
    let publisher = node.create_publisher::<Int32>("/ours", options).unwrap();
    peer.ask("subscription", with_event("/ours"));
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/ours", "publishers": 1}));
    publisher.publish(Int32 { data: 1 }).unwrap();
    inbox.take_where(|event| {
        matches!(event, PublisherEvent::OfferedDeadlineMissed { total: 1.., .. })
    });
    let missed =
        peer.ask("event", json!({"topic": "/ours", "what": "subscription", "kind": "deadline"}));
    assert!(missed["total_count"].as_i64().unwrap() >= 1, "{missed}");

    let inbox = Inbox::new();
    let options = SubscriptionOptions::from(qos).on_event(inbox.putter());
    let subscription = node.create_subscription("/theirs", options, |_: Int32| {}).unwrap();
    peer.ask("publisher", with_event("/theirs"));
    subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/theirs", "subscriptions": 1}));
    peer.ask("publish", json!({"topic": "/theirs", "values": [{"data": 1}]}));
    inbox.take_where(|event| {
        matches!(event, SubscriptionEvent::RequestedDeadlineMissed { total: 1.., .. })
    });
    let missed =
        peer.ask("event", json!({"topic": "/theirs", "what": "publisher", "kind": "deadline"}));
    assert!(missed["total_count"].as_i64().unwrap() >= 1, "{missed}");
}

#[test]
fn lost_liveliness_is_reported_on_both_sides() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let qos =
        QosProfile::keep_last(1).liveliness(Liveliness::ManualByTopic, Duration::from_millis(300));
    let stock_qos = json!({"liveliness": "manual_by_topic", "liveliness_lease_duration": 0.3});
    let with_event = |topic: &str| json!({"topic": topic, "type": TYPE, "qos": stock_qos, "events": ["liveliness"]});

    let inbox = Inbox::new();
    let options = PublisherOptions::from(qos).on_event(inbox.putter());
    let publisher = node.create_publisher::<Int32>("/ours", options).unwrap();
    peer.ask("subscription", with_event("/ours"));
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/ours", "publishers": 1}));
    publisher.publish(Int32 { data: 1 }).unwrap();
    inbox.take_where(|event| matches!(event, PublisherEvent::LivelinessLost { total: 1.., .. }));
    // The end of liveliness implies that it began before: on a busy machine, both changes come in
    // one event.
    loop {
        let event = peer
            .ask("event", json!({"topic": "/ours", "what": "subscription", "kind": "liveliness"}));
        if (&event["alive_count"], &event["not_alive_count"]) == (&json!(0), &json!(1)) {
            break;
        }
    }

    let inbox = Inbox::new();
    let options = SubscriptionOptions::from(qos).on_event(inbox.putter());
    let subscription = node.create_subscription("/theirs", options, |_: Int32| {}).unwrap();
    peer.ask("publisher", with_event("/theirs"));
    subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/theirs", "subscriptions": 1}));
    peer.ask("publish", json!({"topic": "/theirs", "values": [{"data": 1}]}));
    inbox.take_where(|event| {
        matches!(event, SubscriptionEvent::LivelinessChanged { alive: 0, not_alive: 1, .. })
    });
    let lost =
        peer.ask("event", json!({"topic": "/theirs", "what": "publisher", "kind": "liveliness"}));
    assert!(lost["total_count"].as_i64().unwrap() >= 1, "{lost}");
}

#[test]
fn expired_messages_are_not_delivered() {
    const LIFESPAN: Duration = Duration::from_millis(500);
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let qos = QosProfile::keep_last(10).transient_local();
    let stock_qos = json!({"durability": "transient_local", "lifespan": LIFESPAN.as_secs_f64()});
    let late_qos = json!({"durability": "transient_local"});

    let publisher = node.create_publisher::<Int32>("/ours", qos.lifespan(LIFESPAN)).unwrap();
    peer.ask("publisher", json!({"topic": "/theirs", "type": TYPE, "qos": stock_qos}));
    publisher.publish(Int32 { data: 1 }).unwrap();
    peer.ask("publish", json!({"topic": "/theirs", "values": [{"data": 1}]}));
    // Wait until the lifespan of the messages has passed.
    std::thread::sleep(LIFESPAN + Duration::from_millis(100));

    peer.ask("subscription", json!({"topic": "/ours", "type": TYPE, "qos": late_qos}));
    let inbox = Inbox::new();
    let put = inbox.putter();
    let _late =
        node.create_subscription("/theirs", qos, move |number: Int32| put(number.data)).unwrap();
    // On a slow machine, a new message may also expire on its way, so the test sends further
    // messages.
    let first = loop {
        publisher.publish(Int32 { data: 2 }).unwrap();
        match peer.try_ask("take", json!({"topic": "/ours", "timeout": 1})) {
            Ok(taken) => break numbers(&taken),
            Err(error) => assert!(error.contains("0 of 1"), "{error}"),
        }
    };
    assert_eq!(first, [2]);
    let first = loop {
        peer.ask("publish", json!({"topic": "/theirs", "values": [{"data": 2}]}));
        if let Some(number) = inbox.take_within(Duration::from_secs(1)) {
            break number;
        }
    };
    assert_eq!(first, 2);
}
