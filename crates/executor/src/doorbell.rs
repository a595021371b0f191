//! The doorbell: where an executor sleeps, and the ready flags that tell it why it was woken.
//!
//! Two levels of bits (one summary word over 64 words of flags) make "which flag is set next" a matter of two loads
//! and two bit scans, whatever the number of slots in use. The struct holds atomics only and has a fixed layout, so
//! that it can be mapped from shared memory by other processes, whose flags are hints to be checked, never trusted.

use crate::sync::futex::Futex;
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

// Loom pays for every atomic object, and two words show all that 64 can show.
#[cfg(not(loom))]
const WORDS: usize = 64;
#[cfg(loom)]
const WORDS: usize = 2;

/// Number of slots, hence of entities, that one doorbell serves.
pub const CAPACITY: usize = WORDS * 64;

const AWAKE: u32 = 0;
const SLEEPING: u32 = 1;

/// The number of one ready flag, below [`CAPACITY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// The slot of this number, or `None` if it is not below [`CAPACITY`].
    pub fn new(index: usize) -> Option<Self> {
        u16::try_from(index).ok().filter(|_| index < CAPACITY).map(Self)
    }

    /// The slot's number.
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// The slot after this one; after the last comes the first.
    pub fn next(self) -> Self {
        Self(((self.index() + 1) % CAPACITY) as u16)
    }

    fn word(self) -> usize {
        self.index() / 64
    }

    fn bit(self) -> u64 {
        1 << (self.index() % 64)
    }
}

/// Who may sleep on and ring a doorbell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Threads of one process: the kernel finds the sleeper by the virtual address, which is cheaper.
    Process,
    /// Threads of any process that maps the doorbell.
    Host,
}

/// A futex word and [`CAPACITY`] ready flags. Many threads ring, one thread sleeps.
///
/// # Why no wake-up is lost
///
/// The ringer writes flag and summary, then reads the bell; the sleeper writes the bell, then reads the summary. With a
/// sequentially consistent fence between the two steps on each side, at least one of them sees the other: either
/// the sleeper finds the summary set and does not sleep, or the ringer finds it asleep and wakes it. The kernel
/// closes the remaining gap, between the sleeper's last look and its sleep: it does not sleep if the bell has changed.
///
/// # When a ringing process is killed
///
/// Killed between flag and summary: the next ring of any thread on the same flag completes the work. Killed between
/// changing the bell and the system call that wakes the sleeper: the sleeper oversleeps until its next timeout. Whoever
/// lets other processes ring has to ring after noticing such a death, as it has to do anyway to report the loss.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Doorbell {
    bell: Futex,
    /// 1 where other processes may take part; never changed after construction.
    shared: AtomicU32,
    /// Bit `w` is set whenever word `w` of the flags is not zero, and sometimes (until noticed) when it is.
    summary: AtomicU64,
    flags: [AtomicU64; WORDS],
}

