//! A queue of the ready slots, ordered by a key. Idle slots cost nothing.

use feros_doorbell::Slot;
use feros_doorbell::SlotSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The ready slots, ordered by key with the smallest key first. Slots with equal keys keep the
/// order of their arrival.
#[derive(Debug)]
pub(crate) struct KeyedQueue<K> {
    heap: BinaryHeap<Reverse<(K, u64, Slot)>>,
    members: SlotSet,
    arrivals: u64,
}

impl<K: Ord> Default for KeyedQueue<K> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), members: SlotSet::default(), arrivals: 0 }
    }
}

impl<K: Ord> KeyedQueue<K> {
    /// Reserves memory, so that nothing is allocated when this many entities are ready at the same
    /// time.
    pub(crate) fn reserve(&mut self, entities: usize) {
        self.heap.reserve(entities.saturating_sub(self.heap.len()));
    }

    /// Adds a slot, unless the queue contains it.
    pub(crate) fn push(&mut self, slot: Slot, key: impl FnOnce() -> K) {
        if self.members.insert(slot) {
            self.arrivals += 1;
            self.heap.push(Reverse((key(), self.arrivals, slot)));
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Slot> {
        let Reverse((_, _, slot)) = self.heap.pop()?;
        self.members.remove(slot);
        Some(slot)
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> bool {
        let was_there = self.members.remove(slot);
        if was_there {
            self.heap.retain(|Reverse((_, _, member))| *member != slot);
        }
        was_there
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

/// A value that a policy remembers for each entity.
#[derive(Debug)]
pub(crate) struct BySlot<V> {
    values: Vec<Option<V>>,
    count: usize,
}

impl<V> Default for BySlot<V> {
    fn default() -> Self {
        Self { values: Vec::new(), count: 0 }
    }
}

impl<V> BySlot<V> {
    /// Remembers a value, and returns the number of entities with a value.
    pub(crate) fn insert(&mut self, slot: Slot, value: V) -> usize {
        if self.values.len() <= slot.index() {
            self.values.resize_with(slot.index() + 1, || None);
        }
        if self.values[slot.index()].replace(value).is_none() {
            self.count += 1;
        }
        self.count
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Option<V> {
        let value = self.values.get_mut(slot.index())?.take();
        self.count -= usize::from(value.is_some());
        value
    }

    pub(crate) fn value(&self, slot: Slot) -> Option<&V> {
        self.values.get(slot.index())?.as_ref()
    }
}
