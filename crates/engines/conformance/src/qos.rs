//! Quality of service between a publisher and a subscription.

use std::time::{Duration, Instant};

use feros_engine::{
    Durability, EndpointKind, History, Liveliness, PublisherEvent, QosDuration, QosProfile,
    Reliability, SubscriptionEvent,
};

use crate::Fixture;
use crate::endpoints::{TestPublisher, TestSubscription, connected, matched, settled, test_nodes};
use crate::harness::{WATCHDOG, numbered, unique};

const ACK_WATCHDOG: Duration = Duration::from_secs(60);

/// The rules of DDS decide which pairs of policies match, and both sides are notified of the
/// incompatible policy. On an engine without compatibility rules, every pair matches.
pub fn request_and_offer_matrix(fixture: &dyn Fixture) {
    let base = QosProfile::default();
    let ms = Duration::from_millis;
    let profiles = [
        base,
        base.best_effort(),
        base.transient_local(),
        base.deadline(ms(500)),
        base.deadline(ms(900)),
        base.liveliness(Liveliness::Automatic, ms(5000)),
        base.liveliness(Liveliness::ManualByTopic, ms(5000)),
        base.liveliness(Liveliness::ManualByTopic, ms(9000)),
        QosProfile::system_default(),
        QosProfile::keep_all(),
    ];
    let (near, far) = test_nodes(fixture);
    for offered in &profiles {
        // One publisher is tested against all requests at the same time, each on its own topic, so
        // that discovery handles them together.
        let pairs: Vec<(TestPublisher, TestSubscription, _)> = profiles
            .iter()
            .map(|requested| {
                let topic = unique("/matrix");
                let pair = (near.publisher(&topic, *offered), far.subscription(&topic, *requested));
                (pair.0, pair.1, requested)
            })
            .collect();
        for (publisher, subscription, requested) in &pairs {
            let is_kept = near.session.kept().compatibility;
            let expected = if is_kept { offered.incompatibilities(requested) } else { Vec::new() };
            if expected.is_empty() {
                matched(publisher, subscription);
                continue;
            }
            let policies: Vec<_> =
                expected.iter().map(|incompatibility| incompatibility.policy).collect();
            let failed = publisher.events.wait_for("the publisher's refusal", || {
                publisher.publisher.take_event().unwrap().map(|event| match event {
                    PublisherEvent::OfferedQosIncompatible { total, last_policy, .. } => {
                        (total, last_policy)
                    }
                    other => panic!("{offered:?} -> {requested:?}: {other:?}"),
                })
            });
            assert!(
                failed.0 >= 1 && policies.contains(&failed.1),
                "{offered:?} -> {requested:?}: {failed:?}"
            );
            let failed = subscription.events.wait_for("the subscription's refusal", || {
                subscription.subscription.take_event().unwrap().map(|event| match event {
                    SubscriptionEvent::RequestedQosIncompatible { total, last_policy, .. } => {
                        (total, last_policy)
                    }
                    other => panic!("{offered:?} -> {requested:?}: {other:?}"),
                })
            });
            assert!(
                failed.0 >= 1 && policies.contains(&failed.1),
                "{offered:?} -> {requested:?}: {failed:?}"
            );
            assert_eq!(publisher.publisher.matched_subscriptions(), 0);
        }
    }
}

/// When the history is full, the oldest messages are dropped and counted.
pub fn keep_last_keeps_the_newest(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/keep_last");
    let publisher = near.publisher(&topic, QosProfile::keep_all());
    let subscription = far.subscription(&topic, QosProfile::keep_last(3));
    matched(&publisher, &subscription);
    publisher.publish(&numbered(0));
    assert_eq!(subscription.next_number(), 0);
    (1..=10).for_each(|number| publisher.send(&numbered(number)));
    publisher.publisher.wait_for_all_acked(ACK_WATCHDOG).unwrap();
    // Acknowledged messages have been received. So when the newest message can be taken, all
    // messages have been stored.
    let newest = subscription.data.wait_for("the newest", || {
        let mut taken = Vec::new();
        while let Some(sample) = subscription.subscription.take().unwrap() {
            taken.push(crate::harness::number_in(&sample.payload));
        }
        (taken.last() == Some(&10)).then_some(taken)
    });
    assert_eq!(newest, [8, 9, 10]);
    let lost = subscription.events.wait_for("the loss", || {
        let mut events = std::iter::from_fn(|| subscription.subscription.take_event().unwrap());
        events.find_map(|event| match event {
            SubscriptionEvent::MessageLost { total, change } => Some((total, change)),
            _ => None,
        })
    });
    assert_eq!(lost, (7, 7));
}

