//! A subscription's ends of its connections to one publisher: one for each pool that the publisher
//! has had.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::connection::{NewReceiver, Rings};
use crate::ring::Nonsense;
use crate::storage::Mapping;

#[derive(Debug)]
struct ReceivingEnd {
    rings: Rings,
    /// The memory of the publisher's messages, mapped as long as one of them is held.
    memory: Arc<Mapping>,
    number: u32,
    /// The number of messages that are held.
    held: usize,
    returned: u64,
    /// The positions were nonsense, so this end takes no further messages.
    is_broken: bool,
    /// Whether the pool that replaced this one was searched for.
    is_followed: bool,
}

impl ReceivingEnd {
    fn has_message(&self) -> bool {
        !self.is_broken && self.rings.get().has_message()
    }

    /// Whether a pool that was not searched for yet has replaced this one.
    fn has_successor(&self) -> bool {
        !self.is_followed && self.rings.get().is_replaced()
    }
}

/// The ends, the oldest pool first.
#[derive(Debug)]
pub(crate) struct ReceivingEnds {
    ends: Vec<ReceivingEnd>,
    /// The number of the end that came last.
    last_number: u32,
    held: usize,
    max_held: usize,
}

/// A message that was taken, and its claimed location.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The number of the end that it came by, from 1.
    pub(crate) end: u32,
    /// The offset from the beginning of the publisher's memory.
    pub(crate) place: u64,
    /// The publisher's memory.
    pub(crate) start: NonNull<u8>,
    pub(crate) size_bytes: usize,
}

/// Why no message was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotTaken {
    Empty,
    /// The largest number of messages is held.
    Crowded,
    /// The positions of a queue are nonsense; it is not read again.
    Nonsense,
}

impl ReceivingEnds {
    pub(crate) fn new(max_held: usize) -> Self {
        Self { ends: Vec::new(), last_number: 0, held: 0, max_held }
    }

    /// To be called before iceoryx2 updates its connections.
    pub(crate) fn begin_update(&mut self) {
        for end in &mut self.ends {
            end.is_followed |= end.rings.get().is_replaced();
        }
    }

    /// Adds ends that iceoryx2 has made; returns how many of them have no memory. Ends that
    /// iceoryx2 has ended stay until their messages are taken and returned.
    pub(crate) fn update(&mut self, new: Vec<NewReceiver>) -> usize {
        self.ends.retain(|end| end.held > 0 || end.has_message() || !end.rings.have_ended());
        let mut without_memory = 0;
        for NewReceiver { connected, memory } in new {
            let Some(memory) = memory else {
                without_memory += 1;
                continue;
            };
            self.last_number += 1;
            self.ends.push(ReceivingEnd {
                rings: Rings::new(connected),
                memory,
                number: self.last_number,
                held: 0,
                returned: 0,
                is_broken: false,
                is_followed: false,
            });
        }
        without_memory
    }

    /// Whether a message may wait, here or in a pool that was not looked for yet.
    pub(crate) fn have_message(&self) -> bool {
        self.ends.iter().any(|end| end.has_message() || end.has_successor())
    }

    /// The oldest message of the oldest pool.
    pub(crate) fn take(&mut self) -> Result<Taken, NotTaken> {
        if self.held >= self.max_held {
            return Err(if self.have_message() { NotTaken::Crowded } else { NotTaken::Empty });
        }
        for end in self.ends.iter_mut().filter(|end| !end.is_broken) {
            match end.rings.get().take() {
                Ok(None) => {}
                Ok(Some(place)) => {
                    end.held += 1;
                    self.held += 1;
                    let (start, size_bytes) = (end.memory.start(), end.memory.size_bytes());
                    return Ok(Taken { end: end.number, place, start, size_bytes });
                }
                Err(Nonsense) => {
                    end.is_broken = true;
                    return Err(NotTaken::Nonsense);
                }
            }
        }
        Err(NotTaken::Empty)
    }

    /// Returns a message to its publisher.
    pub(crate) fn give_back(&mut self, number: u32, place: u64) {
        if let Some(end) = self.ends.iter_mut().find(|end| end.number == number) {
            end.rings.get().give_back(&mut end.returned, place);
            end.held -= 1;
            self.held -= 1;
        }
    }
}
