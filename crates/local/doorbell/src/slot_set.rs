//! A set of slots for a single thread. It has two levels of bits, like the ready flags, so that
//! finding a slot takes the same time for any number of slots.

use crate::flags::{Slot, WORDS};

/// A set of slots with a fixed size, which allocates no memory.
#[derive(Debug, Clone)]
pub struct SlotSet {
    /// Bit `w` is set if word `w` is not zero.
    summary: u64,
    words: [u64; WORDS],
}

impl Default for SlotSet {
    fn default() -> Self {
        Self { summary: 0, words: [0; WORDS] }
    }
}

impl SlotSet {
    /// Inserts a slot. Returns true if the set did not contain it.
    pub fn insert(&mut self, slot: Slot) -> bool {
        let word = &mut self.words[slot.word()];
        let is_new = *word & slot.bit() == 0;
        *word |= slot.bit();
        self.summary |= 1 << slot.word();
        is_new
    }

    /// Removes a slot. Returns true if the set contained it.
    pub fn remove(&mut self, slot: Slot) -> bool {
        let word = &mut self.words[slot.word()];
        let was_there = *word & slot.bit() != 0;
        *word &= !slot.bit();
        if *word == 0 {
            self.summary &= !(1 << slot.word());
        }
        was_there
    }

    /// Whether the slot is in the set.
    pub fn contains(&self, slot: Slot) -> bool {
        self.words[slot.word()] & slot.bit() != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.summary == 0
    }

    /// Returns the first slot in the set at or after `start`. After the last slot, the search
    /// continues at the first slot.
    pub fn first_from(&self, start: Slot) -> Option<Slot> {
        let from_start = self.words[start.word()] & (u64::MAX << (start.index() % 64));
        if from_start != 0 {
            return Some(Slot::at(start.word(), from_start.trailing_zeros()));
        }
        let after = u64::MAX.checked_shl(start.word() as u32 + 1).unwrap_or(0);
        let later = self.summary & after;
        let word = if later != 0 { later } else { self.summary }.trailing_zeros() as usize;
        let bits = self.words.get(word)?;
        Some(Slot::at(word, bits.trailing_zeros()))
    }

    /// The slots of the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Slot> {
        self.words.iter().enumerate().flat_map(|(word, &bits)| {
            std::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)))
                .take_while(|&bits| bits != 0)
                .map(move |bits| Slot::at(word, bits.trailing_zeros()))
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::flags::CAPACITY;

    fn slot(index: usize) -> Slot {
        Slot::new(index).unwrap()
    }

    #[test]
    fn scanning_from_any_start_finds_what_a_plain_search_finds() {
        let members = [0, 1, 63, 64, 65, 127, 2048, 4031, 4032, 4095];
        let mut set = SlotSet::default();
        assert!(members.iter().all(|&index| set.insert(slot(index))));
        assert!(!set.insert(slot(1)));
        assert_eq!(set.iter().map(Slot::index).collect::<Vec<_>>(), members);
        for start in 0..CAPACITY {
            let expected =
                members.iter().copied().min_by_key(|&index| (index + CAPACITY - start) % CAPACITY);
            assert_eq!(set.first_from(slot(start)).map(Slot::index), expected, "from {start}");
        }
        assert!(members.iter().all(|&index| set.contains(slot(index)) && set.remove(slot(index))));
        assert!(!set.remove(slot(1)) && set.is_empty());
        assert_eq!(set.first_from(slot(70)), None);
    }

    #[test]
    fn one_slot_is_found_from_everywhere() {
        for only in [0, 5, 64, CAPACITY - 1] {
            let mut set = SlotSet::default();
            set.insert(slot(only));
            assert!((0..CAPACITY).all(|start| set.first_from(slot(start)) == Some(slot(only))));
        }
    }
}
