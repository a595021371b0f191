//! The bounded queue of an asynchronous publisher. A push never waits: when the queue is full, its
//! oldest item is dropped.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{Condvar, Mutex};

/// A bounded queue between threads. If the queue is full, a push does not wait; the oldest item is
/// dropped.
pub struct DropOldestQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    depth: usize,
}

struct State<T> {
    items: VecDeque<T>,
    /// Whether a thread is still working on the last item that `pop` returned.
    busy: bool,
    closed: bool,
    dropped: u64,
}

impl<T> DropOldestQueue<T> {
    /// Makes a queue for at most `depth` items. A depth of 0 counts as 1.
    pub fn new(depth: usize) -> Self {
        let depth = depth.max(1);
        let state = State { items: VecDeque::new(), busy: false, closed: false, dropped: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new(), depth }
    }

    /// Appends an item. If the queue is full, drops its oldest item and counts it as dropped.
    pub fn push(&self, item: T) {
        let oldest = {
            let mut state = self.state.lock();
            let oldest =
                if state.items.len() >= self.depth { state.items.pop_front() } else { None };
            state.dropped += u64::from(oldest.is_some());
            state.items.push_back(item);
            oldest
        };
        self.changed.notify_all();
        drop(oldest); // outside the lock, because it may take long to drop an item
    }

    /// Waits for the next item. Returns `None` if the queue is closed and empty. The item counts as
    /// done when `pop` is called again.
    pub fn pop(&self) -> Option<T> {
        let mut state = self.state.lock();
        if std::mem::take(&mut state.busy) {
            self.changed.notify_all();
        }
        loop {
            if let Some(item) = state.items.pop_front() {
                state.busy = true;
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state);
        }
    }

    /// Waits until all items that were pushed are done. Returns false if the time limit is reached
    /// first.
    pub fn wait_until_done(&self, timeout: Duration) -> bool {
        let is_busy = |state: &mut State<T>| state.busy || !state.items.is_empty();
        let mut state = self.changed.wait_timeout_while(self.state.lock(), timeout, is_busy);
        !is_busy(&mut state)
    }

    /// Closes the queue. After that, `pop` returns `None` when the queue is empty.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Drops all queued items, and counts them as dropped.
    pub fn discard(&self) {
        let items = {
            let mut state = self.state.lock();
            state.dropped += state.items.len() as u64;
            std::mem::take(&mut state.items)
        };
        self.changed.notify_all();
        drop(items);
    }

    /// The number of items that were dropped without being popped.
    pub fn dropped(&self) -> u64 {
        self.state.lock().dropped
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_oldest_goes_and_is_counted() {
        let queue = DropOldestQueue::new(2);
        (0..5).for_each(|n| queue.push(n));
        assert_eq!(queue.dropped(), 3);
        queue.close();
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(3), Some(4), None));
    }

    #[test]
    fn done_means_worked_on() {
        let queue = Arc::new(DropOldestQueue::new(8));
        queue.push(1);
        assert!(!queue.wait_until_done(Duration::from_millis(1)));
        let other = queue.clone();
        let work = move || std::iter::from_fn(|| other.pop()).collect::<Vec<_>>();
        let worker = std::thread::Builder::new().name("queue-test".into()).spawn(work).unwrap();
        assert!(queue.wait_until_done(Duration::from_secs(60)));
        queue.push(2);
        queue.close();
        assert_eq!(worker.join().unwrap(), [1, 2]);
        queue.push(3);
        queue.discard();
        assert_eq!(queue.dropped(), 1);
    }
}
