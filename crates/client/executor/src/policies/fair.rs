//! A policy that executes all entities in turn.

use crate::attributes::Attributes;
use crate::policy::{Policy, Step};
use feros_doorbell::Slot;
use feros_doorbell::SlotSet;

/// Executes all ready entities in turn, and always continues after the entity that was executed
/// last. Between two executions of an entity, every other ready entity, including timers, is
/// executed once, so no entity starves. This policy is the default.
#[derive(Debug, Clone)]
pub struct Fair {
    ready: SlotSet,
    cursor: Slot,
}

impl Default for Fair {
    fn default() -> Self {
        Self { ready: SlotSet::default(), cursor: Slot::FIRST }
    }
}

impl Policy for Fair {
    fn add(&mut self, _: Slot, _: &Attributes) {}

    fn remove(&mut self, slot: Slot) -> bool {
        self.ready.remove(slot)
    }

    fn make_ready(&mut self, slot: Slot) {
        self.ready.insert(slot);
    }

    fn next(&mut self) -> Option<(Slot, Step)> {
        let slot = self.ready.first_from(self.cursor)?;
        self.ready.remove(slot);
        self.cursor = slot.next();
        Some((slot, Step::Execute))
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }
}
