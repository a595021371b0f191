//! Events that endpoints report.

use std::time::Duration;

use feros_engine::{
    Liveliness, MatchedStatus, PublisherEvent, QosProfile, SubscriptionEvent, WaitForAckedError,
};

use crate::Fixture;
use crate::endpoints::{TestPublisher, TestSubscription, matched, settled, test_nodes};
use crate::harness::{numbered, unique};

fn publisher_event<T>(
    of: &TestPublisher,
    what: &str,
    mut wanted: impl FnMut(PublisherEvent) -> Option<T>,
) -> T {
    of.events.wait_for(what, || {
        std::iter::from_fn(|| of.publisher.take_event().unwrap()).find_map(&mut wanted)
    })
}

fn subscription_event<T>(
    of: &TestSubscription,
    what: &str,
    mut wanted: impl FnMut(SubscriptionEvent) -> Option<T>,
) -> T {
    of.events.wait_for(what, || {
        std::iter::from_fn(|| of.subscription.take_event().unwrap()).find_map(&mut wanted)
    })
}

/// Both sides count the matches that begin and end, and each event can be taken only once.
pub fn matches_are_reported(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/matches");
    let publisher = near.publisher(&topic, QosProfile::default());
    let subscription = far.subscription(&topic, QosProfile::default());
    let first = MatchedStatus { total: 1, total_change: 1, current: 1, current_change: 1 };
    let only_match = |event| match event {
        PublisherEvent::Matched(status) => Some(status),
        other => panic!("{other:?}"),
    };
    assert_eq!(publisher_event(&publisher, "the match", only_match), first);
    let status = subscription_event(&subscription, "the match", |event| match event {
        SubscriptionEvent::Matched(status) => Some(status),
        // The match also reports that the publisher is alive.
        SubscriptionEvent::LivelinessChanged { .. } => None,
        other => panic!("{other:?}"),
    });
    assert_eq!(status, first);
    assert_eq!(publisher.publisher.take_event().unwrap(), None);
    drop(subscription);
    let ended = MatchedStatus { total: 1, total_change: 0, current: 0, current_change: -1 };
    assert_eq!(publisher_event(&publisher, "the end of the match", only_match), ended);
    assert_eq!(publisher.publisher.matched_subscriptions(), 0);
}

/// A publisher that pauses misses its deadline, and both sides get an event. If the engine does not
/// enforce deadlines, there are no events.
pub fn missed_deadlines_are_reported(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/deadline");
    let qos = QosProfile::default().deadline(Duration::from_millis(20));
    let publisher = near.publisher(&topic, qos);
    let subscription = far.subscription(&topic, qos);
    matched(&publisher, &subscription);
    publisher.publish(&numbered(1));
    if !near.session.kept().deadline {
        subscription.next();
        // The test sleeps instead of waiting for an event, because it is about the passing of this
        // time.
        std::thread::sleep(Duration::from_millis(60));
        let told = std::iter::from_fn(|| subscription.subscription.take_event().unwrap())
            .any(|event| matches!(event, SubscriptionEvent::RequestedDeadlineMissed { .. }));
        let told_too = std::iter::from_fn(|| publisher.publisher.take_event().unwrap())
            .any(|event| matches!(event, PublisherEvent::OfferedDeadlineMissed { .. }));
        assert!(!told && !told_too);
        assert_eq!(subscription.subscription.qos().deadline, qos.deadline, "it is still shown");
        return;
    }
    let missed =
        subscription_event(
            &subscription,
            "the subscription's missed deadline",
            |event| match event {
                SubscriptionEvent::RequestedDeadlineMissed { total, change } => {
                    Some((total, change))
                }
                _ => None,
            },
        );
    assert!(missed.0 >= 1 && missed.1 >= 1 && missed.1 <= missed.0);
    let missed =
        publisher_event(&publisher, "the publisher's missed deadline", |event| match event {
            PublisherEvent::OfferedDeadlineMissed { total, change } => Some((total, change)),
            _ => None,
        });
    assert!(missed.0 >= 1 && missed.1 >= 1);
}

