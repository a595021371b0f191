//! A heap of deadlines in which an entry can be moved and removed by its slot.
//!
//! Each slot has at most one entry here. A plain `BinaryHeap` would keep a stale entry for every
//! reset of a timer, and would grow if a timer is reset more often than it fires.

use crate::clock::Time;
use feros_doorbell::Slot;

/// The deadlines, the earliest first. Equal deadlines follow the order of their slots.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    heap: Vec<(Time, Slot)>,
    /// By slot number: one more than the entry's index in the heap, or zero.
    places: Vec<u32>,
}

impl Deadlines {
    pub(crate) fn earliest(&self) -> Option<(Time, Slot)> {
        self.heap.first().copied()
    }

    /// Makes room for `slot`, so that `set` does not allocate for it.
    pub(crate) fn reserve(&mut self, slot: Slot) {
        if self.places.len() <= slot.index() {
            self.places.resize(slot.index() + 1, 0);
        }
        self.heap.reserve(self.places.len() - self.heap.len());
    }

    /// Sets the deadline of `slot`, or removes it.
    pub(crate) fn set(&mut self, slot: Slot, deadline: Option<Time>) {
        match (self.place(slot), deadline) {
            (None, None) => {}
            (None, Some(deadline)) => {
                self.reserve(slot);
                self.heap.push((deadline, slot));
                self.sift_up(self.heap.len() - 1);
            }
            (Some(place), Some(deadline)) => {
                self.heap[place].0 = deadline;
                self.repair(place);
            }
            (Some(place), None) => {
                self.places[slot.index()] = 0;
                self.heap.swap_remove(place);
                if place < self.heap.len() {
                    self.repair(place);
                }
            }
        }
    }

    fn place(&self, slot: Slot) -> Option<usize> {
        self.places.get(slot.index()).and_then(|&place| (place as usize).checked_sub(1))
    }

    fn repair(&mut self, place: usize) {
        let place = self.sift_up(place);
        self.sift_down(place);
    }

    fn sift_up(&mut self, mut place: usize) -> usize {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= self.heap[place] {
                break;
            }
            self.swap(place, parent);
            place = parent;
        }
        self.note(place);
        place
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let children =
                [2 * place + 1, 2 * place + 2].into_iter().filter(|&child| child < self.heap.len());
            match children.min_by_key(|&child| self.heap[child]) {
                Some(child) if self.heap[child] < self.heap[place] => {
                    self.swap(place, child);
                    place = child;
                }
                _ => break,
            }
        }
        self.note(place);
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.note(a);
        self.note(b);
    }

    fn note(&mut self, place: usize) {
        let slot = self.heap[place].1;
        self.places[slot.index()] = place as u32 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Performs random additions, moves and removals, from a fixed seed, and compares the heap with
    /// an ordered map.
    #[test]
    fn behaves_as_an_ordered_map() {
        let mut deadlines = Deadlines::default();
        let mut model = BTreeMap::new();
        let mut random = 1u64;
        for _ in 0..50_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let slot = Slot::new((random >> 33) as usize % 50).unwrap();
            let deadline =
                (random >> 60 != 0).then(|| Time::from_nanos((random >> 40) as i64 % 100));
            deadlines.set(slot, deadline);
            match deadline {
                Some(deadline) => model.insert(slot, deadline),
                None => model.remove(&slot),
            };
            let earliest = model.iter().map(|(&slot, &deadline)| (deadline, slot)).min();
            assert_eq!(deadlines.earliest(), earliest);
        }
        assert!(!model.is_empty());
        while let Some((deadline, slot)) = deadlines.earliest() {
            assert_eq!(model.remove(&slot), Some(deadline));
            deadlines.set(slot, None);
        }
        assert!(model.is_empty());
    }
}
