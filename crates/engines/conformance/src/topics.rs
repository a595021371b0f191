//! Messages from publishers to subscriptions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use feros_engine::{
    FillAborted, Gid, PublishError, PublishMode, QosProfile, Stamp, SubscriptionEvent, copied,
};

use crate::Fixture;
use crate::endpoints::{connected, matched, test_nodes, while_publishing};
use crate::harness::{NotificationCounter, assert_same, number_in, numbered, patterned, unique};

/// A thousand reliable messages arrive exactly once, in order, and with consecutive numbers.
pub fn reliable_messages_arrive_in_order(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/reliable", QosProfile::keep_all());
    for number in 0..1000 {
        assert_eq!(publisher.publish(&numbered(number)), u64::from(number) + 1);
    }
    for number in 0..1000 {
        let sample = subscription.next();
        assert_eq!(number_in(&sample.payload), number);
        assert_eq!(sample.info.publication_sequence_number, Some(u64::from(number) + 1));
    }
    assert!(subscription.subscription.take().unwrap().is_none());
}

/// The numbers also count messages that the engine did not have to send.
pub fn skipped_messages_count(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/skipped", QosProfile::keep_all());
    for (skipped, number) in [(4, 5), (0, 6), (1, 8), (1 << 40, (1 << 40) + 9)] {
        publisher.publisher.skip(skipped);
        publisher.publish(&numbered(7));
        assert_eq!(subscription.next().info.publication_sequence_number, Some(number));
    }
}

/// Best-effort messages may be lost, but not all of them. The messages that arrive are in order.
pub fn best_effort_messages_arrive(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/best_effort", QosProfile::sensor_data());
    let received: Vec<_> =
        while_publishing(&publisher, || (0..20).map(|_| subscription.next_number()).collect());
    assert!(received.is_sorted_by(|a, b| a < b), "{received:?}");
}

/// Messages of all sizes, including the smallest, arrive complete, and the bytes after the header
/// are aligned.
pub fn sizes_are_kept(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/sizes", QosProfile::keep_all());
    let sizes = (4..40)
        .chain([255, 256, 257, 1343, 1344, 1345, 4096, 64_999, 65_000, 65_001, 65_507, 65_540]);
    for size in sizes {
        let sent = patterned(size, size as u8);
        publisher.publish(&sent);
        let received = subscription.next().payload;
        assert_same(&received, &sent);
        assert_eq!(received[4..].as_ptr().align_offset(8), 0, "size {size}");
    }
}

/// Samples of 300 KB to 4 MB arrive complete, even if several samples are being sent at the same
/// time.
pub fn large_messages_arrive_whole(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/large", QosProfile::keep_all());
    let sent: Vec<_> =
        [300_000, 1 << 20, 4 << 20, 300_001, 4 << 20].map(|size| patterned(size, 9)).into();
    std::thread::scope(|scope| {
        scope.spawn(|| sent.iter().for_each(|bytes| publisher.send(bytes)));
        sent.iter().for_each(|bytes| assert_same(&subscription.next().payload, bytes));
    });
}

/// A sample that is too small for its header or exceeds the engine's limit is refused before `fill`
/// is called. The error contains the sizes.
pub fn impossible_sizes_are_refused(fixture: &dyn Fixture) {
    let (near, _far) = test_nodes(fixture);
    let publisher = near.publisher(&unique("/impossible"), QosProfile::default());
    for size in [0, 3, usize::MAX, 1 << 32] {
        let error =
            publisher.publisher.publish(size, &mut |_| panic!("nothing to fill")).unwrap_err();
        assert!(
            matches!(error, PublishError::Size { size_bytes, .. } if size_bytes == size),
            "{error}"
        );
    }
}

/// If `fill` returns false, nothing is published and no number is used.
pub fn aborted_fill_publishes_nothing(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/aborted", QosProfile::default());
    let error = publisher.publisher.publish(8, &mut |_| Err(FillAborted)).unwrap_err();
    assert_eq!(error, PublishError::FillAborted);
    assert_eq!(publisher.publish(&numbered(5)), 1);
    assert_eq!(subscription.next_number(), 5);
}

/// Messages contain their sender, their time, and whether the sender belongs to the same session.
pub fn message_information(fixture: &dyn Fixture) {
    let (near, far, publisher, subscription) =
        connected(fixture, "/information", QosProfile::default());
    assert_eq!(publisher.publisher.matched_gids(), [subscription.subscription.gid()]);
    assert_eq!(subscription.subscription.matched_gids(), [publisher.publisher.gid()]);
    let before = SystemTime::now();
    publisher.publish(&numbered(1));
    let info = subscription.next().info;
    let after = SystemTime::now();
    assert_eq!(info.publisher_gid, publisher.publisher.gid());
    assert_eq!(info.from_same_session, Arc::ptr_eq(&near.session, &far.session));
    let (source, received) = (info.source_timestamp.unwrap(), info.received_timestamp.unwrap());
    assert!(before <= source && source <= received && received <= after);
}