/// A publisher is alive while it asserts its liveliness, is not alive after it stops to do so, and
/// is alive again when it publishes. If the engine does not enforce leases, the publisher is alive
/// until it ends.
pub fn liveliness_is_reported(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/liveliness");
    let qos =
        QosProfile::default().liveliness(Liveliness::ManualByTopic, Duration::from_millis(50));
    let publisher = near.publisher(&topic, qos);
    let subscription = far.subscription(&topic, qos);
    let mut now = (0, 0);
    let mut wait_for = |what: &str, wanted: (u32, u32), act: &dyn Fn()| {
        subscription.events.wait_for(what, || {
            act();
            while let Some(event) = subscription.subscription.take_event().unwrap() {
                if let SubscriptionEvent::LivelinessChanged {
                    alive,
                    not_alive,
                    alive_change,
                    not_alive_change,
                } = event
                {
                    // The status that was reported before, plus the changes, gives the current
                    // status.
                    assert_eq!(i64::from(alive), i64::from(now.0) + i64::from(alive_change));
                    assert_eq!(
                        i64::from(not_alive),
                        i64::from(now.1) + i64::from(not_alive_change)
                    );
                    now = (alive, not_alive);
                    if now == wanted {
                        return Some(());
                    }
                }
            }
            (now == wanted).then_some(())
        });
    };
    matched(&publisher, &subscription);
    if !near.session.kept().liveliness {
        wait_for("the publisher", (1, 0), &|| ());
        publisher.publisher.assert_liveliness().unwrap();
        drop(publisher);
        wait_for("the publisher's end", (0, 0), &|| ());
        return;
    }
    wait_for("the lost lease", (0, 1), &|| ());
    publisher_event(&publisher, "the publisher's lost lease", |event| {
        matches!(event, PublisherEvent::LivelinessLost { total, .. } if total >= 1).then_some(())
    });
    // Each attempt asserts liveliness again, because on a busy machine the lease may expire before
    // the test sees that the publisher is alive again.
    wait_for("the return", (1, 0), &|| {
        publisher.publish(&numbered(1));
        publisher.publisher.assert_liveliness().unwrap();
    });
    wait_for("the second loss", (0, 1), &|| ());
    drop(publisher);
    wait_for("the publisher's end", (0, 0), &|| ());
}

/// Endpoints of one topic with different types do not match, and they get an event.
pub fn incompatible_types_are_reported(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/types");
    let publisher = near.publisher(&topic, QosProfile::default());
    let mut options = far.subscription_options(&topic, QosProfile::default());
    options.type_name = "std_msgs/msg/Int32";
    let subscription = far.subscription_with(options);
    publisher_event(&publisher, "the publisher's clash", |event| {
        matches!(event, PublisherEvent::IncompatibleType { total: 1, change: 1 }).then_some(())
    });
    subscription_event(&subscription, "the subscription's clash", |event| {
        matches!(event, SubscriptionEvent::IncompatibleType { total: 1, change: 1 }).then_some(())
    });
    assert_eq!(publisher.publisher.matched_subscriptions(), 0);
    let graph = near.session.graph();
    let mismatches = graph.mismatches(&topic);
    assert!(
        mismatches.iter().any(|mismatch| mismatch.reason.contains("std_msgs/msg/Int32")),
        "{mismatches:?}"
    );
}

/// The wait for acknowledgements ends when they arrive. If no subscription matches, it ends
/// immediately.
pub fn acknowledgements_can_be_waited_for(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/acknowledged");
    let publisher = near.publisher(&topic, QosProfile::keep_all());
    publisher.publish(&numbered(0));
    let acked: Result<(), WaitForAckedError> =
        publisher.publisher.wait_for_all_acked(Duration::from_secs(60));
    acked.unwrap();
    settled(&near, &far);
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    matched(&publisher, &subscription);
    (1..=300).for_each(|number| publisher.send(&numbered(number)));
    publisher.publisher.wait_for_all_acked(Duration::from_secs(60)).unwrap();
    assert!(
        publisher.publisher.is_acknowledged_by(subscription.subscription.gid(), Duration::ZERO)
    );
    (1..=300).for_each(|number| assert_eq!(subscription.next_number(), number));
}

/// Gaps in a publisher's numbers count as losses, except while gaps are expected. Messages that
/// were skipped in that time do not count as losses later either.
pub fn expected_gaps_are_no_losses(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/gaps");
    let publisher = near.publisher(&topic, QosProfile::keep_all());
    let other = near.publisher(&topic, QosProfile::keep_all());
    let subscription = far.subscription(&topic, QosProfile::keep_last(1));
    subscription.wait_for_matches(2);
    publisher.wait_for_matches(1);
    other.wait_for_matches(1);
    // Publishes `count` messages. All of them except the last message are dropped from the history
    // of the subscription before the subscription takes any message.
    let pass_over = |publisher: &TestPublisher, count: u32| {
        (1..=count).for_each(|number| publisher.send(&numbered(number)));
        publisher.publisher.wait_for_all_acked(Duration::from_secs(60)).unwrap();
        assert_eq!(subscription.next_number(), count);
    };
    let lost = || {
        std::iter::from_fn(|| subscription.subscription.take_event().unwrap())
            .find_map(|event| match event {
                SubscriptionEvent::MessageLost { total, .. } => Some(total),
                _ => None,
            })
            .unwrap_or(0)
    };
    let expect = |expect| subscription.subscription.expect_gaps(publisher.publisher.gid(), expect);
    pass_over(&publisher, 1);
    pass_over(&other, 1);
    pass_over(&publisher, 4);
    assert_eq!(lost(), 3);
    expect(true);
    pass_over(&publisher, 7);
    assert_eq!(lost(), 0, "no new losses");
    pass_over(&other, 3);
    assert_eq!(lost(), 5, "the other publisher's gaps count");
    pass_over(&publisher, 1);
    expect(false);
    pass_over(&publisher, 9);
    assert_eq!(lost(), 0, "counting begins anew with the first message afterwards");
    pass_over(&publisher, 3);
    assert_eq!(lost(), 7);
}
