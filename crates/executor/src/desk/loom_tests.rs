//! Threads at a desk under every interleaving that loom explores: a ring that all sleep over shows
//! as a deadlock.

#![allow(clippy::unwrap_used)]

use super::*;
use feros_doorbell::Slot;
use feros_sync::Ordering;
use loom::sync::Condvar;
use loom::sync::atomic::AtomicUsize;
use loom::thread;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

/// Ready slots, in the order in which they came.
#[derive(Default)]
struct Queue(Vec<Slot>);

impl Work for Queue {
    fn has_ready(&self) -> bool {
        !self.0.is_empty()
    }
}

struct Crew {
    ready_set: Arc<ReadySet>,
    desk: Desk<Queue>,
    /// Executions that have begun.
    begun: Mutex<usize>,
    all_have_begun: Condvar,
    expected: usize,
}

impl Crew {
    fn new(ready_set: ReadySet, expected: usize) -> Arc<Self> {
        let ready_set = Arc::new(ready_set);
        let desk = Desk::new(ready_set.clone(), Queue::default());
        let (begun, all_have_begun) = (Mutex::new(0), Condvar::new());
        Arc::new(Self { ready_set, desk, begun, all_have_begun, expected })
    }

    /// What `Spin::crew_turn` does, until all that was expected has begun. With `blocks`, the first
    /// callback does not end before the last has begun: only another thread can help it.
    fn help(&self, blocks: bool, alarm: Alarm<'_>) {
        loop {
            let mut board = self.desk.lock();
            if board.is_closed() {
                return;
            }
            self.ready_set.drain(|slot| board.0.push(slot));
            if board.0.is_empty() {
                self.desk.wait(board, &Wait { until: None, hears_news: false }, alarm);
                continue;
            }
            board.0.remove(0);
            self.desk.leave(&board, false, alarm);
            drop(board);
            let mut begun = self.begun.lock();
            *begun += 1;
            if *begun == self.expected {
                drop(begun);
                self.all_have_begun.notify_one();
                self.desk.close();
            } else if blocks {
                while *begun < self.expected {
                    begun = self.all_have_begun.wait(begun).unwrap();
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

/// Two threads; somebody rings twice. With `blocks` the second callback has to run although the
/// first has not ended.
fn two_rings_to_two_threads(blocks: bool) {
    explore(2, move || {
        let crew = Crew::new(ReadySet::private(), 2);
        let ringer = {
            let ready_set = crew.ready_set.clone();
            thread::spawn(move || {
                ready_set.ring(slot(3));
                ready_set.ring(slot(4));
            })
        };
        let helper = {
            let crew = crew.clone();
            thread::spawn(move || crew.help(blocks, &|| None))
        };
        crew.help(blocks, &|| None);
        helper.join().unwrap();
        ringer.join().unwrap();
        assert_eq!(*crew.begun.lock(), 2);
    });
}

#[test]
fn both_threads_go_home_when_all_is_done() {
    two_rings_to_two_threads(false);
}

#[test]
fn a_ring_during_a_callback_wakes_the_other_thread() {
    two_rings_to_two_threads(true);
}

/// The watcher sleeps at the letter box, the follower does not; another process rings besides.
#[test]
fn rings_of_another_process_are_heard_by_a_crew() {
    explore(2, || {
        let memory = std::sync::Arc::new(crate::Doorbell::new());
        let ready_set = ReadySet::shared_at(memory.clone());
        ready_set.begin_sharing();
        let crew = Crew::new(ready_set, 2);
        let ringer = {
            let ready_set = crew.ready_set.clone();
            thread::spawn(move || {
                memory.ring(slot(70));
                ready_set.ring(slot(3));
            })
        };
        let helper = {
            let crew = crew.clone();
            thread::spawn(move || crew.help(true, &|| None))
        };
        crew.help(true, &|| None);
        helper.join().unwrap();
        ringer.join().unwrap();
    });
}

/// News for the one that waits for them arrive, whether it is about to sleep or asleep.
#[test]
fn news_reach_the_thread_that_waits_for_them() {
    explore(3, || {
        let crew = Crew::new(ReadySet::private(), 1);
        let done = Arc::new(AtomicUsize::new(0));
        let helper = {
            let (crew, done) = (crew.clone(), done.clone());
            thread::spawn(move || {
                done.store(1, Ordering::Relaxed);
                crew.desk.tell_news(&mut crew.desk.lock());
            })
        };
        while done.load(Ordering::Relaxed) == 0 {
            let board = crew.desk.lock();
            crew.desk.wait(board, &Wait { until: None, hears_news: true }, &|| None);
        }
        helper.join().unwrap();
    });
}
