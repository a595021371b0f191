//! A replacement for the futex under loom. Like the kernel, it compares the word and goes to sleep
//! in one atomic step, under a lock that the waking thread also takes. It adds no other ordering
//! between threads, and has no timeouts.

use crate::{AtomicU32, Ordering, Sharing};
use loom::sync::{Condvar, Mutex};
use std::time::Duration;

/// Like the futex of Linux.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    queue: Mutex<()>,
    wake_up: Condvar,
}

#[allow(missing_docs, reason = "as the futex of Linux")]
impl Futex {
    pub fn new(value: u32) -> Self {
        Self { word: AtomicU32::new(value), queue: Mutex::new(()), wake_up: Condvar::new() }
    }

    pub fn load(&self, order: Ordering) -> u32 {
        self.word.load(order)
    }

    pub fn store(&self, value: u32, order: Ordering) {
        self.word.store(value, order);
    }

    pub fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.word.swap(value, order)
    }

    pub fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        self.word.fetch_add(value, order)
    }

    pub fn replace(&self, from: u32, to: u32, order: Ordering) -> bool {
        self.word.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
    }

    pub fn wait(&self, expected: u32, _: Sharing, timeout: Option<Duration>) {
        assert!(timeout.is_none(), "loom knows no time");
        let queue = self.queue.lock().expect("loom poisons nothing");
        if self.word.load(Ordering::Relaxed) == expected {
            drop(self.wake_up.wait(queue).expect("loom poisons nothing"));
        }
    }

    pub fn wake_one(&self, _: Sharing) {
        let _queue = self.queue.lock().expect("loom poisons nothing");
        self.wake_up.notify_one();
    }

    pub fn wake_all(&self, _: Sharing) {
        let _queue = self.queue.lock().expect("loom poisons nothing");
        self.wake_up.notify_all();
    }
}