/// Source timestamps arrive unchanged, to the nanosecond. Messages stay in the order in which they
/// were published, regardless of their timestamps.
pub fn stamps_are_kept_to_the_nanosecond(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/stamps");
    let mut options = near.publisher_options(&topic, QosProfile::keep_all());
    let publisher = near.publisher_with(options.clone());
    options.mode = PublishMode::Asynchronous { queue_depth: 10_000 };
    let asynchronous = near.publisher_with(options);
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    subscription.wait_for_matches(2);
    publisher.wait_for_matches(1);
    asynchronous.wait_for_matches(1);
    const SECOND: i64 = 1_000_000_000;
    let edges = [Stamp::MIN, Stamp::MAX, Stamp(SECOND - 1), Stamp(SECOND), Stamp(SECOND + 1)];
    let beyond_signed = Stamp((1 << 31) * SECOND + 999_999_999);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    // Arbitrary times, and times around now that are one nanosecond apart.
    let anywhere = (0..2000).map(|_| Stamp((random() % Stamp::MAX.0.unsigned_abs()) as i64 + 1));
    let anywhere: Vec<_> = anywhere.collect();
    let now = Stamp::now();
    let neighbours = (0..2000).map(|number| Stamp(now.0 + number));
    let stamps: Vec<_> =
        edges.into_iter().chain([beyond_signed]).chain(anywhere).chain(neighbours).collect();
    for publisher in [&publisher, &asynchronous] {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for stamp in &stamps {
                    publisher.publisher.publish_at(*stamp, 8, &mut copied(&numbered(1))).unwrap();
                }
            });
            for stamp in &stamps {
                let info = subscription.next().info;
                assert_eq!(
                    (info.stamp(), info.publisher_gid),
                    (Some(*stamp), publisher.publisher.gid())
                );
                assert_eq!(info.source_timestamp, stamp.to_system_time());
            }
        });
    }
}

/// A timestamp that cannot be sent is refused before `fill` is called, and no number is used.
pub fn impossible_stamps_are_refused(fixture: &dyn Fixture) {
    let (near, _far) = test_nodes(fixture);
    let publisher = near.publisher(&unique("/out_of_time"), QosProfile::default());
    for stamp in [0, -1, i64::MIN, i64::MAX, Stamp::MAX.0 + 1].map(Stamp) {
        let error = publisher
            .publisher
            .publish_at(stamp, 8, &mut |_| panic!("nothing to fill"))
            .unwrap_err();
        assert!(matches!(error, PublishError::Stamp { stamp: of, .. } if of == stamp), "{error}");
    }
    assert_eq!(publisher.publish(&numbered(1)), 1);
}

/// A subscription can ignore messages from its own session.
pub fn local_publications_can_be_ignored(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/ignored");
    let publisher = near.publisher(&topic, QosProfile::default());
    let mut options = far.subscription_options(&topic, QosProfile::default());
    options.ignore_local_publications = true;
    let ignoring = far.subscription_with(options);
    let control = far.subscription(&topic, QosProfile::default());
    control.wait_for_matches(1);
    let local = Arc::ptr_eq(&near.session, &far.session);
    publisher.wait_for_matches(if local { 1 } else { 2 });
    if !local {
        ignoring.wait_for_matches(1);
    }
    publisher.publish(&numbered(1));
    assert_eq!(control.next_number(), 1);
    if local {
        assert!(ignoring.subscription.take().unwrap().is_none());
    } else {
        assert_eq!(ignoring.next_number(), 1);
    }
}

/// Several threads publish with their own publishers and with a shared publisher. No message is
/// lost or mixed up.
pub fn concurrent_publishers(fixture: &dyn Fixture) {
    const THREADS: u32 = 4;
    const EACH: u32 = 200;
    let (near, far) = test_nodes(fixture);
    let topic = unique("/concurrent");
    let shared = near.publisher(&topic, QosProfile::keep_all());
    let own: Vec<_> =
        (0..THREADS).map(|_| near.publisher(&topic, QosProfile::keep_all())).collect();
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    subscription.wait_for_matches(own.len() + 1);
    shared.wait_for_matches(1);
    own.iter().for_each(|publisher| publisher.wait_for_matches(1));
    std::thread::scope(|scope| {
        for (thread, own) in (0..).zip(&own) {
            let shared = &shared;
            scope.spawn(move || {
                for number in 0..EACH {
                    own.publish(&numbered(number));
                    shared.publish(&numbered(thread * EACH + number));
                }
            });
        }
        let mut last_number = HashMap::<Gid, u64>::new();
        let mut from_shared = Vec::new();
        for _ in 0..2 * THREADS * EACH {
            let sample = subscription.next();
            let number = sample.info.publication_sequence_number.unwrap();
            let last = last_number.entry(sample.info.publisher_gid).or_default();
            assert_eq!(number, *last + 1, "messages of one publisher arrive in order");
            *last = number;
            if sample.info.publisher_gid == shared.publisher.gid() {
                from_shared.push(number_in(&sample.payload));
            } else {
                assert_eq!(u64::from(number_in(&sample.payload)) + 1, number);
            }
        }
        from_shared.sort_unstable();
        assert_eq!(from_shared, (0..THREADS * EACH).collect::<Vec<_>>());
    });
}

