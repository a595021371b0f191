//! Tests ready sets, doorbells and ringers under every order of threads and memory accesses that
//! loom explores. A lost wake-up causes a deadlock, which loom reports. If data is not visible when
//! it should be, an assertion fails.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::ringer::Ringer;
use crate::routes::Place;
use feros_sync::AtomicU64;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::thread;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

/// The loop of a spinning thread, which takes all flags, and sleeps when no flag is set.
struct Spinner<'a> {
    ready_set: &'a ReadySet,
    ready: Vec<usize>,
}

impl<'a> Spinner<'a> {
    fn new(ready_set: &'a ReadySet) -> Self {
        Self { ready_set, ready: Vec::new() }
    }

    fn look(&mut self) {
        let ready = &mut self.ready;
        self.ready_set.drain(|slot| {
            if !ready.contains(&slot.index()) {
                ready.push(slot.index());
            }
        });
    }

    fn next(&mut self) -> usize {
        loop {
            self.look();
            if let Some(slot) = self.ready.pop() {
                return slot;
            }
            self.ready_set.wait(None);
        }
    }

    fn two(&mut self) -> [usize; 2] {
        let mut found = [self.next(), self.next()];
        found.sort_unstable();
        found
    }

    fn finds_nothing(mut self) -> bool {
        self.look();
        self.ready.is_empty()
    }
}

/// A ready set that other processes may ring.
fn expecting(memory: std::sync::Arc<Doorbell>) -> ReadySet {
    let ready_set = ReadySet::shared_at(memory);
    ready_set.begin_sharing();
    ready_set
}

/// Explores all orders of the threads with at most `preemptions` forced switches. In practice,
/// three switches are enough to show such bugs, and a model of three threads then takes seconds.
fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn two_ringers_one_sleeper(slots: [usize; 2]) {
    explore(3, move || {
        let ready_set = Arc::new(ReadySet::private());
        let ringers = slots.map(|index| {
            let ready_set = Arc::clone(&ready_set);
            thread::spawn(move || ready_set.ring(slot(index)))
        });
        let mut spinner = Spinner::new(&ready_set);
        assert_eq!(spinner.two(), slots);
        for ringer in ringers {
            ringer.join().unwrap();
        }
        assert!(spinner.finds_nothing());
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
        let ready_set = Arc::new(ReadySet::private());
        let ringer = {
            let ready_set = Arc::clone(&ready_set);
            thread::spawn(move || ready_set.ring(slot(5)))
        };
        assert_eq!(Spinner::new(&ready_set).next(), 5);
        ringer.join().unwrap();
    });
}

/// Two threads ring one flag. The sleeper runs once or twice, and in the end it has seen the data
/// of both ringers.
#[test]
fn a_flag_set_twice_is_one_and_shows_the_work_of_both() {
    explore(3, || {
        let ready_set = Arc::new(ReadySet::private());
        let work = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let ringers = [0, 1].map(|me| {
            let (ready_set, work) = (Arc::clone(&ready_set), Arc::clone(&work));
            thread::spawn(move || {
                work[me].store(1, Ordering::Relaxed); // only the ring makes this visible
                ready_set.ring(slot(3));
            })
        });
        let mut executions = 0;
        let mut done = 0;
        while done < 2 {
            assert_eq!(Spinner::new(&ready_set).next(), 3);
            executions += 1;
            done = work.iter().map(|item| item.load(Ordering::Relaxed)).sum();
        }
        assert!(executions <= 2);
        for ringer in ringers {
            ringer.join().unwrap();
        }
        assert!(executions + usize::from(ready_set.take(slot(3))) <= 2);
    });
}

/// Two threads take the same flag while a third thread rings it. At most one of them gets the flag,
/// and the flag is never lost.
#[test]
fn ring_against_two_takers() {
    explore(3, || {
        let ready_set = Arc::new(ReadySet::private());
        let threads = [false, true].map(|rings| {
            let ready_set = Arc::clone(&ready_set);
            thread::spawn(move || {
                if rings {
                    ready_set.ring(slot(3));
                    false
                } else {
                    ready_set.take(slot(3))
                }
            })
        });
        let mine = ready_set.take(slot(3));
        let theirs = threads.map(|thread| thread.join().unwrap())[0];
        let left = !Spinner::new(&ready_set).finds_nothing();
        assert_eq!(u32::from(mine) + u32::from(theirs) + u32::from(left), 1);
    });
}

