//! A queue between two threads with a limit in bytes: between receiving and writing, and between
//! reading and playing. This module also has the ring of the snapshot mode, which drops the oldest
//! items when it is full.

use std::collections::VecDeque;
use std::time::Duration;

use feros_sync::{Condvar, Mutex};

/// Items with their sizes. `push` waits until the item fits, and `pop` waits for an item.
pub(crate) struct Queue<T> {
    max_bytes: usize,
    state: Mutex<State<T>>,
    has_room: Condvar,
    has_item: Condvar,
}

struct State<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    is_closed: bool,
}

/// The result of taking from a queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Popped<T> {
    Item(T),
    TimedOut,
    /// The queue is empty and closed.
    Closed,
}

impl<T> Queue<T> {
    /// Creates a queue for this many bytes; one item always fits, whatever its size.
    pub(crate) fn new(max_bytes: usize) -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, is_closed: false };
        Self {
            max_bytes,
            state: Mutex::new(state),
            has_room: Condvar::new(),
            has_item: Condvar::new(),
        }
    }

    /// Adds an item as soon as it fits; returns it if the queue is closed.
    pub(crate) fn push(&self, item: T, bytes: usize) -> Result<(), T> {
        let state = self.state.lock();
        let is_full = |state: &mut State<T>| {
            !state.is_closed
                && !state.items.is_empty()
                && state.bytes.saturating_add(bytes) > self.max_bytes
        };
        let mut state = self.has_room.wait_while(state, is_full);
        if state.is_closed {
            return Err(item);
        }
        state.bytes += bytes;
        state.items.push_back((item, bytes));
        drop(state);
        self.has_item.notify_one();
        Ok(())
    }

    /// Takes the oldest item as soon as an item is there.
    pub(crate) fn pop(&self, timeout: Duration) -> Popped<T> {
        let state = self.state.lock();
        let is_empty = |state: &mut State<T>| !state.is_closed && state.items.is_empty();
        let mut state = self.has_item.wait_timeout_while(state, timeout, is_empty);
        match state.items.pop_front() {
            Some((item, bytes)) => {
                state.bytes -= bytes;
                drop(state);
                self.has_room.notify_all();
                Popped::Item(item)
            }
            None if state.is_closed => Popped::Closed,
            None => Popped::TimedOut,
        }
    }

    /// Refuses further items; items that are in the queue can still be taken.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.has_room.notify_all();
        self.has_item.notify_all();
    }

    /// Closes the queue and drops its items; returns their number.
    pub(crate) fn abandon(&self) -> usize {
        self.close();
        let items = {
            let mut state = self.state.lock();
            state.bytes = 0;
            std::mem::take(&mut state.items)
        };
        items.len()
    }
}

/// The newest items that fit into a limit of bytes.
pub(crate) struct Ring<T> {
    max_bytes: usize,
    items: VecDeque<(T, usize)>,
    bytes: usize,
}

impl<T> Ring<T> {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, items: VecDeque::new(), bytes: 0 }
    }

    /// Adds an item, and drops the oldest items until the bytes are within the limit.
    pub(crate) fn push(&mut self, item: T, bytes: usize) {
        self.items.push_back((item, bytes));
        self.bytes += bytes;
        while self.bytes > self.max_bytes && self.items.len() > 1 {
            let Some((_, bytes)) = self.items.pop_front() else { return };
            self.bytes -= bytes;
        }
    }

    /// Takes all items, the oldest first.
    pub(crate) fn take(&mut self) -> VecDeque<(T, usize)> {
        self.bytes = 0;
        std::mem::take(&mut self.items)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::Arc;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn who_puts_in_waits_for_room() {
        let queue = Arc::new(Queue::new(10));
        queue.push(1, 100).unwrap(); // one item always fits
        let other = queue.clone();
        let pushing = feros_test_support::spawn("pushing", move || {
            other.push(2, 6)?;
            other.push(3, 6)
        });
        assert_eq!(queue.pop(feros_test_support::WATCHDOG), Popped::Item(1));
        assert_eq!(queue.pop(feros_test_support::WATCHDOG), Popped::Item(2));
        assert_eq!(pushing.join().unwrap(), Ok(()));
        assert_eq!(queue.pop(SOON), Popped::Item(3));
        assert_eq!(queue.pop(SOON), Popped::TimedOut);
        queue.push(4, 1).unwrap();
        queue.close();
        assert_eq!(queue.push(5, 1), Err(5));
        assert_eq!(queue.pop(SOON), Popped::Item(4));
        assert_eq!(queue.pop(SOON), Popped::Closed);
    }

    #[test]
    fn who_waits_is_told_that_nothing_will_come() {
        let queue = Arc::new(Queue::new(1));
        queue.push(1, 1).unwrap();
        let other = queue.clone();
        let pushing = feros_test_support::spawn("pushing", move || other.push(2, 1));
        assert!(queue.abandon() >= 1);
        let _ = pushing.join().unwrap(); // ends before or after the close, but does end
        assert_eq!(queue.push(3, 1), Err(3));
    }

    #[test]
    fn a_ring_keeps_the_newest() {
        let mut ring = Ring::new(10);
        (0..5).for_each(|number| ring.push(number, 4));
        let numbers =
            |items: VecDeque<(i32, usize)>| items.into_iter().map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(numbers(ring.take()), [3, 4]);
        ring.push(9, 100);
        assert_eq!(numbers(ring.take()), [9]);
    }
}
