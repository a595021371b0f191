//! One side of a channel. It sends its messages through its own slots and arena, and takes the
//! messages of the other side.
//!
//! # Why no message is missed
//!
//! The receiver's place is the doorbell and the slot at which the sender rings the receiver. The
//! sender counts the message and then, after a sequentially consistent fence, reads that place. The
//! receiver writes its place and then, after such a fence, looks for messages. So at least one of
//! the two sides sees what the other has written. In a full channel, the same is true for room: the
//! receiver counts the message that it has taken, and then checks whether the sender waits for
//! room; the sender writes that it waits for room, and then tries once more to send.

use std::fmt;
use std::sync::Arc;

use feros_doorbell::Place;
use feros_sync::{AtomicBool, Mutex, Ordering, fence};
use rustix::io::Errno;

use super::arena::Arena;
use super::layout::{ARENA_BYTES, Layout, MAX_WAITING, Role, Side};
use super::memory::CallMapping;
use crate::segment::entry::place;

/// The head of a message, which is known before the message's bytes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHead {
    /// The number of this request, or of the request that this response answers.
    pub number: i64,
    /// The time of sending, in nanoseconds since the epoch.
    pub stamp: i64,
    /// The size of the message.
    pub size_bytes: usize,
}

/// The reason why a message was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendToChannelError {
    /// The earlier messages, which have not been taken yet, leave no room.
    #[error(
        "{waiting} messages wait to be taken, and no room is left for {size_bytes} more bytes: at \
         most {MAX_WAITING} messages with together {ARENA_BYTES} bytes may wait"
    )]
    Busy {
        /// The number of messages that have not been taken.
        waiting: usize,
        /// The size of the message.
        size_bytes: usize,
    },
    /// The message is larger than the whole arena.
    #[error("the message has {size_bytes} bytes, more than the limit of {ARENA_BYTES}")]
    TooLarge {
        /// The size of the message.
        size_bytes: usize,
    },
    /// The system has no memory left.
    #[error(
        "the system has no memory for {size_bytes} bytes ({errno}); free some, or allow the \
         process more"
    )]
    NoMemory {
        /// The size of the message.
        size_bytes: usize,
        /// The system's error.
        errno: Errno,
    },
    /// The other side has left.
    #[error("the other side is gone")]
    Gone,
    /// The other side has written impossible values.
    #[error(transparent)]
    Scribbled(#[from] Scribbled),
    /// The function that writes the message failed.
    #[error("the message could not be serialized")]
    Aborted,
}

/// The other side's values in the channel are impossible, because they have been overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the memory of a call was overwritten ({what}), by another process of this user or by a faulty \
     process; the channel is no longer used"
)]
pub struct Scribbled {
    what: &'static str,
}

struct Outgoing {
    arena: Arena,
    sent: u64,
    /// The number of bytes from the start of the arena for which there is memory.
    present_bytes: usize,
}

/// One side of a channel. Any number of threads may use it to send and take messages.
pub(super) struct Channel {
    mapping: Arc<CallMapping>,
    index: usize,
    role: Role,
    outgoing: Mutex<Outgoing>,
    /// The number of messages that have been taken.
    incoming: Mutex<u64>,
    /// Whether the other side has written impossible values. If so, its memory is not read any
    /// longer.
    is_scribbled: AtomicBool,
}

impl Channel {
    /// Makes a side with no messages sent or taken yet.
    pub(super) fn new(mapping: Arc<CallMapping>, index: usize, role: Role) -> Self {
        let outgoing = Outgoing { arena: Arena::new(), sent: 0, present_bytes: 0 };
        let (outgoing, incoming) = (Mutex::new(outgoing), Mutex::new(0));
        let is_scribbled = AtomicBool::new(false);
        Self { mapping, index, role, outgoing, incoming, is_scribbled }
    }

    pub(super) fn layout(&self) -> &Layout {
        self.mapping.layout()
    }

    /// Whether the other side has written impossible values.
    pub(super) fn is_scribbled(&self) -> bool {
        self.is_scribbled.load(Ordering::Relaxed)
    }

