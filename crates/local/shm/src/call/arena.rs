//! The memory of the messages of one direction: a circular buffer of bytes. Each message is
//! contiguous, and messages are freed in the order in which they were placed.
//!
//! The sender records the ranges in its own memory, where no other process can change them.

use std::collections::VecDeque;
use std::ops::Range;

use super::layout::{ARENA_BYTES, MAX_WAITING};

/// The alignment of messages, which is a cache line.
const ALIGNMENT: usize = 64;

/// The ranges of the messages of one direction that have not been taken yet. The oldest range is
/// first.
#[derive(Debug)]
pub(super) struct Arena(VecDeque<Range<usize>>);

impl Arena {
    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(MAX_WAITING))
    }

    /// The number of messages that have not been taken yet.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Reserves a range for one more message. Returns `None` if there is no room until other
    /// messages are taken.
    pub(super) fn place(&mut self, size_bytes: usize) -> Option<Range<usize>> {
        let room = size_bytes.max(1).checked_next_multiple_of(ALIGNMENT)?;
        let start = match (self.0.front(), self.0.back()) {
            (Some(oldest), Some(newest)) if newest.start >= oldest.start => {
                // The range is after the newest message. If it does not fit there, it is before the
                // oldest message.
                let behind = ARENA_BYTES - newest.end >= room;
                let before = oldest.start >= room;
                if behind {
                    newest.end
                } else if before {
                    0
                } else {
                    return None;
                }
            }
            (Some(oldest), Some(newest)) => {
                (oldest.start - newest.end >= room).then_some(newest.end)?
            }
            // The arena is empty, so the range begins at the start of the arena, where there is
            // already memory.
            _ => (room <= ARENA_BYTES).then_some(0)?,
        };
        self.0.push_back(start..start + room);
        Some(start..start + size_bytes)
    }

    /// Frees the range of the newest message, which was not sent.
    pub(super) fn take_back(&mut self) {
        self.0.pop_back();
    }

    /// Frees the ranges of all messages except the newest `waiting` messages.
    pub(super) fn keep_newest(&mut self, waiting: usize) {
        while self.0.len() > waiting {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_message_alone_begins_where_there_is_memory_already() {
        let mut arena = Arena::new();
        for _ in 0..3 {
            assert_eq!(arena.place(100), Some(0..100));
            arena.keep_newest(0);
        }
        assert_eq!(arena.place(ARENA_BYTES), Some(0..ARENA_BYTES));
        assert_eq!(arena.place(1), None, "it is full");
        arena.keep_newest(0);
        assert_eq!(arena.place(ARENA_BYTES + 1), None);
        assert_eq!(arena.place(usize::MAX), None);
        assert_eq!(arena.len(), 0);
    }

    #[test]
    fn messages_that_wait_never_overlap() {
        let mut arena = Arena::new();
        let mut waiting: VecDeque<Range<usize>> = VecDeque::new();
        let mut random = 7_u64;
        for round in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let size = (random >> 33) as usize % (ARENA_BYTES / 3);
            if let Some(place) = arena.place(size) {
                assert!(place.end <= ARENA_BYTES && place.len() == size, "round {round}");
                let overlaps =
                    |other: &Range<usize>| place.start < other.end && other.start < place.end;
                assert!(!waiting.iter().any(overlaps), "round {round}: {place:?} {waiting:?}");
                waiting.push_back(place);
            } else {
                assert!(!waiting.is_empty(), "round {round}: {size} bytes fit into an empty arena");
            }
            let keep = (random >> 20) as usize % 5;
            if random.is_multiple_of(3) {
                arena.keep_newest(keep);
                waiting.drain(..waiting.len().saturating_sub(keep));
            }
            assert_eq!(arena.len(), waiting.len());
        }
    }
}
