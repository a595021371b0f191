//! The policy with the order of rclcpp.

use super::keyed::{BySlot, KeyedQueue};
use crate::attributes::{Attributes, Kind};
use crate::policy::{Policy, Step};
use feros_doorbell::Slot;
use feros_doorbell::SlotSet;

/// The order of rclcpp's executors. The entities that are ready at one moment form a snapshot. They
/// are executed, one unit each, by [kind](Kind) (timers, subscriptions, services, clients, others),
/// and within a kind in the order in which they were added. The entities that become ready in the
/// meantime form the next snapshot.
///
/// No entity starves: an entity waits at most for the rest of the current snapshot, and for the
/// entities before it in the next snapshot.
#[derive(Debug, Default)]
pub struct Ros {
    keys: BySlot<(Kind, u64)>,
    added: u64,
    snapshot: KeyedQueue<(Kind, u64)>,
    arrivals: SlotSet,
}

impl Ros {
    fn take_snapshot(&mut self) {
        let Self { keys, snapshot, arrivals, .. } = self;
        let last = (Kind::Other, u64::MAX);
        while let Some(slot) = arrivals.first_from(Slot::FIRST) {
            arrivals.remove(slot);
            snapshot.push(slot, || keys.value(slot).copied().unwrap_or(last));
        }
    }
}

impl Policy for Ros {
    fn add(&mut self, slot: Slot, attributes: &Attributes) {
        self.added += 1;
        let count = self.keys.insert(slot, (attributes.kind, self.added));
        self.snapshot.reserve(count);
    }

    fn remove(&mut self, slot: Slot) -> bool {
        self.keys.remove(slot);
        let (waits, is_next) = (self.arrivals.remove(slot), self.snapshot.remove(slot));
        waits || is_next
    }

    fn make_ready(&mut self, slot: Slot) {
        self.arrivals.insert(slot);
    }

    fn next(&mut self) -> Option<(Slot, Step)> {
        if self.snapshot.is_empty() {
            self.take_snapshot();
        }
        self.snapshot.pop().map(|slot| (slot, Step::Execute))
    }

    fn has_ready(&self) -> bool {
        !self.snapshot.is_empty() || !self.arrivals.is_empty()
    }
}
