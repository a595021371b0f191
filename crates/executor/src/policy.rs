//! Which of the ready entities is next.

use crate::flags::{Flags, Slot, SlotSet};

/// Decides which ready entity is executed next. The executor asks once per turn.
pub trait Policy: Send {
    /// The slot to execute next, out of `ready`; `None` only if no slot is ready. Must not block or allocate.
    ///
    /// A slot that is not ready is not executed; the policy is then asked again.
    fn next(&mut self, ready: &ReadySet<'_>) -> Option<Slot>;
}

/// The entities that are ready at this moment; more may become so while one looks.
#[derive(Debug)]
pub struct ReadySet<'a> {
    flags: &'a Flags,
    mask: &'a SlotSet,
}

impl<'a> ReadySet<'a> {
    pub(crate) fn new(flags: &'a Flags, mask: &'a SlotSet) -> Self {
        Self { flags, mask }
    }

    /// The first ready slot at or after `start`, going round at the end. Takes the same time for any number of slots.
    pub fn first_from(&self, start: Slot) -> Option<Slot> {
        self.flags.first_set(start, Some(self.mask))
    }

    /// Whether this slot is ready.
    pub fn contains(&self, slot: Slot) -> bool {
        self.mask.contains(slot) && self.flags.is_set(slot)
    }
}

/// All ready entities in turn, from where the last turn ended: between two executions of one entity each other ready
/// entity is executed once, be they timers or not, so that none starves. The default.
#[derive(Debug, Clone, Copy)]
pub struct Fair {
    cursor: Slot,
}

impl Default for Fair {
    fn default() -> Self {
        Self { cursor: Slot::new(0).expect("zero is below any capacity") }
    }
}

impl Policy for Fair {
    fn next(&mut self, ready: &ReadySet<'_>) -> Option<Slot> {
        let slot = ready.first_from(self.cursor)?;
        self.cursor = slot.next();
        Some(slot)
    }
}
