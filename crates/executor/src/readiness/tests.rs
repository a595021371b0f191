//! Rings from inside and outside with real threads and the real futex, and what a scribbling
//! stranger can do.

#![allow(clippy::unwrap_used)]

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

/// Other processes were told to ring.
fn expecting(memory: Arc<Doorbell>) -> Readiness {
    let readiness = Readiness::with_letter_box(memory);
    readiness.expect_outside();
    readiness
}

fn drained(readiness: &Readiness) -> Vec<Slot> {
    let mut slots = Vec::new();
    readiness.drain(|slot| slots.push(slot));
    slots
}

fn with_letter_box() -> (Arc<Doorbell>, Readiness) {
    let memory = Arc::new(Doorbell::new());
    (Arc::clone(&memory), expecting(memory))
}

#[test]
fn waiting_returns_at_once_when_a_flag_is_set_inside_or_outside() {
    let (memory, readiness) = with_letter_box();
    memory.ring(slot(1));
    readiness.wait(None); // would hang
    assert_eq!(drained(&readiness), [slot(1)]);
    assert!(memory.flags.are_clear());
    readiness.ring(slot(2));
    readiness.wait(None);
    assert!(readiness.take(slot(2)));
    assert_eq!(drained(&readiness), []);
}

#[test]
fn waiting_ends_with_its_timeout_with_and_without_letter_box() {
    for readiness in [Readiness::private(), with_letter_box().1] {
        readiness.wait(Some(Duration::from_millis(1)));
    }
}

#[test]
fn reused_memory_is_emptied() {
    let memory = Arc::new(Doorbell::new());
    memory.ring(slot(3));
    memory.bell.store(SLEEPING, Ordering::Relaxed);
    memory.flags.words[63].store(1, Ordering::Relaxed); // that of a ringer who was killed
    let readiness = Readiness::with_letter_box(memory.clone());
    assert!(!memory.flags.repair_summary() && !memory.may_sleep());
    assert_eq!(drained(&readiness), []);
}

/// Each ringer waits for its flag to be taken before it rings again, so one lost wake-up hangs the
/// test.
#[test]
fn no_ring_is_lost_between_threads() {
    const ROUNDS: usize = 20_000;
    for memory in [None, Some(Arc::new(Doorbell::new()))] {
        let readiness = Arc::new(match &memory {
            None => Readiness::private(),
            Some(memory) => expecting(memory.clone()),
        });
        let ringers: Vec<_> = [7, 8, 900]
            .into_iter()
            .map(|index| {
                let taken = Arc::new(AtomicBool::new(true));
                let (readiness, seen) = (Arc::clone(&readiness), Arc::clone(&taken));
                let outside = memory.clone().filter(|_| index != 8); // who rings as other processes do
                let thread = thread::Builder::new()
                    .name(format!("ringer-{index}"))
                    .spawn(move || {
                        for _ in 0..ROUNDS {
                            while !seen.swap(false, Ordering::AcqRel) {
                                thread::yield_now();
                            }
                            match &outside {
                                None => readiness.ring(slot(index)),
                                Some(memory) => memory.ring(slot(index)),
                            }
                        }
                    })
                    .unwrap();
                (slot(index), taken, thread)
            })
            .collect();
        let mut count = 0;
        while count < ringers.len() * ROUNDS {
            let before = count;
            readiness.drain(|found| {
                count += 1;
                let (_, taken, _) = ringers.iter().find(|(slot, ..)| *slot == found).unwrap();
                taken.store(true, Ordering::Release);
            });
            if count == before {
                readiness.wait(None);
            }
        }
        for (_, _, thread) in ringers {
            thread.join().unwrap();
        }
    }
}

/// Whatever the bell outside says while the executor sleeps, a ring of its own process wakes it.
#[test]
fn a_scribbled_bell_does_not_swallow_a_ring_from_inside() {
    for scribble in [AWAKE, 2, 0xdead_beef, u32::MAX] {
        let (memory, readiness) = with_letter_box();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !readiness.take(slot(3)) {
                    readiness.wait(None);
                }
            });
            while memory.bell.load(Ordering::Relaxed) != SLEEPING {
                thread::yield_now();
            }
            memory.bell.store(scribble, Ordering::Relaxed);
            readiness.ring(slot(3)); // if lost, the scope never ends
        });
    }
}

/// The executor sleeps where its own process alone finds it until an entity's place is told, and
/// again after that.
#[test]
fn the_place_to_sleep_follows_who_may_ring() {
    let memory = Arc::new(Doorbell::new());
    let readiness = Readiness::with_letter_box(memory.clone());
    thread::scope(|scope| {
        scope.spawn(|| {
            while !readiness.take(slot(5)) {
                readiness.wait(None);
                readiness.take(slot(3));
            }
        });
        let await_bells = |own, outside| {
            while [&readiness.own, &memory].map(|doorbell| doorbell.bell.load(Ordering::Relaxed))
                != [own, outside]
            {
                thread::yield_now();
            }
        };
        await_bells(SLEEPING, AWAKE);
        readiness.expect_outside();
        readiness.ring(slot(3));
        await_bells(SLEEPING_OUTSIDE, SLEEPING);
        readiness.unexpect_outside();
        memory.ring(slot(3));
        await_bells(SLEEPING, AWAKE);
        readiness.ring(slot(5));
    });
}
