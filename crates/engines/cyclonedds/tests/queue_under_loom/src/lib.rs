//! Tests the queue of asynchronous publishers with loom, which tries the possible orders in which
//! its threads can run. The tests are in a crate of their own so that they do not need the C
//! library: `RUSTFLAGS="--cfg loom" cargo test -p feros-cyclonedds-queue-under-loom --release`.
#![cfg(all(test, loom))]
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use feros_sync::DropOldestQueue as Queue;

const FOREVER: Duration = Duration::from_secs(1 << 30);

/// Pops messages until the queue is closed and empty.
fn popper(queue: &Arc<Queue<usize>>) -> thread::JoinHandle<Vec<usize>> {
    let queue = queue.clone();
    thread::spawn(move || std::iter::from_fn(|| queue.pop()).collect())
}

/// Pushed messages are either popped in order or counted as dropped. The newest message is never
/// dropped, and no wake-up is lost.
#[test]
fn pushed_is_popped_or_counted() {
    loom::model(|| {
        let queue = Arc::new(Queue::new(1));
        let popped = popper(&queue);
        (0..3).for_each(|item| queue.push(item));
        queue.close();
        let popped = popped.join().unwrap();
        assert!(popped.is_sorted_by(|a, b| a < b), "{popped:?}");
        assert_eq!(popped.last(), Some(&2));
        assert_eq!(popped.len() as u64 + queue.dropped(), 3);
    });
}

/// No message of two publishing threads is lost.
#[test]
fn two_pushers() {
    loom::model(|| {
        let queue = Arc::new(Queue::new(1));
        let popped = popper(&queue);
        let other = queue.clone();
        let pusher = thread::spawn(move || other.push(1));
        queue.push(2);
        pusher.join().unwrap();
        queue.close();
        assert_eq!(popped.join().unwrap().len() as u64 + queue.dropped(), 2);
    });
}

/// When the wait returns, every message that was pushed before has been processed. It is not enough
/// that the message has been popped.
#[test]
fn done_means_worked_on() {
    loom::model(|| {
        let queue = Arc::new(Queue::new(2));
        let worked_on = Arc::new(AtomicUsize::new(0));
        let (from, count) = (queue.clone(), worked_on.clone());
        let worker = thread::spawn(move || {
            while from.pop().is_some() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        queue.push(1);
        queue.push(2);
        assert!(queue.wait_until_done(FOREVER));
        assert_eq!(worked_on.load(Ordering::Relaxed), 2);
        queue.close();
        worker.join().unwrap();
    });
}

/// Discarding the queue ends the calls that wait for the queue, and the discarded messages are
/// counted.
#[test]
fn discarded_is_counted_and_ends_waiting() {
    loom::model(|| {
        let queue = Arc::new(Queue::new(2));
        queue.push(1);
        let waiting = queue.clone();
        let waiter = thread::spawn(move || waiting.wait_until_done(FOREVER));
        let popped = popper(&queue);
        queue.close();
        queue.discard();
        assert!(waiter.join().unwrap());
        assert_eq!(popped.join().unwrap().len() as u64 + queue.dropped(), 1);
    });
}
