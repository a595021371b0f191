//! Tests leader and followers under every interleaving that loom explores. A ring that no thread
//! notices shows up as a deadlock.

#![allow(clippy::unwrap_used)]

use super::*;
use feros_doorbell::Slot;
use feros_sync::{Condvar, Ordering};
use loom::sync::atomic::AtomicUsize;
use loom::thread;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

/// The ready slots, in the order of their rings.
#[derive(Default)]
struct Queue(Vec<Slot>);

impl Work for Queue {
    fn has_ready(&self) -> bool {
        !self.0.is_empty()
    }
}

struct Threads {
    ready_set: Arc<ReadySet>,
    shared: LeaderFollowers<Queue>,
    /// The number of executions that have begun.
    begun: Mutex<usize>,
    all_have_begun: Condvar,
    expected: usize,
}

impl Threads {
    fn new(ready_set: ReadySet, expected: usize) -> Arc<Self> {
        let ready_set = Arc::new(ready_set);
        let shared = LeaderFollowers::new(ready_set.clone(), Queue::default());
        let (begun, all_have_begun) = (Mutex::new(0), Condvar::new());
        Arc::new(Self { ready_set, shared, begun, all_have_begun, expected })
    }

    /// Does the same as `Spinner::shared_turn`, until all expected executions have begun. With
    /// `blocks`, the first callback does not end before the last callback has begun, so another
    /// thread has to execute the last callback.
    fn run(&self, blocks: bool, next_deadline: NextDeadline<'_>) {
        loop {
            let mut state = self.shared.lock();
            if state.is_stopping() {
                return;
            }
            self.ready_set.drain(|slot| state.0.push(slot));
            if state.0.is_empty() {
                self.shared.wait(state, &Wait { until: None, has_condition: false }, next_deadline);
                continue;
            }
            state.0.remove(0);
            self.shared.before_execution(&state, false, next_deadline);
            drop(state);
            let mut begun = self.begun.lock();
            *begun += 1;
            if *begun == self.expected {
                drop(begun);
                self.all_have_begun.notify_one();
                self.shared.stop();
            } else if blocks {
                while *begun < self.expected {
                    begun = self.all_have_begun.wait(begun);
                }
            }
        }
    }
}

fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Runs two threads, while another thread rings twice. With `blocks`, the second callback has to
/// run before the first callback has ended.
fn two_rings_to_two_threads(blocks: bool) {
    explore(2, move || {
        let threads = Threads::new(ReadySet::private(), 2);
        let ringer = {
            let ready_set = threads.ready_set.clone();
            thread::spawn(move || {
                ready_set.ring(slot(3));
                ready_set.ring(slot(4));
            })
        };
        let worker = {
            let threads = threads.clone();
            thread::spawn(move || threads.run(blocks, &|| None))
        };
        threads.run(blocks, &|| None);
        worker.join().unwrap();
        ringer.join().unwrap();
        assert_eq!(*threads.begun.lock(), 2);
    });
}

#[test]
fn both_threads_end_when_all_is_done() {
    two_rings_to_two_threads(false);
}

#[test]
fn a_ring_during_a_callback_wakes_the_other_thread() {
    two_rings_to_two_threads(true);
}

/// The leader sleeps at the shared doorbell, while the follower sleeps elsewhere. Both this process
/// and another process ring.
#[test]
fn rings_of_another_process_are_heard_by_two_threads() {
    explore(2, || {
        let memory = std::sync::Arc::new(feros_doorbell::Doorbell::new());
        let ready_set = ReadySet::shared_at(memory.clone());
        ready_set.begin_sharing();
        let threads = Threads::new(ready_set, 2);
        let ringer = {
            let ready_set = threads.ready_set.clone();
            thread::spawn(move || {
                memory.ring(slot(70));
                ready_set.ring(slot(3));
            })
        };
        let worker = {
            let threads = threads.clone();
            thread::spawn(move || threads.run(true, &|| None))
        };
        threads.run(true, &|| None);
        worker.join().unwrap();
        ringer.join().unwrap();
    });
}

/// The thread that has a condition gets a notification, whether it is about to sleep or already
/// asleep.
#[test]
fn a_notification_reaches_the_thread_with_a_condition() {
    explore(3, || {
        let threads = Threads::new(ReadySet::private(), 1);
        let done = Arc::new(AtomicUsize::new(0));
        let worker = {
            let (threads, done) = (threads.clone(), done.clone());
            thread::spawn(move || {
                done.store(1, Ordering::Relaxed);
                threads.shared.notify_condition(&mut threads.shared.lock());
            })
        };
        while done.load(Ordering::Relaxed) == 0 {
            let state = threads.shared.lock();
            threads.shared.wait(state, &Wait { until: None, has_condition: true }, &|| None);
        }
        worker.join().unwrap();
    });
}