impl Doorbell {
    /// A doorbell with no flag set.
    pub fn new(scope: Scope) -> Self {
        Self {
            bell: Futex::new(AWAKE),
            shared: AtomicU32::new((scope == Scope::Host).into()),
            summary: AtomicU64::new(0),
            flags: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Sets the flag of `slot` and wakes the sleeper if it sleeps. Everything the caller wrote before is visible to
    /// the thread that takes the flag, also when the flag was set already.
    ///
    /// Never blocks and never allocates; at most one system call, none if nobody sleeps. May be called in a signal
    /// handler.
    pub fn ring(&self, slot: Slot) {
        let summary_bit = 1 << slot.word();
        // An RMW even when the flag is set already: it is what publishes the caller's writes to the taker.
        let before = self.flags[slot.word()].fetch_or(slot.bit(), Ordering::AcqRel);
        // The ringer that set the flag completes the work below, unless it was killed on the way: so this look at both
        // words is not needed for correctness among the living, and plain loads suffice.
        if before & slot.bit() != 0
            && self.summary.load(Ordering::Relaxed) & summary_bit != 0
            && self.bell.load(Ordering::Relaxed) != SLEEPING
        {
            return;
        }
        // An RMW and not "load, then store if needed": `settle` relies on one total order of changes of the summary.
        self.summary.fetch_or(summary_bit, Ordering::AcqRel);
        self.wake();
    }

    /// Wakes the sleeper; to be called after a change that the sleeper will find.
    fn wake(&self) {
        fence(Ordering::SeqCst); // pairs with the fence in `wait`
        if self.bell.load(Ordering::Relaxed) == SLEEPING
            // Of several ringers the one that changes the bell makes the system call.
            && self.bell.compare_exchange(SLEEPING, AWAKE, Ordering::Relaxed).is_ok()
        {
            self.bell.wake(self.is_private());
        }
    }

    /// Clears the flag and tells whether it was set. True for exactly one of several threads that try at once.
    /// What the ringers wrote before ringing is visible afterwards.
    pub fn take(&self, slot: Slot) -> bool {
        let flags = &self.flags[slot.word()];
        // A look without writing keeps the cache line shared; missing a concurrent ring is no loss, its flag stays.
        if flags.load(Ordering::Relaxed) & slot.bit() == 0 {
            return false;
        }
        let before = flags.fetch_and(!slot.bit(), Ordering::AcqRel);
        if before == slot.bit() {
            self.settle(slot.word());
        }
        before & slot.bit() != 0
    }

    /// Whether the flag is set at this moment.
    pub fn is_set(&self, slot: Slot) -> bool {
        self.flags[slot.word()].load(Ordering::Acquire) & slot.bit() != 0
    }

    /// The first slot from `start` on, cyclically, whose flag is set and whose bit in `mask` is set too (no mask: all).
    /// Constant time in the number of slots in use.
    pub(crate) fn first_set(&self, start: Slot, mask: Option<&SlotSet>) -> Option<Slot> {
        let from_start = u64::MAX << (start.index() % 64);
        let mut candidates = self.summary.load(Ordering::Acquire);
        // The start's word is visited twice: first its upper part, then, after all others, the rest.
        if candidates & (1 << start.word()) != 0
            && let Some(slot) = self.first_in_word(start.word(), from_start, mask)
        {
            return Some(slot);
        }
        candidates = candidates.rotate_right((start.word() as u32 + 1) % 64);
        while candidates != 0 {
            let word = (start.word() + 1 + candidates.trailing_zeros() as usize) % 64;
            let wanted = if word == start.word() { !from_start } else { u64::MAX };
            if word < WORDS
                && let Some(slot) = self.first_in_word(word, wanted, mask)
            {
                return Some(slot);
            }
            candidates &= candidates - 1;
        }
        None
    }

    fn first_in_word(&self, word: usize, wanted: u64, mask: Option<&SlotSet>) -> Option<Slot> {
        let flags = self.flags[word].load(Ordering::Acquire);
        if flags == 0 {
            self.settle(word); // else a summary bit over nothing would keep the sleeper from sleeping
            return None;
        }
        let found = flags & wanted & mask.map_or(u64::MAX, |mask| mask.0[word]);
        (found != 0).then(|| Slot((word * 64 + found.trailing_zeros() as usize) as u16))
    }

    /// Clears the summary bit of a word that was seen to be zero, and sets it again if a flag came in between.
    ///
    /// A ringer changes flag, then summary; this changes the summary, then looks at the flags. Both changes of the
    /// summary are read-modify-writes, so one comes first: if the ringer's, it is acquired here and the flag is seen; if
    /// this one, the ringer sets the bit anew.
    fn settle(&self, word: usize) {
        self.summary.fetch_and(!(1 << word), Ordering::AcqRel);
        if self.flags[word].load(Ordering::Acquire) != 0 {
            self.summary.fetch_or(1 << word, Ordering::AcqRel);
        }
    }

    /// Sleeps until a flag is set, at most for `timeout`; returns at once if one is set already. May return early
    /// without reason: the caller looks at the flags and its clock again. One thread at a time.
    pub fn wait(&self, timeout: Option<Duration>) {
        self.bell.store(SLEEPING, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence in `wake`
        if self.summary.load(Ordering::Relaxed) == 0 {
            self.bell.wait(SLEEPING, self.is_private(), timeout);
        }
        // A ringer that still reads SLEEPING after this makes one needless system call at worst.
        self.bell.store(AWAKE, Ordering::Relaxed);
    }

    /// A copy of all flags.
    pub(crate) fn snapshot(&self) -> SlotSet {
        SlotSet(std::array::from_fn(|word| self.flags[word].load(Ordering::Acquire)))
    }

    fn is_private(&self) -> bool {
        self.shared.load(Ordering::Relaxed) == 0
    }
}

/// A set of slots, of fixed size and without allocation.
#[derive(Debug, Clone)]
pub(crate) struct SlotSet([u64; WORDS]);

impl SlotSet {
    pub(crate) fn all() -> Self {
        Self([u64::MAX; WORDS])
    }

    pub(crate) fn contains(&self, slot: Slot) -> bool {
        self.0[slot.word()] & slot.bit() != 0
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        self.0[slot.word()] &= !slot.bit();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;
