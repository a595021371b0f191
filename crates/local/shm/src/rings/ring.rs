//! The rings (queues with fixed slots) through which a publisher sends messages to one subscription
//! and gets back their memory.
//!
//! ```text
//!                 sent: at most `depth`; the oldest makes room
//!   publisher  --------------------------------------------------> subscription
//!              <--------------------------------------------------
//!                 returned: all that the subscription ever has fits in
//! ```
//!
//! Each ring has one side that writes and one side that reads. Only the position `read` of the
//! first ring is moved by both sides: the subscription moves it when it takes the oldest message,
//! and the publisher moves it when it pushes that message out of a full ring. The side that moves
//! `read` past a message owns that message. A slot is overwritten only after `read` has passed it.
//!
//! The rings lie in shared memory, where other processes can write. So each side keeps its own
//! position in its own memory, and accepts the other side's position only if it is possible.
//! Messages are numbers, which are returned unchecked; the caller must check them.

use feros_sync::{AtomicU64, Ordering};

/// How many times a subscription tries again while a publisher pushes messages out of the full
/// ring. If the publisher interferes more often, its positions count as impossible.
#[cfg(not(loom))]
const MOST_LOOKS: usize = 1000;
#[cfg(loom)]
const MOST_LOOKS: usize = 4;

/// The positions of both rings. Each position counts up from zero. All words are zero before the
/// first use.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Positions {
    /// The number of messages that the publisher has sent.
    written: AtomicU64,
    /// The number of messages that have been taken or pushed out.
    read: AtomicU64,
    /// The number of messages that the subscription has returned.
    returned: AtomicU64,
    /// 1 once the publisher sends through other rings.
    is_replaced: AtomicU64,
    /// 1 once the subscription has left.
    is_left: AtomicU64,
}

impl Positions {
    pub(crate) fn new() -> Self {
        let words = [(); 5].map(|()| AtomicU64::new(0));
        let [written, read, returned, is_replaced, is_left] = words;
        Self { written, read, returned, is_replaced, is_left }
    }

    /// Records that the subscription has left. Called by the process that removes the subscription.
    pub(crate) fn leave(&self) {
        self.is_left.store(1, Ordering::Release);
    }
}

/// The error for impossible positions, which another process must have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nonsense;

/// The number of slots of both rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// The limit on messages that have been sent and not taken.
    depth: usize,
    sent: usize,
    returned: usize,
}

impl Size {
    /// The size for at most `depth` waiting messages and `views` messages that the subscription
    /// holds.
    pub(crate) fn new(depth: usize, views: usize) -> Self {
        // The publisher may find one more returned message: a message that was taken and returned
        // between the publisher's last [`Ring::reclaim`] and its next message.
        let returned = depth.saturating_add(views).saturating_add(1);
        Self { depth, sent: depth.next_power_of_two(), returned: returned.next_power_of_two() }
    }

    /// The total number of slots of both rings.
    pub(crate) fn places(self) -> usize {
        self.sent + self.returned
    }
}

/// The two rings, as they lie in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring<'a> {
    positions: &'a Positions,
    depth: u64,
    sent: &'a [AtomicU64],
    returned: &'a [AtomicU64],
}

impl<'a> Ring<'a> {
    /// Makes rings from their memory. Returns `None` if there are not enough slots.
    pub(crate) fn new(
        positions: &'a Positions,
        places: &'a [AtomicU64],
        size: Size,
    ) -> Option<Self> {
        let (sent, rest) = places.split_at_checked(size.sent)?;
        Some(Self {
            positions,
            depth: size.depth as u64,
            sent,
            returned: rest.get(..size.returned)?,
        })
    }

    /// Whether there may be a message to take.
    pub(crate) fn has_message(&self) -> bool {
        let Positions { written, read, .. } = self.positions;
        written.load(Ordering::Acquire) != read.load(Ordering::Relaxed)
    }