    #[cold]
    fn scribbled(&self, what: &'static str) -> Scribbled {
        self.is_scribbled.store(true, Ordering::Relaxed);
        Scribbled { what }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    fn own(&self) -> &Side {
        self.layout().side(self.index, self.role)
    }

    fn others(&self) -> &Side {
        self.layout().side(self.index, self.role.other())
    }

    /// Sets the place at which the other side rings this side. After that, the caller must check
    /// for messages.
    pub(super) fn set_place(&self, place: Option<Place>) {
        self.own().place.store(place::encode(place), Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fence in `place_of_other`
    }

    /// The place at which to ring the other side, encoded as a word. Call this after sending.
    pub(super) fn place_of_other(&self) -> u64 {
        fence(Ordering::SeqCst); // pairs with the fence in `set_place`
        self.others().place.load(Ordering::Acquire)
    }

    /// Sends a message of this size. `fill` writes the message into memory that has arbitrary
    /// content. If `fill` returns `false`, nothing is sent.
    pub(super) fn send(
        &self,
        number: i64,
        stamp: i64,
        size_bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<(), SendToChannelError> {
        if size_bytes > ARENA_BYTES {
            return Err(SendToChannelError::TooLarge { size_bytes });
        }
        let mut outgoing = self.outgoing.lock();
        let taken = self.others().taken.load(Ordering::Acquire);
        let waiting = outgoing.sent.wrapping_sub(taken);
        if waiting > outgoing.arena.len() as u64 {
            return Err(self.scribbled("more messages were taken than were sent").into());
        }
        let waiting = waiting as usize;
        outgoing.arena.keep_newest(waiting);
        let busy = SendToChannelError::Busy { waiting, size_bytes };
        if waiting >= MAX_WAITING {
            return Err(busy);
        }
        let place = outgoing.arena.place(size_bytes).ok_or(busy)?;
        let written = self.write(&mut outgoing, place.start, size_bytes, fill);
        if let Err(error) = written {
            outgoing.arena.take_back();
            return Err(error);
        }
        let slot = self.own().slot(outgoing.sent);
        slot.number.store(number.cast_unsigned(), Ordering::Relaxed);
        slot.stamp.store(stamp.cast_unsigned(), Ordering::Relaxed);
        slot.offset_bytes.store(place.start as u64, Ordering::Relaxed);
        slot.size_bytes.store(size_bytes as u64, Ordering::Relaxed);
        outgoing.sent += 1;
        self.own().sent.store(outgoing.sent, Ordering::Release);
        Ok(())
    }

    fn write(
        &self,
        outgoing: &mut Outgoing,
        start: usize,
        size_bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<(), SendToChannelError> {
        let arena = Layout::arena_offset(self.index, self.role);
        let end = start + size_bytes;
        if end > outgoing.present_bytes {
            let (begin, missing) = (outgoing.present_bytes, end - outgoing.present_bytes);
            self.mapping
                .provide(arena + begin, missing)
                .map_err(|errno| SendToChannelError::NoMemory { size_bytes, errno })?;
            outgoing.present_bytes = end;
        }
        let filled = self.mapping.write(arena + start, size_bytes, fill);
        if filled { Ok(()) } else { Err(SendToChannelError::Aborted) }
    }

    /// Sets whether the other side rings this side after it has taken a message. After that, the
    /// caller must try to send.
    pub(super) fn await_room(&self, is_awaited: bool) {
        self.own().awaits_room.store(u32::from(is_awaited), Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fence in `place_of_other`
    }

    /// The place at which to ring the other side after this side has taken one of its messages,
    /// encoded as a word. It is `None` if the other side does not wait for room.
    pub(super) fn place_of_who_awaits_room(&self) -> Option<u64> {
        let place = self.place_of_other();
        (self.others().awaits_room.load(Ordering::Acquire) != 0).then_some(place)
    }

    /// Whether there may be a message to take.
    pub(super) fn may_have_message(&self) -> bool {
        let sent = self.others().sent.load(Ordering::Acquire);
        sent != self.own().taken.load(Ordering::Relaxed) && !self.is_scribbled()
    }

    /// Takes the oldest message. `take` gets the head of the message, and a function that copies
    /// the message into memory of its size.
    pub(super) fn take<T>(
        &self,
        take: impl FnOnce(MessageHead, &dyn Fn(&mut [u8])) -> T,
    ) -> Result<Option<T>, Scribbled> {
        if !self.may_have_message() {
            return Ok(None);
        }
        let mut taken = self.incoming.lock();
        let sent = self.others().sent.load(Ordering::Acquire);
        match sent.wrapping_sub(*taken) {
            0 => return Ok(None),
            waiting if waiting > MAX_WAITING as u64 => {
                return Err(self.scribbled("more messages wait than there is room for"));
            }
            _ => {}
        }
        let slot = self.others().slot(*taken);
        let number = slot.number.load(Ordering::Relaxed).cast_signed();
        let stamp = slot.stamp.load(Ordering::Relaxed).cast_signed();
        let [offset, size] = [&slot.offset_bytes, &slot.size_bytes]
            .map(|word| usize::try_from(word.load(Ordering::Relaxed)).unwrap_or(usize::MAX));
        if offset.checked_add(size).is_none_or(|end| end > ARENA_BYTES) {
            return Err(self.scribbled("a message lies outside of its memory"));
        }
        let start = Layout::arena_offset(self.index, self.role.other()) + offset;
        let read = |into: &mut [u8]| {
            let size = size.min(into.len());
            self.mapping.read(start, &mut into[..size]);
        };
        let result = take(MessageHead { number, stamp, size_bytes: size }, &read);
        *taken += 1;
        self.own().taken.store(*taken, Ordering::Release);
        Ok(Some(result))
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("index", &self.index)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}
