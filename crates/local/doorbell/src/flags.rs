//! Ready flags, one bit for each slot, and a summary of the flags.
//!
//! The bits have two levels: one summary word, and 64 words of flags. Because of this, the cost
//! of finding the set flags does not depend on the number of slots in use. The struct consists of
//! atomics and has a fixed layout, so it can lie in shared memory. No matter what values its words
//! have, no function here panics or loops for long.

use feros_sync::{AtomicU64, Ordering};

// With loom, there are only two words, because loom takes longer for every atomic object, and two
// words behave like 64 words.
#[cfg(not(loom))]
pub(crate) const WORDS: usize = 64;
#[cfg(loom)]
pub(crate) const WORDS: usize = 2;

/// The number of slots of a doorbell, one for each entity that it serves.
pub const CAPACITY: usize = WORDS * 64;

/// The number of one ready flag, which is below [`CAPACITY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// The slot with number zero.
    pub const FIRST: Self = Self(0);

    /// Returns the slot with this number, or `None` if the number is not below [`CAPACITY`].
    pub fn new(index: usize) -> Option<Self> {
        u16::try_from(index).ok().filter(|_| index < CAPACITY).map(Self)
    }

    /// The slot's number.
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// The slot after this slot. The last slot is followed by the first slot.
    pub fn next(self) -> Self {
        Self(((self.index() + 1) % CAPACITY) as u16)
    }

    pub(crate) fn word(self) -> usize {
        self.index() / 64
    }

    pub(crate) fn bit(self) -> u64 {
        1 << (self.index() % 64)
    }

    /// Returns the slot of a bit in a word. The caller must keep both within bounds.
    pub(crate) fn at(word: usize, bit: u32) -> Self {
        Self((word * 64) as u16 + bit as u16)
    }
}

/// [`CAPACITY`] flags. Many threads set them, and one or more threads take them.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Flags {
    /// Bit `w` is set whenever word `w` is not zero. It may remain set after word `w` has become
    /// zero, until `take` or `drain` notices this.
    pub(crate) summary: AtomicU64,
    pub(crate) words: [AtomicU64; WORDS],
}

