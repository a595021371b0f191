//! The creation and the end of sessions and endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use feros_engine::{EndpointInfo, EndpointKind, QosProfile, ServiceMapping};

use crate::Fixture;
use crate::endpoints::{TestNode, matched, test_nodes, while_publishing};
use crate::harness::{assert_same, numbered, patterned, unique};

/// The bytes of a sample remain valid after its endpoint and session have been dropped.
pub fn samples_outlive_their_subscription(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/outlive");
    let publisher = near.publisher(&topic, QosProfile::keep_all());
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    matched(&publisher, &subscription);
    let sent = [patterned(100, 1), patterned(300_000, 2)];
    sent.iter().for_each(|bytes| publisher.send(bytes));
    let received = [subscription.next(), subscription.next()];
    drop((publisher, subscription, near, far));
    for (received, sent) in received.iter().zip(&sent) {
        assert_same(&received.payload, sent);
    }
}

/// After an endpoint has been dropped, none of its callbacks run, no matter how busy the endpoint
/// was.
pub fn dropped_endpoints_notify_no_more(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/dropped");
    let publisher = near.publisher(&topic, QosProfile::sensor_data());
    while_publishing(&publisher, || {
        for _ in 0..20 {
            let gone = Arc::new(AtomicBool::new(false));
            let late = Arc::new(AtomicBool::new(false));
            let received = crate::NotificationCounter::new();
            let ring = received.notify();
            let (saw_gone, saw_late) = (gone.clone(), late.clone());
            let mut options = far.subscription_options(&topic, QosProfile::sensor_data());
            options.on_data = Arc::new(move || {
                if saw_gone.load(Ordering::SeqCst) {
                    saw_late.store(true, Ordering::SeqCst);
                }
                ring();
            });
            let subscription = far.session.create_subscription(options).unwrap();
            received.wait_for("a message", || subscription.take().unwrap());
            drop(subscription);
            gone.store(true, Ordering::SeqCst);
            // The publisher continues. A second subscription shows that messages arrived after the
            // drop.
            let control = far.subscription(&topic, QosProfile::sensor_data());
            control.next();
            assert!(!late.load(Ordering::SeqCst), "notified after the drop");
        }
    });
}

/// Several threads create and drop endpoints of one type at the same time. Dropping one endpoint
/// does not affect another endpoint that is being created.
pub fn endpoints_of_one_type_come_while_others_go(fixture: &dyn Fixture) {
    let (near, _far) = test_nodes(fixture);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let near = &near;
            scope.spawn(move || {
                let topic = unique(&format!("/of_one_type_{thread}"));
                for _ in 0..1000 {
                    drop(near.publisher(&topic, QosProfile::default()));
                }
            });
        }
    });
}

/// Two hundred rounds of creating and dropping endpoints of all kinds do not leave any memory,
/// thread or handle in use.
pub fn endpoints_come_and_go_without_growth(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/come_and_go");
    let round = || {
        let publisher = near.publisher(&topic, QosProfile::keep_last(5).transient_local());
        let subscription = far.subscription(&topic, QosProfile::keep_last(5));
        let service = near.service(&format!("{topic}/service"), ServiceMapping::default());
        let client = far.client(&format!("{topic}/service"), None);
        publisher.publish(&patterned(100_000, 1));
        drop((publisher, subscription, service, client));
    };
    (0..50).for_each(|_| round());
    let before = resident_bytes();
    (0..200).for_each(|_| round());
    let grown = resident_bytes().saturating_sub(before);
    // Other tests of this process run at the same time, but the pool limits their buffers. A leak
    // of one sample in each round would be 20 MB, and a leak of one page in each round for each
    // endpoint would be 3 MB.
    assert!(grown < 96 << 20, "{grown} bytes more after 200 rounds");
    // The announcements of the last ends may still be on their way.
    near.wait_for_graph("the end of the endpoints", |graph| {
        let is_left = |endpoint: &&EndpointInfo| endpoint.name.starts_with(&topic);
        (graph.endpoints.iter().filter(is_left).count() <= 4).then_some(())
    });
}

/// Returns the resident memory of this process, or 0 if the platform does not report it.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim_end().parse::<usize>().ok()
    });
    kilobytes.unwrap_or(0) * 1024
}

/// Sessions can be opened and closed repeatedly. Other sessions see each of them appear and
/// disappear.
pub fn sessions_come_and_go(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    for _ in 0..5 {
        let (session, _) = fixture.open();
        let visitor = TestNode::new(session.clone());
        far.wait_for_graph("the visitor", |graph| {
            graph.nodes.iter().any(|node| node.name == visitor.name).then_some(())
        });
        visitor.session.remove_node(visitor.node);
        let gid = session.gid();
        let name = visitor.name.clone();
        drop((visitor, session));
        far.wait_for_graph("the visitor's end", |graph| {
            (!graph.nodes.iter().any(|node| node.name == name && node.participant == gid))
                .then_some(())
        });
    }
    drop(near);
}

/// Messages that were published before a session began to end arrive, other sessions no longer see
/// its node and its endpoint when the last endpoint has been dropped, and the rest of the session
/// may still exist.
pub fn a_session_that_is_ending_delivers_and_leaves(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let (session, _) = fixture.open();
    let visitor = TestNode::new(session.clone());
    let topic = unique("/farewell");
    let publisher = visitor.publisher(&topic, QosProfile::keep_all());
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    matched(&publisher, &subscription);
    publisher.publish(&numbered(1));
    session.ending().begin();
    publisher.publish(&numbered(2));
    session.remove_node(visitor.node);
    drop(publisher);
    assert_eq!([subscription.next_number(), subscription.next_number()], [1, 2]);
    for node in [&near, &far] {
        node.wait_for_graph("the end of the visitor", |graph| {
            let has_node = graph.nodes.iter().any(|node| node.name == visitor.name);
            let has_publisher = graph
                .endpoints
                .iter()
                .any(|endpoint| endpoint.name == topic && endpoint.kind == EndpointKind::Publisher);
            (!has_node && !has_publisher).then_some(())
        });
    }
    drop((visitor, session));
}
