//! Tests how much the upkeep of connections costs the thread that takes messages.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::AtomicUsize;

use feros_engine::{AnnounceError, EventError, Match, Sample, SubscriptionEvent, TakeError};

use super::*;

/// A value that records whether another thread could have taken the lock while this value was
/// dropped.
struct Probe {
    connections: Weak<Mutex<Vec<Probe>>>,
    locked_drops: Arc<AtomicUsize>,
}

impl Drop for Probe {
    fn drop(&mut self) {
        let is_locked =
            self.connections.upgrade().is_some_and(|connections| connections.try_lock().is_none());
        self.locked_drops.fetch_add(usize::from(is_locked), Ordering::Relaxed);
    }
}

#[test]
fn connections_are_dropped_when_the_lock_is_free() {
    let (connections, locked_drops) =
        (Arc::<Mutex<Vec<Probe>>>::default(), Arc::<AtomicUsize>::default());
    for _ in 0..3 {
        let probe =
            Probe { connections: Arc::downgrade(&connections), locked_drops: locked_drops.clone() };
        connections.lock().push(probe);
    }
    let mut seen = 0;
    let gone = take_out(&connections, |_| {
        seen += 1;
        seen != 2
    });
    assert_eq!((gone.len(), connections.lock().len()), (2, 1));
    drop(gone);
    assert_eq!(locked_drops.load(Ordering::Relaxed), 0);
}

/// If hundreds of connections fail one after the other, the announcement changes a few times only.
#[test]
fn only_failures_that_an_announcement_contains_change_it() {
    let full = Some(Reason::TooManySubscriptions { limit: 16 });
    let failures = |count| -> Vec<_> { (0..count).map(|n| (Gid([n; 16]), full.clone())).collect() };
    let announced = MAX_DECLINED as u8;
    for count in 1..200 {
        let (before, after) = (failures(count - 1), failures(count));
        let has_changed = announced_failures(&before).ne(announced_failures(&after));
        assert_eq!(has_changed, count <= announced, "{count}");
    }
    let open = [(Gid([1; 16]), None), (Gid([2; 16]), Some(Reason::Pending))];
    assert_eq!(announced_failures(&open).count(), 0);
}

/// An endpoint that matches one publisher whose memory is never made.
struct Engine(Match);

impl EngineSubscription for Engine {
    fn gid(&self) -> Gid {
        Gid([1; 16])
    }

    fn qos(&self) -> QosProfile {
        QosProfile::default()
    }

    fn take(&self) -> Result<Option<Sample>, TakeError> {
        Ok(None)
    }

    fn matched_publishers(&self) -> usize {
        1
    }

    fn matches(&self) -> Vec<Match> {
        vec![self.0.clone()]
    }

    fn announce(&self, _: &str) -> Result<(), AnnounceError> {
        Ok(())
    }

    fn expect_gaps(&self, _: Gid, _: bool) {}

    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        Ok(None)
    }

    fn refused_samples(&self) -> u64 {
        0
    }
}

#[test]
fn an_attempt_that_changes_nothing_does_not_ring() {
    let ringer = Ringer::new();
    let rings = Arc::new(AtomicUsize::new(0));
    let heard = rings.clone();
    ringer.set_listener(move |count| {
        heard.fetch_add(count, Ordering::Relaxed);
    });
    let qos = QosProfile::default();
    let receiving =
        SharedMemoryReceiving::new("/a", TransportSet::ALL, &qos, None, &ringer, Ending::default());
    // This changes the announcement to an announcement of another process of this host, namely the
    // process with the next process id.
    let mut publisher = Announcement::of_this_process(u64::MAX, TransportSet::ALL, None);
    publisher.pid += 1;
    publisher.token ^= 1;
    let announcement = Some(publisher.encode().into());
    let found = Match { gid: Gid([2; 16]), announcement, qos };
    let engine: Arc<dyn EngineSubscription> = Arc::new(Engine(found));
    let _ = receiving.engine.set(engine);
    let mut tries = 0;
    while tries < 5 {
        let retry_at = receiving.keep_up().unwrap();
        tries += 1;
        std::thread::sleep(retry_at.saturating_duration_since(Instant::now()));
    }
    assert_eq!(receiving.connections.lock().len(), 1, "the publisher's memory is awaited");
    assert_eq!(rings.load(Ordering::Relaxed), 0);
}