/// Clearing the last flag of a word also clears the word's summary bit. This does not hide a
/// concurrent ring of another flag in the word.
#[test]
fn clearing_a_word_does_not_hide_its_neighbour() {
    explore(3, || {
        let ready_set = Arc::new(ReadySet::private());
        ready_set.ring(slot(3));
        let ringer = {
            let ready_set = Arc::clone(&ready_set);
            thread::spawn(move || ready_set.ring(slot(4)))
        };
        assert!(ready_set.take(slot(3)));
        assert_eq!(Spinner::new(&ready_set).next(), 4);
        ringer.join().unwrap();
    });
}

/// If an entity is rung while it moves between executors, the ring arrives at the new executor, no
/// matter when it happens.
#[test]
fn a_ring_survives_the_move_to_another_doorbell() {
    explore(2, || {
        let [first, second] = [(); 2].map(|()| Arc::new(ReadySet::private()));
        let ringer = Ringer::new();
        let other = {
            let ringer = ringer.clone();
            thread::spawn(move || ringer.ring())
        };
        assert!(ringer.attach(&first, slot(3)));
        ringer.detach();
        assert!(ringer.attach(&second, slot(70)));
        assert_eq!(Spinner::new(&second).next(), 70);
        assert!(!first.is_set(slot(3)));
        other.join().unwrap();
    });
}

