//! The ready state of one entity: pending until an executor takes the entity in, then a flag in its
//! doorbell.
//!
//! Engines and guard conditions are given a [`Ringer`] when they are created, often long before (or
//! after) the entity belongs to an executor. So the ringer does not name a doorbell; it names a
//! cell that knows where to ring now.

use crate::flags::Slot;
use crate::ready_set::ReadySet;
use feros_sync::{Arc, AtomicBool, Ordering, RwLock, fence};
use std::fmt;

/// Says that an entity has work. Clones ring the same entity.
///
/// Ringing is always allowed: before the entity was added to an executor the ring is kept and
/// delivered when it is; after the entity or its executor is gone it does nothing.
#[derive(Debug, Clone)]
pub struct Ringer {
    cell: Arc<Cell>,
}

/// Where to ring for an entity that is in an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The [number](crate::DoorbellMemory::number) of the executor's doorbell; `None` if other
    /// processes cannot ring it.
    pub doorbell: Option<u32>,
    /// The entity's slot there.
    pub slot: Slot,
}

#[derive(Debug)]
struct Cell {
    /// The readers' lock makes "ring here" and "move to another executor" exclude each other, so a
    /// ring is either seen by the move or goes to the new place. It is held for one ring, never
    /// while a callback runs.
    route: RwLock<Route>,
    pending: AtomicBool,
}

#[derive(Default)]
struct Route {
    attachment: Option<Attachment>,
    observer: Option<Observer>,
}

type Observer = Box<dyn FnMut(Option<Place>) + Send + Sync>;

struct Attachment {
    ready_set: Arc<ReadySet>,
    slot: Slot,
}

impl Ringer {
    /// A ringer for an entity still to be made.
    pub fn new() -> Self {
        Self {
            cell: Arc::new(Cell {
                route: RwLock::new(Route::default()),
                pending: AtomicBool::new(false),
            }),
        }
    }

    /// Marks the entity ready and wakes its executor if that sleeps. What the caller wrote before
    /// is visible to the entity's next execution. Rings are not counted: several before that
    /// execution are one.
    ///
    /// Allocates nothing; waits only for a concurrent add or removal of this same entity. Callable
    /// from any thread, but not from a signal handler (there is [`ReadySet::ring`]).
    pub fn ring(&self) {
        match &self.cell.route.read().attachment {
            Some(Attachment { ready_set, slot }) => ready_set.ring(*slot),
            // The lock orders this with `attach` and `detach`.
            None => self.cell.pending.store(true, Ordering::Relaxed),
        }
    }

    /// Has `observer` told where other processes may ring for the entity: now, and whenever it
    /// joins or leaves an executor. It replaces the observer before, which is told nothing more.
    ///
    /// Best called when somebody is to ring from elsewhere, and ended by
    /// [`end_observation`](Self::end_observation): an executor without an observed entity does not
    /// listen to other processes, and wakes sooner for its own.
    ///
    /// # For those who ring from elsewhere
    ///
    /// Whoever makes data available, then executes a sequentially consistent fence, then reads the
    /// place that the observer has published, and rings there if there is one, loses no wake-up:
    /// after each move to an executor the entity is rung once by the move itself, which finds what
    /// was there before the place could be seen. A ring at a place that the entity has left
    /// executes another entity needlessly, or none.
    ///
    /// # What an observer may do
    ///
    /// It runs under the locks that moves take, before the move takes effect: it stores the place
    /// somewhere and must not panic, block, nor use this ringer or its executor. It should own no
    /// clone of this ringer, which would then never be freed.
    pub fn on_move(&self, observer: impl FnMut(Option<Place>) + Send + Sync + 'static) {
        let former = self.cell.route.write().observe(Some(Box::new(observer)));
        drop(former); // after the lock
    }

    /// Tells the observer that there is no place any more, and forgets it.
    pub fn end_observation(&self) {
        let former = self.cell.route.write().observe(None);
        drop(former);
    }

    /// Sends the rings to `slot` of `ready_set` from now on, the one that was pending included.
    /// False, and nothing changes, if they go to another place already.
    pub fn attach(&self, ready_set: &Arc<ReadySet>, slot: Slot) -> bool {
        let mut route = self.cell.route.write();
        if route.attachment.is_some() {
            return false;
        }
        ready_set.take(slot); // what a late ring left for the slot's former owner
        if self.cell.pending.swap(false, Ordering::Relaxed) {
            ready_set.ring(slot);
        }
        route.attachment = Some(Attachment { ready_set: Arc::clone(ready_set), slot });
        route.tell_arrival();
        true
    }

    /// Ends the attachment; a flag that is still set becomes pending again.
    pub fn detach(&self) {
        let mut route = self.cell.route.write();
        route.tell_departure(); // first, so that fewer rings of others come too late
        let Some(Attachment { ready_set, slot }) = route.attachment.take() else { return };
        if ready_set.take(slot) {
            self.cell.pending.store(true, Ordering::Relaxed);
        }
    }
}