/// Each of several subscriptions receives each message.
pub fn several_subscriptions_receive_each_message(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/several");
    let publisher = near.publisher(&topic, QosProfile::keep_all());
    let subscriptions: Vec<_> = [&near, &far, &far, &far]
        .map(|end| end.subscription(&topic, QosProfile::keep_all()))
        .into_iter()
        .collect();
    subscriptions.iter().for_each(|subscription| subscription.wait_for_matches(1));
    publisher.wait_for_matches(subscriptions.len());
    (0..100).for_each(|number| publisher.send(&numbered(number)));
    for subscription in &subscriptions {
        (0..100).for_each(|number| assert_eq!(subscription.next_number(), number));
    }
}

/// An asynchronous publisher keeps the order. The wait for acknowledgements includes messages that
/// are still queued. Dropping the publisher sends the remaining messages.
pub fn asynchronous_publishing(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/asynchronous");
    let mut options = near.publisher_options(&topic, QosProfile::keep_all());
    options.mode = PublishMode::Asynchronous { queue_depth: 1000 };
    let publisher = near.publisher_with(options);
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    matched(&publisher, &subscription);
    for number in 0..500 {
        assert_eq!(publisher.publish(&numbered(number)), u64::from(number) + 1);
    }
    publisher.publisher.wait_for_all_acked(Duration::from_secs(60)).unwrap();
    (500..1000).for_each(|number| publisher.send(&numbered(number)));
    assert_eq!(publisher.publisher.dropped_messages(), 0);
    let began = Instant::now();
    drop(publisher);
    // On a very busy machine, there may not be enough time for the remaining messages. In that
    // case, only the earlier messages are checked.
    if began.elapsed() < Duration::from_secs(1) {
        (0..1000).for_each(|number| assert_eq!(subscription.next_number(), number));
    } else {
        (0..500).for_each(|number| assert_eq!(subscription.next_number(), number));
    }
}

/// When the queue is full, the oldest messages are dropped and counted. The numbers of sent and
/// dropped messages add up to the number of all messages.
pub fn asynchronous_publishing_counts_drops(fixture: &dyn Fixture) {
    const MESSAGES: u32 = 300;
    let (near, far) = test_nodes(fixture);
    let topic = unique("/dropping");
    let mut options = near.publisher_options(&topic, QosProfile::keep_all());
    options.mode = PublishMode::Asynchronous { queue_depth: 1 };
    let publisher = near.publisher_with(options);
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    matched(&publisher, &subscription);
    let mut bytes = patterned(200_000, 1);
    for number in 0..MESSAGES {
        bytes[4..8].copy_from_slice(&number.to_le_bytes());
        publisher.publisher.publish(bytes.len(), &mut copied(&bytes)).unwrap();
    }
    publisher.publisher.wait_for_all_acked(Duration::from_secs(60)).unwrap();
    let dropped = publisher.publisher.dropped_messages();
    let mut received = Vec::new();
    while received.last() != Some(&(MESSAGES - 1)) {
        received.push(subscription.next_number());
    }
    assert!(received.is_sorted());
    assert_eq!(received.len() as u64 + dropped, u64::from(MESSAGES));
}

/// A subscription that takes messages only when it is notified finds every message, no matter how
/// publishing and taking alternate. A slow subscription gets the number of messages that it has
/// missed.
pub fn readiness_is_never_lost(fixture: &dyn Fixture) {
    let (_near, _far, publisher, subscription) =
        connected(fixture, "/readiness", QosProfile::keep_all());
    // Publishing and taking alternate strictly: each message is published after the previous
    // message has been taken. So each message needs its own notification.
    let taken = NotificationCounter::new();
    let ring = taken.notify();
    let progress = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..500 {
                taken.wait_for("the taker", || {
                    (progress.load(Ordering::Acquire) == number).then_some(())
                });
                publisher.publish(&numbered(number));
            }
        });
        for number in 0..500 {
            assert_eq!(subscription.next_number(), number);
            progress.store(number + 1, Ordering::Release);
            ring();
        }
    });
    let events = std::iter::from_fn(|| subscription.subscription.take_event().unwrap());
    assert!(
        !events.into_iter().any(|event| matches!(event, SubscriptionEvent::MessageLost { .. }))
    );
}
