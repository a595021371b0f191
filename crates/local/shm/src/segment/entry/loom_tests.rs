//! Tests the protocols of an entry under every interleaving and memory ordering that loom explores.
//! A lost wake-up causes a deadlock, which loom reports.

#![allow(clippy::unwrap_used)]

use super::*;
use feros_doorbell::Doorbell;
use loom::sync::Arc;
use loom::thread;

const PUBLISHER: u64 = 7;
const OTHER: u64 = 8;

/// Explores all interleavings with at most three forced context switches, so that the larger models
/// take only seconds.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

fn open_entry() -> (Arc<Entry>, u32) {
    let entry = Entry::new();
    let generation = entry.open();
    (Arc::new(entry), generation)
}

/// An open entry to which the publisher is attached.
fn attached_entry() -> (Arc<Entry>, Found) {
    let (entry, generation) = open_entry();
    entry.attachment(0).attach(PUBLISHER, 1);
    let found = entry.find(generation, PUBLISHER).unwrap();
    (entry, found)
}

/// If a subscription tries to open the memory of a publisher too early, it finds out that it has to
/// try again.
#[test]
fn a_publisher_that_becomes_ready_during_a_try_is_noticed() {
    explore(|| {
        let (entry, generation) = open_entry();
        let memory = Arc::new(AtomicU32::new(0));
        let publisher = {
            let (entry, memory) = (entry.clone(), memory.clone());
            thread::spawn(move || {
                memory.store(1, Ordering::Relaxed);
                entry.count_ready(generation);
            })
        };
        let seen = entry.ready();
        let is_open = memory.load(Ordering::Relaxed) == 1;
        publisher.join().unwrap();
        assert!(is_open || entry.ready() != seen);
        entry.close();
        entry.count_ready(generation);
        assert_eq!(entry.ready(), 1, "a publisher of a former subscription is ignored");
    });
}

/// The subscription joins an executor while a publisher sends. Either it finds the message, or the
/// publisher wakes it. If `looks_itself` is true, the subscription checks for messages after it has
/// set its place; otherwise it rings itself, as executors do.
fn a_message_while_moving_in(looks_itself: bool) {
    explore(move || {
        let (entry, generation) = open_entry();
        let doorbell = Arc::new(Doorbell::new());
        let message = Arc::new(AtomicU32::new(0));
        let slot = Slot::new(3).unwrap();
        let publisher = {
            let (entry, doorbell, message) = (entry.clone(), doorbell.clone(), message.clone());
            thread::spawn(move || {
                message.store(1, Ordering::Relaxed);
                if let Some((number, slot)) = entry.place(generation) {
                    assert_eq!(number, 5);
                    doorbell.ring(slot);
                }
            })
        };
        entry.set_place(Some(Place { doorbell: Some(5), slot }));
        if !looks_itself {
            doorbell.ring(slot);
        }
        let mut looks = looks_itself;
        while !looks || message.load(Ordering::Relaxed) == 0 {
            looks = doorbell.take(slot);
            if !looks {
                doorbell.wait(None);
            }
        }
        publisher.join().unwrap();
    });
}

#[test]
fn a_message_sent_while_the_subscription_moves_in_is_found_when_it_looks() {
    a_message_while_moving_in(true);
}

#[test]
fn a_message_sent_while_the_subscription_moves_in_is_found_when_it_rings_itself() {
    a_message_while_moving_in(false);
}

#[test]
fn a_publisher_that_waits_for_room_wakes_when_a_message_is_taken() {
    loom::model(|| {
        let (entry, found) = attached_entry();
        let subscription = {
            let entry = entry.clone();
            thread::spawn(move || entry.attachment(0).count_taken(1))
        };
        assert_eq!(entry.attachment(0).wait(found, 0, None), Room::Taken(1));
        subscription.join().unwrap();
    });
}

/// Waits until two messages have been taken, one after the other.
fn wait_for_two(entry: &Entry, found: Found) {
    let mut seen = 0;
    while seen < 2 {
        match entry.attachment(0).wait(found, seen, None) {
            Room::Taken(taken) => seen = taken,
            other => panic!("{other:?}"),
        }
    }
}

