//! Announcements of endpoints, and the matches that contain them.

use std::sync::atomic::{AtomicBool, Ordering};

use feros_engine::{
    AnnounceError, AnnouncementError, CreateEndpointError, EndpointKind, Match, PublisherEvent,
    QosProfile,
};

use crate::Fixture;
use crate::endpoints::{TestNode, TestPublisher, TestSubscription, matched, test_nodes};
use crate::harness::{numbered, unique};

fn publisher_that_announces(node: &TestNode, topic: &str, announcement: &str) -> TestPublisher {
    let mut options = node.publisher_options(topic, QosProfile::default());
    options.announcement = announcement;
    node.publisher_with(options)
}

fn subscription_that_announces(
    node: &TestNode,
    topic: &str,
    announcement: &str,
) -> TestSubscription {
    let mut options = node.subscription_options(topic, QosProfile::default());
    options.announcement = announcement;
    node.subscription_with(options)
}

fn texts(matches: &[Match]) -> Vec<Option<&str>> {
    let mut texts: Vec<_> = matches.iter().map(|matched| matched.announcement.as_deref()).collect();
    texts.sort_unstable();
    texts
}

/// Waits until `node`'s graph shows an endpoint of this kind and topic with the announcement
/// `wanted`.
fn wait_for_announcement(node: &TestNode, kind: EndpointKind, topic: &str, wanted: Option<&str>) {
    node.wait_for_graph(&format!("the announcement {wanted:?}"), |graph| {
        let found = graph.endpoints_of(kind, topic).next()?;
        (found.announcement.as_deref() == wanted).then_some(())
    });
}

/// Both sides and the graph see the announcement of an endpoint. They see no announcement if the
/// endpoint announces nothing.
pub fn announcements_are_seen(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/announced");
    let publisher = publisher_that_announces(&near, &topic, "side=near,ü");
    let subscription = subscription_that_announces(&far, &topic, "side=far");
    let silent = far.subscription(&topic, QosProfile::keep_last(3));
    publisher.wait_for_matches(2);
    subscription.wait_for_matches(1);
    silent.wait_for_matches(1);
    let seen = publisher.publisher.matches();
    assert_eq!(texts(&seen), [None, Some("side=far")]);
    let of_silent = seen.iter().find(|matched| matched.gid == silent.subscription.gid()).unwrap();
    assert_eq!((of_silent.announcement.as_deref(), of_silent.qos.depth), (None, 3));
    for seen in [subscription.subscription.matches(), silent.subscription.matches()] {
        assert_eq!(texts(&seen), [Some("side=near,ü")]);
        assert_eq!(seen[0].gid, publisher.publisher.gid());
        assert_eq!(seen[0].qos.reliability, publisher.publisher.qos().reliability);
    }
    for end in [&near, &far] {
        wait_for_announcement(end, EndpointKind::Publisher, &topic, Some("side=near,ü"));
        let graph = end.session.graph();
        let shown = graph.endpoints_of(EndpointKind::Publisher, &topic).next().unwrap();
        assert_eq!(
            shown.type_hash,
            Some(crate::harness::HASH),
            "the type hash is announced besides"
        );
    }
}

/// The graph and the matches of the other side show a changed announcement, and the match
/// continues. The graph still shows the node of the endpoint.
pub fn announcements_change(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/changing");
    let publisher = near.publisher(&topic, QosProfile::default());
    let subscription = subscription_that_announces(&far, &topic, "first");
    matched(&publisher, &subscription);
    let longest = "x".repeat(512);
    for text in ["p=2", longest.as_str(), ""] {
        publisher.publisher.announce(text).unwrap();
        subscription.subscription.announce(text).unwrap();
        let wanted = (!text.is_empty()).then_some(text);
        wait_for_announcement(&far, EndpointKind::Publisher, &topic, wanted);
        wait_for_announcement(&near, EndpointKind::Subscription, &topic, wanted);
        assert_eq!(texts(&subscription.subscription.matches()), [wanted]);
        assert_eq!(texts(&publisher.publisher.matches()), [wanted]);
    }
    publisher.publish(&numbered(4));
    assert_eq!(subscription.next_number(), 4);
    // The change did not interrupt the match.
    match publisher.publisher.take_event().unwrap() {
        Some(PublisherEvent::Matched(status)) => assert_eq!((status.total, status.current), (1, 1)),
        other => panic!("{other:?}"),
    }
    // A string that cannot be an announcement is refused and changes nothing.
    publisher.publisher.announce("good").unwrap();
    let error = publisher.publisher.announce("bad;typehash=").unwrap_err();
    assert!(matches!(&error, AnnounceError::Text { topic: of, .. } if *of == topic), "{error}");
    let error = subscription.subscription.announce(&"x".repeat(513)).unwrap_err();
    let reason = AnnouncementError::TooLong { size_bytes: 513 };
    assert_eq!(error, AnnounceError::Text { topic: topic.clone(), reason });
    wait_for_announcement(&far, EndpointKind::Publisher, &topic, Some("good"));
}