impl Flags {
    pub(crate) fn new() -> Self {
        Self { summary: AtomicU64::new(0), words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Sets the flag. The thread that takes the flag sees everything that the caller wrote before,
    /// even if the flag was already set. Returns false if the flag and its summary bit were both
    /// already set.
    pub(crate) fn set(&self, slot: Slot) -> bool {
        // This is a read-modify-write operation even if the flag is already set, because it makes
        // the caller's writes visible to the thread that takes the flag.
        let before = self.words[slot.word()].fetch_or(slot.bit(), Ordering::AcqRel);
        let summary_bit = 1 << slot.word();
        // If another thread has set the flag, that thread will set the summary bit below, unless it
        // is killed first. The summary is checked here only for that case, so a plain load is
        // enough.
        if before & slot.bit() != 0 && self.summary.load(Ordering::Relaxed) & summary_bit != 0 {
            return false;
        }
        // This is one read-modify-write operation and not "load, then store if needed", because
        // `settle` relies on a total order of all changes to the summary.
        self.summary.fetch_or(summary_bit, Ordering::AcqRel);
        true
    }

    /// Clears the flag and returns whether it was set. If several threads call this at the same
    /// time, exactly one of them gets true. After this call, the caller sees everything that was
    /// written before the flag was set.
    pub(crate) fn take(&self, slot: Slot) -> bool {
        let flags = &self.words[slot.word()];
        // The load is first, because it keeps the cache line shared. If it misses a concurrent
        // `set`, nothing is lost, because the flag remains set.
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
    pub(crate) fn is_set(&self, slot: Slot) -> bool {
        self.words[slot.word()].load(Ordering::Acquire) & slot.bit() != 0
    }

    /// Whether no flag is set, according to the summary.
    pub(crate) fn are_clear(&self) -> bool {
        self.summary.load(Ordering::Relaxed) == 0
    }

    /// Clears the summary bit of a word that was zero when it was read. If a flag has been set in
    /// the meantime, sets the bit again.
    ///
    /// `set` changes the flag and then the summary. This function changes the summary and then
    /// reads the flags. Both changes of the summary are read-modify-write operations, so one of
    /// them is first. If the change by `set` is first, this function acquires it and sees the flag.
    /// Otherwise, `set` sets the bit again.
    fn settle(&self, word: usize) {
        self.summary.fetch_and(!(1 << word), Ordering::AcqRel);
        if self.words[word].load(Ordering::Acquire) != 0 {
            self.summary.fetch_or(1 << word, Ordering::AcqRel);
        }
    }

    /// Takes all flags that the summary shows, and passes their slots to `each`. Only one thread
    /// may call this at a time.
    ///
    /// A flag that is set while this function runs is either taken, or it was set after its word
    /// was emptied. In the second case, the thread that sets the flag then sets the summary bit,
    /// and the next call finds the flag. `each` sees everything that was written before the flags
    /// were set.
    pub(crate) fn drain(&self, mut each: impl FnMut(Slot)) {
        if self.are_clear() {
            return;
        }
        let mut summary = self.summary.swap(0, Ordering::AcqRel);
        while summary != 0 {
            let word = summary.trailing_zeros() as usize;
            summary &= summary - 1;
            if let Some(flags) = self.words.get(word) {
                let mut flags = flags.swap(0, Ordering::AcqRel);
                while flags != 0 {
                    each(Slot::at(word, flags.trailing_zeros()));
                    flags &= flags - 1;
                }
            }
        }
    }

    /// Clears all flags for a new owner. Flags that are set in the meantime may remain set.
    pub(crate) fn clear(&self) {
        // The summary is cleared first, so that a concurrent `set` leaves, at worst, a summary bit
        // without a flag.
        self.summary.store(0, Ordering::Relaxed);
        for word in &self.words {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Makes the summary show every flag, even a flag whose ringer was killed before it set the
    /// summary bit. Returns whether any flag is set.
    pub(crate) fn repair_summary(&self) -> bool {
        let mut found = 0;
        for (index, word) in self.words.iter().enumerate() {
            found |= u64::from(word.load(Ordering::Acquire) != 0) << index;
        }
        if found != 0 {
            self.summary.fetch_or(found, Ordering::AcqRel);
        }
        found != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn slot(index: usize) -> Slot {
        Slot::new(index).unwrap()
    }

    #[test]
    fn slots_end_at_the_capacity() {
        assert_eq!(Slot::new(CAPACITY), None);
        assert_eq!(Slot::new(usize::MAX), None);
        assert_eq!(slot(CAPACITY - 1).next(), slot(0));
    }

    #[test]
    fn a_flag_set_twice_is_one() {
        let flags = Flags::new();
        assert!(flags.set(slot(70)));
        assert!(!flags.set(slot(70)));
        assert!(flags.take(slot(70)));
        assert!(!flags.take(slot(70)));
        assert!(flags.are_clear());
    }

    fn drained(flags: &Flags) -> Vec<usize> {
        let mut slots = Vec::new();
        flags.drain(|slot| slots.push(slot.index()));
        slots
    }

    #[test]
    fn draining_takes_all_flags_and_leaves_none() {
        let flags = Flags::new();
        for index in [4095, 65, 0, 64] {
            flags.set(slot(index));
        }
        flags.summary.fetch_or(1 << 20, Ordering::Relaxed); // a summary bit whose word is empty
        assert_eq!(drained(&flags), [0, 64, 65, 4095]);
        assert!(
            flags.are_clear() && flags.words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
        );
        assert_eq!(drained(&flags), []);
    }

    #[test]
    fn a_flag_whose_setter_was_killed_is_completed_by_the_next_or_by_repair() {
        let flags = Flags::new();
        flags.words[3].store(1, Ordering::Relaxed); // as if the ringer had been killed before it set the summary
        assert!(flags.are_clear());
        assert!(flags.set(slot(3 * 64)), "completes the work");
        flags.summary.store(0, Ordering::Relaxed);
        assert!(flags.repair_summary());
        assert_eq!(drained(&flags), [3 * 64]);
        flags.clear();
        assert!(!flags.repair_summary());
    }
}
