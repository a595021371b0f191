//! Tests the turns of direct dispatch under loom, which tries the interleavings of the threads:
//! `RUSTFLAGS="--cfg loom" cargo test -p feros-turns-under-loom --release`.
#![cfg(all(test, loom))]
#![allow(clippy::unwrap_used)]

#[path = "../../../src/topics/subscription/turns.rs"]
mod turns;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use turns::Turns;

/// The parts of a subscription that direct dispatch uses: a queue, and a callback that threads run
/// by turns to empty the queue.
struct Subscription {
    queue: Mutex<Vec<usize>>,
    turns: Turns<Vec<usize>>,
    inside: AtomicUsize,
}

impl Subscription {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::new(Vec::new()),
            turns: Turns::new(Vec::new()),
            inside: AtomicUsize::new(0),
        })
    }

    /// Publishes a message with direct dispatch.
    fn publish(&self, message: usize) {
        self.queue.lock().unwrap().push(message);
        self.run();
    }

    fn run(&self) {
        let mut turn = self.turns.begin();
        while let Some(mut delivered) = turn {
            assert_eq!(self.inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
            delivered.append(&mut self.queue.lock().unwrap());
            self.inside.fetch_sub(1, Ordering::SeqCst);
            drop(delivered);
            turn = self.turns.begin_again();
        }
    }

    fn delivered(&self) -> Vec<usize> {
        self.turns.begin().unwrap().clone()
    }
}

/// Checks all interleavings with up to three preemptions. One run without this limit took half a
/// minute and found nothing more.
fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(check);
}

/// When all threads have returned, the queue is empty: either the thread that published last, or
/// the thread that had the worker at that time, has delivered all messages.
#[test]
fn nothing_is_left_behind() {
    model(|| {
        let subscription = Subscription::new();
        let other = subscription.clone();
        let publisher = thread::spawn(move || {
            other.publish(1);
            other.publish(2);
        });
        subscription.publish(10);
        publisher.join().unwrap();
        assert!(subscription.queue.lock().unwrap().is_empty());
        let mut delivered = subscription.delivered();
        assert!(delivered.iter().position(|n| *n == 1) < delivered.iter().position(|n| *n == 2));
        delivered.sort_unstable();
        assert_eq!(delivered, [1, 2, 10]);
    });
}

/// Three threads publish at the same time.
#[test]
fn three_threads_take_turns() {
    model(|| {
        let subscription = Subscription::new();
        let threads: Vec<_> = (0..2)
            .map(|number| {
                let subscription = subscription.clone();
                thread::spawn(move || subscription.publish(number))
            })
            .collect();
        subscription.publish(2);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(subscription.delivered().len(), 3);
    });
}