/// A string that cannot be sent is refused with the reason, and nothing is announced.
pub fn impossible_announcements_are_refused(fixture: &dyn Fixture) {
    let (near, _far) = test_nodes(fixture);
    let topic = unique("/unannounced");
    let too_long = "x".repeat(513);
    for bad in ["a;b", "a\0", "line\n", &too_long] {
        let mut options = near.publisher_options(&topic, QosProfile::default());
        options.announcement = bad;
        let error = near.session.create_publisher(options).map(|_| ()).unwrap_err();
        assert!(
            matches!(&error, CreateEndpointError::Announcement { name, .. } if *name == topic),
            "{error}"
        );
        let mut options = near.subscription_options(&topic, QosProfile::default());
        options.announcement = bad;
        let error = near.session.create_subscription(options).map(|_| ()).unwrap_err();
        assert!(
            matches!(&error, CreateEndpointError::Announcement { name, .. } if *name == topic),
            "{error}"
        );
    }
    let graph = near.session.graph();
    assert_eq!(graph.endpoints.iter().filter(|endpoint| endpoint.name == topic).count(), 0);
}

/// When a match has been notified, it is in the list of matches with its announcement.
pub fn matches_follow_their_events(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/following");
    let publisher = publisher_that_announces(&near, &topic, "publisher");
    let mut subscriptions = Vec::new();
    for number in 1..=20 {
        let subscription =
            subscription_that_announces(&far, &topic, &format!("subscription={number}"));
        let gid = subscription.subscription.gid();
        publisher.events.wait_for("the match", || {
            match publisher.publisher.take_event().unwrap() {
                Some(PublisherEvent::Matched(status)) => (status.total == number).then_some(()),
                _ => None,
            }
        });
        let matches = publisher.publisher.matches();
        let found =
            matches.iter().find(|matched| matched.gid == gid).expect("the match was notified");
        assert_eq!(found.announcement.as_deref(), Some(format!("subscription={number}").as_str()));
        assert_eq!(publisher.publisher.matched_gids().len(), number as usize);
        subscription
            .events
            .wait_for("the match", || subscription.subscription.take_event().unwrap());
        assert_eq!(texts(&subscription.subscription.matches()), [Some("publisher")]);
        subscriptions.push(subscription);
    }
    drop(subscriptions);
    publisher.wait_for_matches(0);
    assert_eq!(publisher.publisher.matches(), []);
}

/// Announcements that change while other threads read them are read consistently: a thread reads
/// either the old or the new announcement, and never a mixture.
pub fn announcements_change_while_others_look(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/looking");
    let texts = [1, 30, 500].map(|length| "x".repeat(length));
    let publisher = publisher_that_announces(&near, &topic, &texts[0]);
    let subscription = subscription_that_announces(&far, &topic, &texts[0]);
    matched(&publisher, &subscription);
    let done = AtomicBool::new(false);
    let whole = |matches: Vec<Match>| {
        let seen = matches[0].announcement.as_deref().expect("something is announced all the time");
        assert!(texts.iter().any(|text| text == seen), "{seen:?}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..300 {
                publisher.publisher.announce(&texts[number % 3]).unwrap();
                subscription.subscription.announce(&texts[number % 3]).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            whole(publisher.publisher.matches());
            whole(subscription.subscription.matches());
        }
    });
    wait_for_announcement(&far, EndpointKind::Publisher, &topic, Some(&texts[2]));
}
