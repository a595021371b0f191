//! The rings by which a publisher sends messages to one subscription and gets their memory back.
//!
//! ```text
//!                 sent: at most `depth`; the oldest makes room
//!   publisher  --------------------------------------------------> subscription
//!              <--------------------------------------------------
//!                 returned: all that the subscription ever has fits in
//! ```
//!
//! Each ring has one side that writes and one that reads. Only the position `read` of the first
//! ring is moved by both sides: by the subscription when it takes the oldest message, and by the
//! publisher when it pushes that message out of a full ring. The side that moves it owns the
//! message; a slot is overwritten only after `read` has passed it.
//!
//! All of it lies in shared memory, where other processes can write. So each side keeps its own
//! position in its own memory, accepts the other side's position only if it is possible, and treats
//! each message it reads as a claim that its caller checks.

use feros_sync::{AtomicU64, Ordering};

/// How many times a subscription tries again while a publisher pushes messages out of the full
/// ring. A publisher that interferes this many times writes nonsense rather than messages.
#[cfg(not(loom))]
const MOST_LOOKS: usize = 1000;
#[cfg(loom)]
const MOST_LOOKS: usize = 4;

/// The positions of both rings; each counts up from zero. All zero is the state before the first
/// use.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Positions {
    /// The number of messages that the publisher has sent.
    written: AtomicU64,
    /// The number of messages that were taken or pushed out.
    read: AtomicU64,
    /// The number of messages that the subscription has returned.
    returned: AtomicU64,
    /// 1 once the publisher sends by other rings.
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

    /// Notes that the subscription has left. For the process that removes it.
    pub(crate) fn leave(&self) {
        self.is_left.store(1, Ordering::Release);
    }
}

/// Impossible positions: something else has written them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nonsense;

/// The number of slots of both rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of messages that may wait.
    depth: usize,
    sent: usize,
    returned: usize,
}

impl Size {
    /// The size for `depth` messages that wait and `views` that are held.
    pub(crate) fn new(depth: usize, views: usize) -> Self {
        // One more comes back if a message is taken and returned between the publisher's last
        // [`Ring::reclaim`] and its next message.
        let returned = depth.saturating_add(views).saturating_add(1);
        Self { depth, sent: depth.next_power_of_two(), returned: returned.next_power_of_two() }
    }

    /// The slots of both rings together.
    pub(crate) fn places(self) -> usize {
        self.sent + self.returned
    }
}

/// Both rings, as they lie in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring<'a> {
    positions: &'a Positions,
    depth: u64,
    sent: &'a [AtomicU64],
    returned: &'a [AtomicU64],
}

impl<'a> Ring<'a> {
    /// `None` if there are not enough slots.
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

    /// Whether a message may wait.
    pub(crate) fn has_message(&self) -> bool {
        let Positions { written, read, .. } = self.positions;
        written.load(Ordering::Acquire) != read.load(Ordering::Relaxed)
    }

    /// Notes that later messages come by other rings, which exist already. Publisher only.
    pub(crate) fn replace(&self) {
        self.positions.is_replaced.store(1, Ordering::Release);
    }

    /// Whether other rings have replaced this one; to be checked before a search for those.
    pub(crate) fn is_replaced(&self) -> bool {
        self.positions.is_replaced.load(Ordering::Acquire) != 0
    }

    /// Whether the subscription has noted that it has left.
    pub(crate) fn is_left(&self) -> bool {
        self.positions.is_left.load(Ordering::Relaxed) != 0
    }

    /// Sends a message; `written` is the publisher's own position. Returns the message that had to
    /// make room. Publisher only.
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

    /// `None`: the subscription has just taken the oldest message.
    fn push_out(&self, read: u64) -> Option<u64> {
        let oldest = place(self.sent, read).load(Ordering::Relaxed);
        self.pass(read).then_some(oldest)
    }

    /// Moves `read` on, unless the other side was faster.
    fn pass(&self, read: u64) -> bool {
        let (next, position) = (read.wrapping_add(1), &self.positions.read);
        position.compare_exchange(read, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes the oldest message. Subscription only.
    pub(crate) fn take(&self) -> Result<Option<u64>, Nonsense> {
        for _ in 0..MOST_LOOKS {
            let read = self.positions.read.load(Ordering::Acquire);
            let waiting = self.positions.written.load(Ordering::Acquire).wrapping_sub(read);
            if waiting == 0 {
                return Ok(None);
            }
            // More than can wait: the publisher has pushed one out between the two reads.
            if waiting <= self.depth {
                let oldest = place(self.sent, read).load(Ordering::Relaxed);
                if self.pass(read) {
                    return Ok(Some(oldest));
                }
            }
        }
        Err(Nonsense)
    }

    /// Returns a message that was taken; `returned` is the subscription's own position.
    /// Subscription only.
    pub(crate) fn give_back(&self, returned: &mut u64, message: u64) {
        place(self.returned, *returned).store(message, Ordering::Relaxed);
        *returned = returned.wrapping_add(1);
        self.positions.returned.store(*returned, Ordering::Release);
    }

    /// A message that has come back; `reclaimed` is the publisher's own position. To be called
    /// until it returns `None` before each [`push`](Self::push), so that there is always room for
    /// returned messages. Publisher only.
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

/// The slot of a position; the number of slots is a power of two.
fn place(places: &[AtomicU64], position: u64) -> &AtomicU64 {
    &places[position as usize & (places.len() - 1)]
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;
