//! The policy with fixed priorities.

use super::keyed::{BySlot, KeyedQueue};
use crate::attributes::Attributes;
use crate::policy::{Policy, Step};
use feros_doorbell::Slot;
use std::cmp::Reverse;

/// Executes the ready entity with the highest [priority](Attributes::priority) first; among
/// entities of equal priority, the entity that has been ready longest. The next turn already
/// considers an entity that has just become ready; a running callback is not interrupted.
///
/// Entities of low priority can starve while entities of higher priority are always ready.
/// [`chain_priorities`] gives the callbacks of processing chains priorities that bound the latency
/// of each chain (PiCAS: Choi, Xiang and Kim, RTAS 2021).
#[derive(Debug, Default)]
pub struct Priority {
    priorities: BySlot<i32>,
    ready: KeyedQueue<Reverse<i32>>,
}

impl Policy for Priority {
    fn add(&mut self, slot: Slot, attributes: &Attributes) {
        let count = self.priorities.insert(slot, attributes.priority);
        self.ready.reserve(count);
    }

    fn remove(&mut self, slot: Slot) -> bool {
        self.priorities.remove(slot);
        self.ready.remove(slot)
    }

    fn make_ready(&mut self, slot: Slot) {
        let priority = self.priorities.value(slot).copied().unwrap_or_default();
        self.ready.push(slot, || Reverse(priority));
    }

    fn next(&mut self) -> Option<(Slot, Step)> {
        self.ready.pop().map(|slot| (slot, Step::Execute))
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }
}

/// Returns priorities for the callbacks of chains, given the lengths of the chains, the least
/// critical chain first. All callbacks of a more critical chain have higher priorities than all
/// callbacks of a less critical chain. Within a chain, each callback has a higher priority than the
/// previous callback, and the timer or subscription that begins the chain has the lowest priority.
/// So one instance of a chain ends before the next instance begins.
///
/// The lowest priority is 1, which is above 0, the priority of all other entities by default.
///
/// ```
/// let [diagnostics, control] = feros_executor::chain_priorities([2, 3]);
/// assert_eq!(diagnostics, [1, 2]);
/// assert_eq!(control, [3, 4, 5]); // sensor timer, filter, actuator
/// ```
pub fn chain_priorities<const CHAINS: usize>(lengths: [usize; CHAINS]) -> [Vec<i32>; CHAINS] {
    let mut next = 0_i32;
    lengths.map(|length| {
        let rise = |_| {
            next = next.saturating_add(1);
            next
        };
        (0..length).map(rise).collect()
    })
}