impl Route {
    fn observe(&mut self, observer: Option<Observer>) -> Option<Observer> {
        if observer.is_none() {
            self.tell_departure();
        } else if let (Some(_), Some(Attachment { ready_set, .. })) =
            (&self.observer, &self.attachment)
        {
            ready_set.end_sharing(); // the new one expects anew
        }
        let former = std::mem::replace(&mut self.observer, observer);
        match (&mut self.observer, &self.attachment) {
            (Some(observer), None) => observer(None),
            _ => self.tell_arrival(),
        }
        former
    }

    /// Tells the observer the place, then rings there.
    ///
    /// A publisher of another process writes its data, then looks for the place; this writes the
    /// place, then has the entity look for data. With the fence here and its counterpart there at
    /// least one of them sees the other: either the publisher finds the place and rings, or the
    /// execution that begins after this ring finds the data. Ringing before the fence, or before
    /// the observer, the execution could be over before the place is seen.
    fn tell_arrival(&mut self) {
        if let (Some(observer), Some(Attachment { ready_set, slot })) =
            (&mut self.observer, &self.attachment)
        {
            ready_set.begin_sharing();
            observer(Some(Place { doorbell: ready_set.number(), slot: *slot }));
            fence(Ordering::SeqCst);
            ready_set.ring(*slot);
        }
    }

    fn tell_departure(&mut self) {
        if let (Some(observer), Some(Attachment { ready_set, .. })) =
            (&mut self.observer, &self.attachment)
        {
            observer(None);
            ready_set.end_sharing();
        }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attachment, observer } = self;
        f.debug_struct("Route")
            .field("slot", &attachment.as_ref().map(|attachment| attachment.slot))
            .field("is_observed", &observer.is_some())
            .finish()
    }
}

impl Default for Ringer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::sync::Mutex;

    fn taken(ready_set: &ReadySet, slot: Slot) -> bool {
        ready_set.take(slot)
    }

    #[test]
    fn a_ring_before_attaching_is_delivered_on_attaching() {
        let ready_set = Arc::new(ReadySet::private());
        let slot = Slot::new(5).unwrap();
        let ringer = Ringer::new();
        ringer.clone().ring();
        assert!(ringer.attach(&ready_set, slot));
        assert!(taken(&ready_set, slot));
        assert!(!taken(&ready_set, slot));
    }

    #[test]
    fn a_flag_moves_with_its_entity_to_another_doorbell() {
        let [first, second] = [(); 2].map(|()| Arc::new(ReadySet::private()));
        let (here, there) = (Slot::new(1).unwrap(), Slot::new(4000).unwrap());
        let ringer = Ringer::new();
        assert!(ringer.attach(&first, here));
        assert!(!ringer.attach(&second, there), "attached twice");
        ringer.ring();
        ringer.detach();
        assert!(!first.is_set(here));
        assert!(ringer.attach(&second, there));
        assert!(taken(&second, there));
        ringer.detach();
        ringer.ring();
        assert!(!first.is_set(here) && !second.is_set(there), "rings after detaching stay away");
    }

    #[test]
    fn what_the_slot_s_former_owner_left_is_cleared_in_both_doorbells() {
        let memory = std::sync::Arc::new(crate::Doorbell::new());
        let ready_set = Arc::new(ReadySet::shared_at(memory.clone()));
        let slot = Slot::new(9).unwrap();
        ready_set.ring(slot);
        memory.ring(slot);
        assert!(Ringer::new().attach(&ready_set, slot));
        assert!(!ready_set.take(slot));
    }

    #[test]
    fn a_ring_of_another_process_moves_with_its_entity() {
        let memory = std::sync::Arc::new(crate::Doorbell::new());
        let first = Arc::new(ReadySet::shared_at(memory.clone()));
        let second = Arc::new(ReadySet::private());
        let (here, there) = (Slot::new(1).unwrap(), Slot::new(2).unwrap());
        let ringer = Ringer::new();
        assert!(ringer.attach(&first, here));
        memory.ring(here);
        ringer.detach();
        assert!(ringer.attach(&second, there));
        assert!(taken(&second, there));
    }

    #[test]
    fn an_observer_sees_each_move_and_each_arrival_is_rung() {
        let ready_set = Arc::new(ReadySet::private());
        let slot = Slot::new(5).unwrap();
        let ringer = Ringer::new();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let observe = |ringer: &Ringer| {
            let seen = Arc::clone(&seen);
            ringer.on_move(move |place| seen.lock().unwrap().push(place));
        };
        observe(&ringer);
        assert!(ringer.attach(&ready_set, slot));
        assert!(taken(&ready_set, slot), "rung on arrival");
        observe(&ringer);
        assert!(taken(&ready_set, slot), "rung when observed in its place");
        ringer.end_observation();
        assert!(ringer.cell.route.read().observer.is_none());
        observe(&ringer);
        ringer.detach();
        assert!(!ready_set.is_set(slot));
        let here = Some(Place { doorbell: None, slot });
        assert_eq!(*seen.lock().unwrap(), [None, here, here, None, here, None]);
        assert!(!ready_set.is_shared());
    }
}
