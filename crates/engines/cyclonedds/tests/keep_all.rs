//! Tests that a keep-all subscription also limits publishers of its own process, and loses no
//! messages.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use feros_conformance::{NotificationCounter, TestNode, matched};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{
    Engine, KEEP_ALL_LIMIT, PublishError, Publisher, QosProfile, Session, SessionOptions,
};
use feros_test_support::own_domain;

fn open() -> Arc<dyn Session> {
    let options = SessionOptions::localhost(own_domain());
    ConfiguredCycloneEngine::default().open(&options).unwrap()
}

/// Publishes a message of this size that begins with its number. Tries again while there is no
/// room.
fn publish(publisher: &dyn Publisher, number: u64, size: usize, on_timeout: impl Fn()) {
    let fill = &mut |memory: &mut [u8]| {
        memory.fill(0);
        memory[4..12].copy_from_slice(&number.to_le_bytes());
        Ok(())
    };
    loop {
        match publisher.publish(size, fill) {
            Ok(_) => return,
            Err(PublishError::Timeout { .. }) => on_timeout(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Publishes more messages than a subscription keeps, before the subscription takes any message.
/// The subscription keeps `most` messages of this size.
fn check(near: &Arc<dyn Session>, far: &Arc<dyn Session>, size: usize, most: u64) {
    let topic = format!("/keep_all_p{}_{size}", std::process::id());
    let [near, far] = [near, far].map(|session| TestNode::new(session.clone()));
    let publisher = near.publisher(&topic, QosProfile::keep_all());
    let subscription = far.subscription(&topic, QosProfile::keep_all());
    matched(&publisher, &subscription);
    let (published, has_waited) = (AtomicU64::new(0), AtomicBool::new(false));
    let progress = NotificationCounter::new();
    let note = progress.notify();
    let waited = || {
        has_waited.store(true, Ordering::Release);
        note();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..2 * most {
                publish(&*publisher.publisher, number, size, waited);
                published.store(number + 1, Ordering::Release);
                note();
            }
        });
        progress.wait_for("a publisher that finds no room", || {
            let so_far = published.load(Ordering::Acquire);
            assert!(so_far <= most, "{so_far} messages of {size} bytes wait");
            has_waited.load(Ordering::Acquire).then_some(())
        });
        for expected in 0..2 * most {
            let sample = subscription.next();
            let number = u64::from_le_bytes(sample.payload[4..12].try_into().unwrap());
            assert_eq!(number, expected);
        }
    });
}

#[test]
fn messages_are_bounded_in_number_and_bytes() {
    let (near, far) = (open(), open());
    for receiver in [&near, &far] {
        check(&near, receiver, 16, KEEP_ALL_LIMIT as u64);
        check(&near, receiver, 1 << 20, 64);
    }
}
