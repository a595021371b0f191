//! The doorbell in one thread and, with real threads and the real futex, under load.

#![allow(clippy::unwrap_used)]

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

#[test]
fn slots_end_at_the_capacity() {
    assert_eq!(Slot::new(CAPACITY), None);
    assert_eq!(Slot::new(usize::MAX), None);
    assert_eq!(slot(CAPACITY - 1).next(), slot(0));
}

#[test]
fn a_flag_set_twice_is_one() {
    let doorbell = Doorbell::new(Scope::Process);
    doorbell.ring(slot(70));
    doorbell.ring(slot(70));
    assert!(doorbell.take(slot(70)));
    assert!(!doorbell.take(slot(70)));
    assert_eq!(doorbell.first_set(slot(0), None), None);
}

#[test]
fn scanning_from_any_start_finds_what_a_plain_search_finds() {
    let doorbell = Doorbell::new(Scope::Process);
    let set = [0, 1, 63, 64, 65, 127, 2048, 4031, 4032, 4095];
    set.iter().for_each(|&index| doorbell.ring(slot(index)));
    for start in 0..CAPACITY {
        let expected =
            set.iter().copied().min_by_key(|&index| (index + CAPACITY - start) % CAPACITY).unwrap();
        assert_eq!(doorbell.first_set(slot(start), None), Some(slot(expected)), "from {start}");
    }
}

#[test]
fn a_mask_hides_flags_without_clearing_them() {
    let doorbell = Doorbell::new(Scope::Process);
    doorbell.ring(slot(3));
    doorbell.ring(slot(300));
    let mut mask = SlotSet::all();
    mask.remove(slot(3));
    assert_eq!(doorbell.first_set(slot(0), Some(&mask)), Some(slot(300)));
    mask.remove(slot(300));
    assert_eq!(doorbell.first_set(slot(0), Some(&mask)), None);
    assert!(doorbell.is_set(slot(3)) && doorbell.is_set(slot(300)));
}

#[test]
fn waiting_returns_at_once_when_a_flag_is_set() {
    let doorbell = Doorbell::new(Scope::Process);
    doorbell.ring(slot(1));
    doorbell.wait(None); // would hang
    assert!(doorbell.take(slot(1)));
}

#[test]
fn waiting_ends_with_its_timeout_in_both_scopes() {
    for scope in [Scope::Process, Scope::Host] {
        Doorbell::new(scope).wait(Some(Duration::from_millis(1)));
    }
}

#[test]
fn the_layout_is_fixed() {
    assert_eq!(align_of::<Doorbell>(), 64);
    assert_eq!(size_of::<Doorbell>(), 576);
    assert_eq!(std::mem::offset_of!(Doorbell, bell), 0);
    assert_eq!(std::mem::offset_of!(Doorbell, summary), 8);
    assert_eq!(std::mem::offset_of!(Doorbell, flags), 16);
}

/// Each ringer waits for its flag to be taken before it rings again, so one lost wake-up hangs the test.
#[test]
fn no_ring_is_lost_between_threads() {
    const ROUNDS: usize = 20_000;
    for scope in [Scope::Process, Scope::Host] {
        let doorbell = Arc::new(Doorbell::new(scope));
        let ringers: Vec<_> = [7, 8, 900]
            .into_iter()
            .map(|index| {
                let taken = Arc::new(AtomicBool::new(true));
                let (doorbell, seen) = (Arc::clone(&doorbell), Arc::clone(&taken));
                let thread = thread::Builder::new()
                    .name(format!("ringer-{index}"))
                    .spawn(move || {
                        for _ in 0..ROUNDS {
                            while !seen.swap(false, Ordering::AcqRel) {
                                thread::yield_now();
                            }
                            doorbell.ring(slot(index));
                        }
                    })
                    .unwrap();
                (slot(index), taken, thread)
            })
            .collect();
        let mut count = 0;
        let mut cursor = slot(0);
        while count < ringers.len() * ROUNDS {
            let Some(found) = doorbell.first_set(cursor, None) else {
                doorbell.wait(None);
                continue;
            };
            assert!(doorbell.take(found));
            cursor = found.next();
            count += 1;
            let (_, taken, _) = ringers.iter().find(|(slot, ..)| *slot == found).unwrap();
            taken.store(true, Ordering::Release);
        }
        for (_, _, thread) in ringers {
            thread.join().unwrap();
        }
    }
}
