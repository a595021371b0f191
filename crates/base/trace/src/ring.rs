//! A bounded ring of events. One thread writes to it and never waits. Another thread sometimes
//! reads from it.
//!
//! When the ring is full, the oldest events are overwritten and counted. A reader notices which
//! events were overwritten while it read them, and counts those events too.

use crate::event::WORDS;
use feros_sync::{AtomicU64, Ordering, fence};

type Words = [u64; WORDS];

pub(crate) struct Ring {
    slots: Box<[[AtomicU64; WORDS]]>,
    /// The number of events that have been written in total.
    written: AtomicU64,
    /// The number of events that have been read or counted as lost. Only readers use this field,
    /// and only one reader at a time.
    read: AtomicU64,
}

impl Ring {
    /// Makes a ring for `capacity` events, but for at least one event. The memory is written here,
    /// so that recording an event later causes no page fault.
    pub(crate) fn new(capacity: usize) -> Self {
        let empty = || std::array::from_fn(|_| AtomicU64::new(0));
        let slots = (0..capacity.max(1)).map(|_| empty()).collect();
        Self { slots, written: AtomicU64::new(0), read: AtomicU64::new(0) }
    }

    fn slot(&self, number: u64) -> &[AtomicU64; WORDS] {
        let index = number % self.slots.len() as u64;
        &self.slots[index as usize]
    }

    /// Writes an event. Only the thread that owns the ring may call this.
    pub(crate) fn push(&self, event: Words) {
        let number = self.written.load(Ordering::Relaxed);
        // If a reader sees a word of this event, it also sees the count that includes the event
        // before it. So the reader knows that this slot is being overwritten.
        fence(Ordering::Release);
        for (word, value) in self.slot(number).iter().zip(event) {
            word.store(value, Ordering::Relaxed);
        }
        self.written.store(number + 1, Ordering::Release);
    }

    /// Returns the events since the last call, and the number of events that were overwritten
    /// before they could be read. Only one thread at a time may call this.
    pub(crate) fn drain(&self) -> (Vec<Words>, u64) {
        let capacity = self.slots.len() as u64;
        let former = self.read.load(Ordering::Relaxed);
        let end = self.written.load(Ordering::Acquire);
        let begin = former.max(end.saturating_sub(capacity));
        let read =
            |number| std::array::from_fn(|word| self.slot(number)[word].load(Ordering::Relaxed));
        let mut events: Vec<Words> = (begin..end).map(read).collect();
        fence(Ordering::Acquire); // pairs with the fence in `push`
        let written = self.written.load(Ordering::Relaxed);
        // The writer may already be writing the next event, which is not in the count yet.
        let intact_from = (written + 1).saturating_sub(capacity);
        let torn = intact_from.saturating_sub(begin).min(end - begin);
        events.drain(..torn as usize);
        self.read.store(end, Ordering::Relaxed);
        (events, begin - former + torn)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_their_order_once() {
        let ring = Ring::new(4);
        (1..=3).for_each(|n| ring.push([n; WORDS]));
        assert_eq!(ring.drain(), (vec![[1; WORDS], [2; WORDS], [3; WORDS]], 0));
        assert_eq!(ring.drain(), (vec![], 0));
    }

    #[test]
    fn overwritten_events_are_counted() {
        let ring = Ring::new(4);
        (1..=10).for_each(|n| ring.push([n; WORDS]));
        // The oldest of the four events is discarded, because the reader cannot know whether its
        // slot is being overwritten.
        assert_eq!(ring.drain(), ((8..=10).map(|n| [n; WORDS]).collect(), 7));
        (11..=13).for_each(|n| ring.push([n; WORDS]));
        assert_eq!(ring.drain().1, 0);
    }

    #[test]
    fn a_reader_beside_a_writer_sees_whole_events_and_counts_the_rest() {
        const EVENTS: u64 = 200_000;
        let ring = Ring::new(64);
        let (mut seen, mut lost, mut last) = (0, 0, 0);
        let mut look = || {
            let (events, overwritten) = ring.drain();
            for event in &events {
                assert!(event.iter().all(|word| word == &event[0]), "torn: {event:?}");
                assert!(event[0] > last);
                last = event[0];
            }
            (seen, lost) = (seen + events.len() as u64, lost + overwritten);
            seen + lost
        };
        std::thread::scope(|scope| {
            let writer = std::thread::Builder::new().name("writes".into());
            let write = || (1..=EVENTS).for_each(|n| ring.push([n; WORDS]));
            let writer = writer.spawn_scoped(scope, write).expect("a thread");
            while !writer.is_finished() {
                look();
            }
        });
        assert_eq!(look(), EVENTS);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn no_event_is_torn_and_each_is_read_or_counted() {
        loom::model(|| {
            const EVENTS: u64 = 3;
            let ring = Arc::new(Ring::new(2));
            let writer = {
                let ring = Arc::clone(&ring);
                thread::spawn(move || (1..=EVENTS).for_each(|n| ring.push([n; WORDS])))
            };
            let look = || {
                let (events, lost) = ring.drain();
                for event in &events {
                    assert!(event.iter().all(|word| word == &event[0]), "torn: {event:?}");
                }
                events.len() as u64 + lost
            };
            let before = look();
            writer.join().expect("the writer does not panic");
            assert_eq!(before + look(), EVENTS);
        });
    }
}