/// With the policy keep-all, no message is dropped.
pub fn keep_all_keeps_all(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/keep_all", QosProfile::keep_all());
    // The publisher may have to wait until messages are taken, because there are more messages than
    // a subscription can hold.
    std::thread::scope(|scope| {
        scope.spawn(|| (0..2000).for_each(|number| publisher.send(&numbered(number))));
        (0..2000).for_each(|number| assert_eq!(subscription.next_number(), number));
    });
}

/// A late subscription receives the whole history of the publisher.
pub fn transient_local_serves_late_subscriptions(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/transient_local");
    let publisher = near.publisher(&topic, QosProfile::keep_last(3).transient_local());
    (0..5).for_each(|number| publisher.send(&numbered(number)));
    settled(&near, &far);
    for _ in 0..2 {
        let late = far.subscription(&topic, QosProfile::keep_last(10).transient_local());
        (2..5).for_each(|number| assert_eq!(late.next_number(), number));
        assert!(late.subscription.take().unwrap().is_none());
    }
}

/// A late subscription to a volatile publisher receives only messages that are published after the
/// match.
pub fn volatile_does_not(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/volatile");
    let publisher = near.publisher(&topic, QosProfile::keep_last(10));
    (0..5).for_each(|number| publisher.send(&numbered(number)));
    settled(&near, &far);
    let late = far.subscription(&topic, QosProfile::keep_last(10));
    matched(&publisher, &late);
    publisher.publish(&numbered(5));
    assert_eq!(late.next_number(), 5);
}

/// Samples that are older than their lifespan are not delivered.
pub fn lifespan_expires(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/lifespan");
    let lifespan = Duration::from_millis(30);
    let qos = QosProfile::keep_last(10).transient_local();
    let publisher = near.publisher(&topic, qos.lifespan(lifespan));
    publisher.publish(&numbered(1));
    let published = Instant::now();
    // The test loops instead of waiting for an event, because it is about the passing of this time.
    while published.elapsed() <= lifespan * 2 {
        std::thread::sleep(lifespan);
    }
    let late = far.subscription(&topic, qos);
    matched(&publisher, &late);
    // On a busy machine, a sample may expire before it arrives, and then no notification comes. So
    // the test publishes again until a sample is taken.
    let watchdog = Instant::now() + WATCHDOG;
    let first = loop {
        publisher.publish(&numbered(2));
        if let Some(sample) = late.subscription.take().unwrap() {
            break sample;
        }
        assert!(Instant::now() < watchdog, "no young sample came");
        std::thread::sleep(lifespan / 10);
    };
    assert_eq!(crate::harness::number_in(&first.payload), 2);
}

/// System-default and best-available policies are replaced by actual policies, and the endpoint
/// reports these.
pub fn policies_are_resolved(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let system = near.publisher(&unique("/system"), QosProfile::system_default()).publisher.qos();
    assert_eq!((system.history, system.depth), (History::KeepLast, 1));
    assert_eq!(
        (system.reliability, system.durability),
        (Reliability::Reliable, Durability::Volatile)
    );

    let topic = unique("/best_available");
    let deadline = Duration::from_millis(700);
    let publisher =
        near.publisher(&topic, QosProfile::default().transient_local().deadline(deadline));
    far.wait_for_graph("the publisher", |graph| {
        (graph.count(EndpointKind::Publisher, &topic) == 1).then_some(())
    });
    let subscription = far.subscription(&topic, QosProfile::best_available());
    let qos = subscription.subscription.qos();
    assert_eq!(
        (qos.reliability, qos.durability),
        (Reliability::Reliable, Durability::TransientLocal)
    );
    assert_eq!(qos.deadline, QosDuration::Finite(deadline));
    matched(&publisher, &subscription);

    let alone =
        far.subscription(&unique("/alone"), QosProfile::best_available()).subscription.qos();
    assert_eq!(
        (alone.reliability, alone.durability),
        (Reliability::BestEffort, Durability::Volatile)
    );
}