/// A publisher that waits for room twice is woken both times, even if the first wake-up happens
/// late.
#[test]
fn a_second_wait_gets_a_second_wake_up() {
    explore(|| {
        let (entry, found) = attached_entry();
        let subscription = {
            let entry = entry.clone();
            thread::spawn(move || {
                entry.attachment(0).count_taken(1);
                entry.attachment(0).count_taken(1);
            })
        };
        wait_for_two(&entry, found);
        subscription.join().unwrap();
    });
}

#[test]
fn two_threads_that_wait_for_room_are_both_woken() {
    explore(|| {
        let (entry, found) = attached_entry();
        let other = {
            let entry = entry.clone();
            thread::spawn(move || wait_for_two(&entry, found))
        };
        let subscription = {
            let entry = entry.clone();
            thread::spawn(move || {
                entry.attachment(0).count_taken(1);
                entry.attachment(0).count_taken(1);
            })
        };
        wait_for_two(&entry, found);
        other.join().unwrap();
        subscription.join().unwrap();
    });
}

/// Two threads of the subscription take messages at the same time.
#[test]
fn two_threads_that_count_wake_for_both_messages() {
    explore(|| {
        let (entry, found) = attached_entry();
        let subscriptions = [(); 2].map(|()| {
            let entry = entry.clone();
            thread::spawn(move || entry.attachment(0).count_taken(1))
        });
        wait_for_two(&entry, found);
        for subscription in subscriptions {
            subscription.join().unwrap();
        }
    });
}

/// A publisher that waits for room is woken even if its slot is immediately given to another
/// publisher.
#[test]
fn a_publisher_that_waits_for_room_wakes_when_the_attachment_ends() {
    explore(|| {
        let (entry, found) = attached_entry();
        let subscription = {
            let entry = entry.clone();
            thread::spawn(move || {
                entry.attachment(0).release();
                entry.attachment(0).attach(OTHER, 1);
            })
        };
        assert_eq!(entry.attachment(0).wait(found, 0, None), Room::Detached);
        subscription.join().unwrap();
    });
}

/// All words that a publisher reads belong to the same attachment, never partly to the next
/// attachment.
#[test]
fn attachments_that_change_hands_are_not_mixed_up() {
    explore(|| {
        let (entry, generation) = open_entry();
        entry.attachment(0).attach(PUBLISHER, 10);
        entry.attachment(0).count_taken(1);
        let subscription = {
            let entry = entry.clone();
            thread::spawn(move || {
                entry.attachment(0).release();
                entry.attachment(0).attach(OTHER, 20);
                entry.attachment(0).count_taken(4);
            })
        };
        if let Some(found) = entry.find(generation, PUBLISHER) {
            assert_eq!(found.capacity, 10);
            assert!(matches!(entry.attachment(0).taken(found), Some(1) | None));
        }
        if let Some(found) = entry.find(generation, OTHER) {
            assert_eq!(found.capacity, 20);
            assert!(matches!(entry.attachment(0).taken(found), Some(0 | 4)));
        }
        subscription.join().unwrap();
    });
}

/// A late publisher neither rings the next user of the entry, nor mistakes it for the user that the
/// publisher knows.
#[test]
fn an_entry_that_changes_hands_is_empty_for_whoever_knew_the_former_user() {
    explore(|| {
        let (entry, former) = open_entry();
        let slot = Slot::new(1).unwrap();
        entry.set_place(Some(Place { doorbell: Some(1), slot }));
        let subscription = {
            let entry = entry.clone();
            thread::spawn(move || {
                entry.close();
                let generation = entry.open();
                entry.set_place(Some(Place { doorbell: Some(2), slot }));
                generation
            })
        };
        assert!(matches!(entry.place(former), Some((1, _)) | None));
        let present = subscription.join().unwrap();
        assert_eq!(entry.place(former), None);
        assert_eq!(entry.place(present), Some((2, slot)));
    });
}
