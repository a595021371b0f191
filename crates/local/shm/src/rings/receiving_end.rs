//! A subscription's ends of the connections to one publisher. Each pool that the publisher has had
//! needs a connection of its own.

use std::ptr::NonNull;
use std::sync::Arc;

use super::connection::{NewReceiver, Rings};
use super::ring::Nonsense;
use crate::mapped_file::MappedFile;

#[derive(Debug)]
struct ReceivingEnd {
    rings: Rings,
    /// The memory of the publisher's messages. While the subscription holds at least one of these
    /// messages, the end exists and the memory remains mapped.
    memory: Arc<MappedFile>,
    number: u32,
    /// The number of messages that the subscription holds.
    held: usize,
    returned: u64,
    /// Whether the positions of the ring have been impossible. If so, this end does not take any
    /// further messages.
    is_broken: bool,
    /// Whether the subscription has already searched for the pool that replaced this end's pool.
    is_followed: bool,
}

impl ReceivingEnd {
    fn has_message(&self) -> bool {
        !self.is_broken && self.rings.get().has_message()
    }

    /// Whether this end's pool has been replaced and the subscription has not searched for the new
    /// pool yet.
    fn has_successor(&self) -> bool {
        !self.is_followed && self.rings.get().is_replaced()
    }
}

/// The ends, ordered by the age of their pools. The end of the oldest pool is first.
#[derive(Debug)]
pub(crate) struct ReceivingEnds {
    ends: Vec<ReceivingEnd>,
    /// The number of the last end that was added.
    last_number: u32,
    held: usize,
    max_held: usize,
}

/// A message that was taken, with the position that the publisher claims for it.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The number of the end through which the message arrived, counted from 1.
    pub(crate) end: u32,
    /// The offset of the message from the start of the publisher's memory.
    pub(crate) place: u64,
    /// The publisher's memory.
    pub(crate) start: NonNull<u8>,
    pub(crate) size_bytes: usize,
}

/// The reason why no message was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotTaken {
    Empty,
    /// The subscription holds the largest number of messages that it may hold.
    Crowded,
    /// The positions of a queue are impossible. The queue is not read again.
    Nonsense,
}

impl ReceivingEnds {
    pub(crate) fn new(max_held: usize) -> Self {
        Self { ends: Vec::new(), last_number: 0, held: 0, max_held }
    }

    /// Call this before iceoryx2 updates its connections.
    pub(crate) fn begin_update(&mut self) {
        for end in &mut self.ends {
            end.is_followed |= end.rings.get().is_replaced();
        }
    }

    /// Adds ends that iceoryx2 has made. Returns how many of them have no memory. Ends that
    /// iceoryx2 has ended are kept until their messages have been taken and returned.
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

    /// Whether there may be a message to take, in one of these ends or in a pool for which the
    /// subscription has not searched yet.
    pub(crate) fn have_message(&self) -> bool {
        self.ends.iter().any(|end| end.has_message() || end.has_successor())
    }

    /// Takes the oldest message of the oldest pool that has a message.
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
