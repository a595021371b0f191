//! The ready state of one entity: pending until an executor takes the entity in, then a flag in its doorbell.
//!
//! Engines and guard conditions are given a [`Ringer`] when they are created, often long before (or after) the entity
//! belongs to an executor. So the ringer does not name a doorbell; it names a cell that knows where to ring now.

use crate::doorbell::{Doorbell, Slot};
use crate::sync::{Arc, AtomicBool, Ordering, RwLock};

/// Says that an entity has work. Clones ring the same entity.
///
/// Ringing is always allowed: before the entity was added to an executor the ring is kept and delivered when it is;
/// after the entity or its executor is gone it does nothing.
#[derive(Debug, Clone)]
pub struct Ringer {
    cell: Arc<Cell>,
}

#[derive(Debug)]
struct Cell {
    /// The readers' lock makes "ring here" and "move to another executor" exclude each other, so a ring is either
    /// seen by the move or goes to the new place. It is held for one [`Doorbell::ring`], never while user code runs.
    attachment: RwLock<Option<Attachment>>,
    pending: AtomicBool,
}

#[derive(Debug)]
struct Attachment {
    doorbell: Arc<Doorbell>,
    slot: Slot,
}

impl Ringer {
    /// A ringer for an entity still to be made.
    pub fn new() -> Self {
        Self { cell: Arc::new(Cell { attachment: RwLock::new(None), pending: AtomicBool::new(false) }) }
    }

    /// Marks the entity ready and wakes its executor if that sleeps. What the caller wrote before is visible to the
    /// entity's next execution. Rings are not counted: several before that execution are one.
    ///
    /// Allocates nothing; waits only for a concurrent add or removal of this same entity. Callable from any thread,
    /// but not from a signal handler (there is [`Stopper`](crate::Stopper)).
    pub fn ring(&self) {
        match &*self.attachment() {
            Some(attachment) => attachment.doorbell.ring(attachment.slot),
            // The lock orders this with `attach` and `detach`.
            None => self.cell.pending.store(true, Ordering::Relaxed),
        }
    }

    /// Sends the rings to `slot` of `doorbell` from now on, the one that was pending included.
    /// False, and nothing changes, if they go to another place already.
    pub(crate) fn attach(&self, doorbell: &Arc<Doorbell>, slot: Slot) -> bool {
        let mut attachment = self.attachment_mut();
        if attachment.is_some() {
            return false;
        }
        doorbell.take(slot); // what a late ring left for the slot's former owner
        if self.cell.pending.swap(false, Ordering::Relaxed) {
            doorbell.ring(slot);
        }
        *attachment = Some(Attachment { doorbell: Arc::clone(doorbell), slot });
        true
    }

    /// Ends the attachment; a flag that is still set becomes pending again.
    pub(crate) fn detach(&self) {
        let mut attachment = self.attachment_mut();
        if let Some(Attachment { doorbell, slot }) = attachment.take()
            && doorbell.take(slot)
        {
            self.cell.pending.store(true, Ordering::Relaxed);
        }
    }

    #[cfg(not(loom))]
    fn attachment(&self) -> std::sync::RwLockReadGuard<'_, Option<Attachment>> {
        self.cell.attachment.read().unwrap_or_else(crate::sync::PoisonError::into_inner)
    }

    #[cfg(not(loom))]
    fn attachment_mut(&self) -> std::sync::RwLockWriteGuard<'_, Option<Attachment>> {
        self.cell.attachment.write().unwrap_or_else(crate::sync::PoisonError::into_inner)
    }

    #[cfg(loom)]
    fn attachment(&self) -> loom::sync::RwLockReadGuard<'_, Option<Attachment>> {
        self.cell.attachment.read().expect("loom poisons nothing")
    }

    #[cfg(loom)]
    fn attachment_mut(&self) -> loom::sync::RwLockWriteGuard<'_, Option<Attachment>> {
        self.cell.attachment.write().expect("loom poisons nothing")
    }
}

impl Default for Ringer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::doorbell::Scope;

    #[test]
    fn a_ring_before_attaching_is_delivered_on_attaching() {
        let doorbell = Arc::new(Doorbell::new(Scope::Process));
        let slot = Slot::new(5).unwrap();
        let ringer = Ringer::new();
        ringer.clone().ring();
        assert!(ringer.attach(&doorbell, slot));
        assert!(doorbell.take(slot));
        assert!(!doorbell.take(slot));
    }

    #[test]
    fn a_flag_moves_with_its_entity_to_another_doorbell() {
        let [first, second] = [(); 2].map(|()| Arc::new(Doorbell::new(Scope::Process)));
        let (here, there) = (Slot::new(1).unwrap(), Slot::new(4000).unwrap());
        let ringer = Ringer::new();
        assert!(ringer.attach(&first, here));
        assert!(!ringer.attach(&second, there), "attached twice");
        ringer.ring();
        ringer.detach();
        assert!(!first.is_set(here));
        assert!(ringer.attach(&second, there));
        assert!(second.take(there));
        ringer.detach();
        ringer.ring();
        assert!(!first.is_set(here) && !second.is_set(there), "rings after detaching stay away");
    }

    #[test]
    fn what_the_slot_s_former_owner_left_is_cleared() {
        let doorbell = Arc::new(Doorbell::new(Scope::Process));
        let slot = Slot::new(9).unwrap();
        doorbell.ring(slot);
        assert!(Ringer::new().attach(&doorbell, slot));
        assert!(!doorbell.is_set(slot));
    }
}