/// A thread of this process and a thread of another process ring. The sleeper checks the flags of
/// both and sleeps on one futex.
#[test]
fn no_wake_up_is_lost_between_two_processes() {
    explore(2, || {
        let memory = std::sync::Arc::new(Doorbell::new());
        let ready_set = Arc::new(expecting(memory.clone()));
        let own = {
            let ready_set = Arc::clone(&ready_set);
            thread::spawn(move || ready_set.ring(slot(3)))
        };
        let other = thread::spawn(move || memory.ring(slot(70)));
        assert_eq!(Spinner::new(&ready_set).two(), [3, 70]);
        own.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn a_ring_of_either_process_without_any_bound() {
    for is_other_process in [false, true] {
        loom::model(move || {
            let memory = std::sync::Arc::new(Doorbell::new());
            let ready_set = Arc::new(expecting(memory.clone()));
            let work = Arc::new(AtomicUsize::new(0));
            let ringer = {
                let (ready_set, work) = (Arc::clone(&ready_set), Arc::clone(&work));
                thread::spawn(move || {
                    work.store(1, Ordering::Relaxed); // only the ring makes this visible
                    if is_other_process { memory.ring(slot(5)) } else { ready_set.ring(slot(5)) }
                })
            };
            assert_eq!(Spinner::new(&ready_set).next(), 5);
            assert_eq!(work.load(Ordering::Relaxed), 1);
            ringer.join().unwrap();
        });
    }
}

/// Two other threads ring flags of one word while the word is drained.
#[test]
fn draining_hides_no_flag_that_is_set_meanwhile() {
    explore(2, || {
        let memory = std::sync::Arc::new(Doorbell::new());
        let ready_set = expecting(memory.clone());
        let others = [3, 4].map(|index| {
            let memory = memory.clone();
            thread::spawn(move || memory.ring(slot(index)))
        });
        let mut spinner = Spinner::new(&ready_set);
        assert_eq!(spinner.two(), [3, 4]);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(spinner.finds_nothing());
    });
}

/// While an entity moves into an executor, a publisher of another process writes data, then reads
/// the entity's place (a doorbell and a slot), and rings there if there is a place. The executor
/// finds the data, either because of the publisher's ring or because of the ring of the move.
fn data_put_during_a_move_is_found(attached_before_observed: bool) {
    explore(3, move || {
        let memory = std::sync::Arc::new(Doorbell::new());
        let ready_set = Arc::new(ReadySet::shared_at(memory.clone()));
        let data = Arc::new(AtomicUsize::new(0));
        let published = Arc::new(AtomicU64::new(0)); // the slot, or zero
        let publisher = {
            let (data, published) = (Arc::clone(&data), Arc::clone(&published));
            thread::spawn(move || {
                data.store(1, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                let place = published.load(Ordering::Relaxed);
                if place != 0 {
                    memory.ring(slot(place as usize));
                }
            })
        };
        let mover = {
            let ready_set = Arc::clone(&ready_set);
            thread::spawn(move || {
                let ringer = Ringer::new();
                if attached_before_observed {
                    assert!(ringer.attach(&ready_set, slot(3)));
                }
                let observed = ringer.on_move(move |place: Option<Place>| {
                    published.store(
                        place.map_or(0, |place| place.slot.index() as u64),
                        Ordering::Relaxed,
                    );
                });
                if !attached_before_observed {
                    assert!(ringer.attach(&ready_set, slot(3)));
                }
                observed
            })
        };
        // The data is taken in every execution. After a lost wake-up, the thread would remain
        // asleep although there is data, and loom would report this.
        loop {
            assert_eq!(Spinner::new(&ready_set).next(), 3);
            if data.load(Ordering::Relaxed) == 1 {
                break;
            }
        }
        publisher.join().unwrap();
        drop(mover.join().unwrap());
    });
}

#[test]
fn data_put_while_an_observed_entity_is_attached_is_found() {
    data_put_during_a_move_is_found(false);
}

#[test]
fn data_put_while_an_attached_entity_becomes_observed_is_found() {
    data_put_during_a_move_is_found(true);
}

/// An entity joins a wait set while it is rung. Either the wait set finds the data when it checks
/// the entity, or the ring wakes the wait set.
#[test]
fn data_put_while_an_entity_joins_a_wait_set_is_found() {
    explore(3, || {
        let wait_set = Arc::new(ReadySet::private());
        let ringer = Ringer::new();
        let data = Arc::new(AtomicUsize::new(0));
        let publisher = {
            let (ringer, data) = (ringer.clone(), Arc::clone(&data));
            thread::spawn(move || {
                data.store(1, Ordering::Release);
                ringer.ring();
            })
        };
        ringer.attach_wait_set(&wait_set, Slot::FIRST);
        while data.load(Ordering::Acquire) == 0 {
            wait_set.wait(None);
            wait_set.take(Slot::FIRST);
        }
        publisher.join().unwrap();
    });
}

/// An entity of an executor joins a wait set, while the executor's thread relays a ring of another
/// process. Either the wait set finds the data when it checks the entity, or the ring wakes the
/// wait set.
#[test]
fn data_put_by_another_process_while_an_entity_joins_a_wait_set_is_found() {
    explore(3, || {
        let [executor, wait_set] = [(); 2].map(|()| Arc::new(ReadySet::private()));
        let ringer = Ringer::new();
        assert!(ringer.attach(&executor, Slot::FIRST));
        let data = Arc::new(AtomicUsize::new(0));
        let spinner = {
            let (ringer, data) = (ringer.clone(), Arc::clone(&data));
            let executor = Arc::clone(&executor);
            thread::spawn(move || {
                // The thread that takes the ring of the other process sees its data.
                data.store(1, Ordering::Relaxed);
                ringer.relay(&executor);
            })
        };
        ringer.attach_wait_set(&wait_set, Slot::FIRST);
        while data.load(Ordering::Relaxed) == 0 {
            wait_set.wait(None);
            wait_set.take(Slot::FIRST);
        }
        spinner.join().unwrap();
    });
}

/// Several threads ring at the same time. The listener gets each ring once, and only one thread
/// calls it at a time.
#[test]
fn a_listener_learns_of_each_ring_once() {
    explore(3, || {
        let ringer = Ringer::new();
        let heard = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let others = [(); 2].map(|()| {
            let ringer = ringer.clone();
            thread::spawn(move || ringer.ring())
        });
        let told = Arc::clone(&heard);
        ringer.set_listener(move |rings| {
            assert_eq!(told[1].fetch_add(1, Ordering::Relaxed), 0, "two calls at a time");
            told[0].fetch_add(rings, Ordering::Relaxed);
            told[1].fetch_sub(1, Ordering::Relaxed);
        });
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(heard[0].load(Ordering::Relaxed), 2);
        ringer.clear_listener();
    });
}
