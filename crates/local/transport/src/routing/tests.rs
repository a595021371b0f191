//! Tests the order of routes, how often a router reads the matches of the engine, and how it
//! notices that a subscription has given a publisher up.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::AtomicUsize;

use feros_engine::engine::Fill;
use feros_engine::{
    AnnounceError, EventError, PublishError, PublisherEvent, QosProfile, Stamp, WaitForAckedError,
};
use feros_shm::{Announcement, ProcessSegment, TransportSet, random_id};

use super::*;
use crate::SharedMemoryOptions;

#[test]
fn each_item_comes_equally_often_at_each_place() {
    for count in 0..6_usize {
        let items: Vec<usize> = (0..count).collect();
        let mut places = vec![vec![0; count]; count];
        for number in 7..7 + count as u64 {
            let order: Vec<usize> = in_turn(&items, number).copied().collect();
            assert_eq!(order.len(), count);
            order.iter().enumerate().for_each(|(place, &item)| places[item][place] += 1);
        }
        assert_eq!(places, vec![vec![1; count]; count]);
    }
}

/// An engine's publisher that counts how often its matches are read.
#[derive(Default)]
struct Engine {
    matches: Vec<Match>,
    is_acknowledged: AtomicBool,
    reads: AtomicUsize,
}

impl EnginePublisher for Engine {
    fn gid(&self) -> Gid {
        Gid([1; 16])
    }

    fn qos(&self) -> QosProfile {
        QosProfile::default()
    }

    fn publish_at(&self, _: Stamp, _: usize, _: Fill<'_>) -> Result<u64, PublishError> {
        Ok(1)
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        Ok(())
    }

    fn skip(&self, _: u64) {}

    fn matched_subscriptions(&self) -> usize {
        0
    }

    fn matches(&self) -> Vec<Match> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.matches.clone()
    }

    fn announce(&self, _: &str) -> Result<(), AnnounceError> {
        Ok(())
    }

    fn wait_for_all_acked(&self, waited: Duration) -> Result<(), WaitForAckedError> {
        if self.is_acknowledged.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(WaitForAckedError::Timeout { topic: "/a".to_owned(), waited })
    }

    fn is_acknowledged_by(&self, _: Gid, _: Duration) -> bool {
        self.is_acknowledged.load(Ordering::Relaxed)
    }

    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        Ok(None)
    }

    fn dropped_messages(&self) -> u64 {
        0
    }
}

#[test]
fn an_end_reads_matches_only_while_messages_are_not_acknowledged() {
    let engine = Arc::new(Engine::default());
    let options = SharedMemoryOptions::default();
    let memory = SharedMemorySending::new("/a", TransportSet::ALL, "a/msg/A", None, &options);
    let shared: Arc<dyn EnginePublisher> = engine.clone();
    let router = Router::new("/a", &shared, memory, Arc::default(), false);
    router.forget_ended_at_end();
    assert_eq!(engine.reads.load(Ordering::Relaxed), 1, "a process may have been killed");
    engine.is_acknowledged.store(true, Ordering::Relaxed);
    (0..300).for_each(|_| router.forget_ended_at_end());
    assert_eq!(engine.reads.load(Ordering::Relaxed), 1);
}

/// The publisher and the subscription are in one process, which does not allow the transport within
/// it.
#[test]
fn a_publisher_that_was_given_up_begins_again_and_others_go_on() {
    let transports = TransportSet::ALL.without(Transport::IntraProcess);
    let entry = ProcessSegment::of_this_process().unwrap().subscription_entry().unwrap();
    let announcement = Announcement::of_this_process(entry.id().to_u64(), transports, None);
    let announcement = Some(announcement.encode().into());
    let found = Match { gid: Gid([2; 16]), announcement, qos: QosProfile::default() };
    let is_acknowledged = AtomicBool::new(true);
    let engine: Arc<dyn EnginePublisher> =
        Arc::new(Engine { matches: vec![found], is_acknowledged, ..Engine::default() });
    let options = SharedMemoryOptions::default();
    let memory = SharedMemorySending::new("/a", transports, "a/msg/A", None, &options);
    let router = Router::new("/a", &engine, memory, Arc::default(), false);
    router.keep_up();
    let transport_of = |routes: &Routes| routes.transports[0].transport;

    let offered = router.find_routes(&Routes::not_looked_yet(), 1);
    assert_eq!(transport_of(&offered), Some(Transport::Network));
    assert!(router.is_current(&offered));
    let attachment = entry.attach(router.id, 0).unwrap();
    assert!(!router.is_current(&offered), "the subscription has opened its connection");
    let established = router.find_routes(&offered, 1);
    assert_eq!(transport_of(&established), Some(Transport::SharedMemory));
    assert!(router.is_current(&established));

    drop(entry.attach(random_id(), 0).unwrap());
    assert!(!router.is_current(&established), "some publisher was given up");
    let renewed = router.find_routes(&established, 2);
    assert_eq!(transport_of(&renewed), Some(Transport::SharedMemory));
    assert!(!renewed.send_like(&established), "the former routes would be found again each time");
    assert!(router.is_current(&renewed));

    drop(attachment);
    assert!(!router.is_current(&renewed));
    let given_up = router.find_routes(&renewed, 3);
    assert_eq!(transport_of(&given_up), Some(Transport::Network));
    assert!(router.is_current(&given_up));
    let _attachment = entry.attach(router.id, 0).unwrap();
    let again = router.find_routes(&given_up, 4);
    assert_eq!(transport_of(&again), Some(Transport::SharedMemory));

    drop((_attachment, entry));
    let ended = router.find_routes(&again, 5);
    assert_eq!(ended.transports[0].reason, Some(Reason::SubscriptionGone));
}
