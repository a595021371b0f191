//! Doorbell and ringers under every interleaving and memory ordering that loom explores. A lost wake-up shows as a
//! deadlock, which loom reports; data read before it is visible shows in the assertions.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::ready::Ringer;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::thread;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

/// What the spinning thread does: take any flag, else sleep.
fn take_next(doorbell: &Doorbell) -> Slot {
    loop {
        if let Some(found) = doorbell.first_set(slot(0), None) {
            if doorbell.take(found) {
                return found;
            }
        } else {
            doorbell.wait(None);
        }
    }
}

/// All interleavings with at most `preemptions` forced switches; three is where such bugs show in practice, and it
/// keeps the models of three threads within seconds.
fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn two_ringers_one_sleeper(slots: [usize; 2]) {
    explore(3, move || {
        let doorbell = Arc::new(Doorbell::new(Scope::Process));
        let ringers = slots.map(|index| {
            let doorbell = Arc::clone(&doorbell);
            thread::spawn(move || doorbell.ring(slot(index)))
        });
        let mut found = [take_next(&doorbell).index(), take_next(&doorbell).index()];
        found.sort_unstable();
        assert_eq!(found, slots);
        for ringer in ringers {
            ringer.join().unwrap();
        }
        assert_eq!(doorbell.first_set(slot(0), None), None);
    });
}

#[test]
fn no_wake_up_is_lost_with_two_ringers_in_one_word() {
    two_ringers_one_sleeper([3, 4]);
}

#[test]
fn no_wake_up_is_lost_with_two_ringers_in_two_words() {
    two_ringers_one_sleeper([3, 100]);
}

#[test]
fn one_ringer_and_the_sleeper_without_any_bound() {
    loom::model(|| {
        let doorbell = Arc::new(Doorbell::new(Scope::Process));
        let ringer = {
            let doorbell = Arc::clone(&doorbell);
            thread::spawn(move || doorbell.ring(slot(5)))
        };
        assert_eq!(take_next(&doorbell), slot(5));
        ringer.join().unwrap();
    });
}

/// Two ringers of one flag: the sleeper runs once or twice, and has seen both ringers' work in the end.
#[test]
fn a_flag_set_twice_is_one_and_shows_the_work_of_both() {
    explore(3, || {
        let doorbell = Arc::new(Doorbell::new(Scope::Process));
        let work = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let ringers = [0, 1].map(|me| {
            let (doorbell, work) = (Arc::clone(&doorbell), Arc::clone(&work));
            thread::spawn(move || {
                work[me].store(1, Ordering::Relaxed); // made visible by the ring alone
                doorbell.ring(slot(3));
            })
        });
        let mut executions = 0;
        let mut done = 0;
        while done < 2 {
            assert_eq!(take_next(&doorbell), slot(3));
            executions += 1;
            done = work.iter().map(|item| item.load(Ordering::Relaxed)).sum();
        }
        assert!(executions <= 2);
        for ringer in ringers {
            ringer.join().unwrap();
        }
        assert!(executions + usize::from(doorbell.take(slot(3))) <= 2);
    });
}

/// Two threads take the same flag while it is being rung: it is had by at most one, and never lost.
#[test]
fn ring_against_two_takers() {
    explore(3, || {
        let doorbell = Arc::new(Doorbell::new(Scope::Process));
        let threads = [false, true].map(|rings| {
            let doorbell = Arc::clone(&doorbell);
            thread::spawn(move || {
                if rings {
                    doorbell.ring(slot(3));
                    false
                } else {
                    doorbell.take(slot(3))
                }
            })
        });
        let mine = doorbell.take(slot(3));
        let theirs = threads.map(|thread| thread.join().unwrap())[0];
        let left = doorbell.first_set(slot(0), None).is_some_and(|found| doorbell.take(found));
        assert_eq!(u32::from(mine) + u32::from(theirs) + u32::from(left), 1);
    });
}

/// Clearing the last flag of a word clears the summary: a ring of the neighbour flag meanwhile is not hidden.
#[test]
fn clearing_a_word_does_not_hide_its_neighbour() {
    explore(3, || {
        let doorbell = Arc::new(Doorbell::new(Scope::Process));
        doorbell.ring(slot(3));
        let ringer = {
            let doorbell = Arc::clone(&doorbell);
            thread::spawn(move || doorbell.ring(slot(4)))
        };
        assert!(doorbell.take(slot(3)));
        assert_eq!(take_next(&doorbell), slot(4));
        ringer.join().unwrap();
    });
}

/// A ring that meets the entity's move between executors arrives at the new one, whenever it happens.
#[test]
fn a_ring_survives_the_move_to_another_doorbell() {
    explore(2, || {
        let [first, second] = [(); 2].map(|()| Arc::new(Doorbell::new(Scope::Process)));
        let ringer = Ringer::new();
        let other = {
            let ringer = ringer.clone();
            thread::spawn(move || ringer.ring())
        };
        assert!(ringer.attach(&first, slot(3)));
        ringer.detach();
        assert!(ringer.attach(&second, slot(70)));
        assert_eq!(take_next(&second), slot(70));
        assert!(!first.is_set(slot(3)));
        other.join().unwrap();
    });
}
