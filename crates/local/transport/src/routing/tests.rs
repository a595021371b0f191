//! Tests the order of routes, and how often a router reads the matches of the engine.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::AtomicUsize;

use feros_engine::engine::Fill;
use feros_engine::{
    AnnounceError, EventError, PublishError, PublisherEvent, QosProfile, Stamp, WaitForAckedError,
};
use feros_shm::TransportSet;

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

/// An engine's publisher without matches that counts how often its matches are read.
#[derive(Default)]
struct Engine {
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
        Vec::new()
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