    /// Records that later messages are sent through other rings, which must already exist. Only for
    /// the publisher.
    pub(crate) fn replace(&self) {
        self.positions.is_replaced.store(1, Ordering::Release);
    }

    /// Whether other rings have replaced these. Check this before searching for the other rings.
    pub(crate) fn is_replaced(&self) -> bool {
        self.positions.is_replaced.load(Ordering::Acquire) != 0
    }

    /// Whether the subscription has recorded that it has left.
    pub(crate) fn is_left(&self) -> bool {
        self.positions.is_left.load(Ordering::Relaxed) != 0
    }

    /// Sends a message; `written` is the publisher's own position. Returns the message that was
    /// pushed out of a full ring, if any. Only for the publisher.
    pub(crate) fn push(&self, written: &mut u64, message: u64) -> Result<Option<u64>, Nonsense> {
        let read = self.positions.read.load(Ordering::Acquire);
        let waiting = written.wrapping_sub(read);
        if waiting > self.depth {
            return Err(Nonsense);
        }
        let pushed_out = if waiting == self.depth { self.push_out(read) } else { None };
        place(self.sent, *written).store(message, Ordering::Relaxed);
        *written = written.wrapping_add(1);
        self.positions.written.store(*written, Ordering::Release);
        Ok(pushed_out)
    }

    /// Pushes out the oldest message and returns it, or returns `None` if the subscription has
    /// taken the message in the meantime.
    fn push_out(&self, read: u64) -> Option<u64> {
        let oldest = place(self.sent, read).load(Ordering::Relaxed);
        self.pass(read).then_some(oldest)
    }

    /// Moves `read` forward by one. Returns false if the other side has already moved `read`.
    fn pass(&self, read: u64) -> bool {
        let (next, position) = (read.wrapping_add(1), &self.positions.read);
        position.compare_exchange(read, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes the oldest message. Only for the subscription.
    pub(crate) fn take(&self) -> Result<Option<u64>, Nonsense> {
        for _ in 0..MOST_LOOKS {
            let read = self.positions.read.load(Ordering::Acquire);
            let waiting = self.positions.written.load(Ordering::Acquire).wrapping_sub(read);
            if waiting == 0 {
                return Ok(None);
            }
            // More messages seem to wait than fit into the ring, so the publisher has pushed out a
            // message between the two reads. Try again.
            if waiting <= self.depth {
                let oldest = place(self.sent, read).load(Ordering::Relaxed);
                if self.pass(read) {
                    return Ok(Some(oldest));
                }
            }
        }
        Err(Nonsense)
    }

    /// Returns to the publisher a message that the subscription has taken; `returned` is the
    /// subscription's own position. Only for the subscription.
    pub(crate) fn give_back(&self, returned: &mut u64, message: u64) {
        place(self.returned, *returned).store(message, Ordering::Relaxed);
        *returned = returned.wrapping_add(1);
        self.positions.returned.store(*returned, Ordering::Release);
    }

    /// Takes back a message that the subscription has returned; `reclaimed` is the publisher's own
    /// position. Before each [`push`](Self::push), call this until it returns `None`, so that there
    /// is always room for returned messages. Only for the publisher.
    pub(crate) fn reclaim(&self, reclaimed: &mut u64) -> Result<Option<u64>, Nonsense> {
        let waiting = self.positions.returned.load(Ordering::Acquire).wrapping_sub(*reclaimed);
        if waiting == 0 {
            return Ok(None);
        }
        if waiting > self.returned.len() as u64 {
            return Err(Nonsense);
        }
        let message = place(self.returned, *reclaimed).load(Ordering::Relaxed);
        *reclaimed = reclaimed.wrapping_add(1);
        Ok(Some(message))
    }
}

/// The slot for a position. The number of slots is a power of two.
fn place(places: &[AtomicU64], position: u64) -> &AtomicU64 {
    &places[position as usize & (places.len() - 1)]
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;
