//! Where the rings of one entity go: its executor, wait sets, a listener; and which of these places
//! other processes are told.

use crate::flags::Slot;
use crate::listener::Listener;
use crate::ready_set::ReadySet;
use feros_sync::{Arc, Ordering, fence};
use std::fmt;

/// Where other processes ring for an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The [number](crate::DoorbellMemory::number) of the doorbell; `None` if other processes
    /// cannot ring it.
    pub doorbell: Option<u32>,
    /// The entity's slot there.
    pub slot: Slot,
}

#[derive(Default)]
pub(crate) struct Routes {
    pub(crate) executor: Option<Attachment>,
    pub(crate) wait_sets: Vec<Attachment>,
    // Loom's `Arc` cannot hold what the listener holds.
    pub(crate) listener: Option<std::sync::Arc<Listener>>,
    /// Several where an entity has several ends: the three services of an action.
    observers: Vec<(ObserverId, Observer)>,
    next_observer: u64,
}

/// Names an observer among those of its entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObserverId(u64);

/// Is told the entity's place.
pub(crate) type Observer = Box<dyn FnMut(Option<Place>) + Send + Sync>;

pub(crate) struct Attachment {
    pub(crate) ready_set: Arc<ReadySet>,
    pub(crate) slot: Slot,
}

impl Attachment {
    pub(crate) fn ring(&self) {
        self.ready_set.ring(self.slot);
    }

    /// Tells the observers the place, then rings there, if there are any.
    ///
    /// A publisher of another process writes its data, then looks for the place; this writes the
    /// place, then has the entity look for data. With the fence here and its counterpart there at
    /// least one of them sees the other: either the publisher finds the place and rings, or the
    /// execution that begins after this ring finds the data. Ringing before the fence, or before
    /// the observers, the execution could be over before the place is seen.
    fn tell_arrival<'a>(&self, observers: impl Iterator<Item = &'a mut Observer>) {
        let place = Place { doorbell: self.ready_set.number(), slot: self.slot };
        let mut is_observed = false;
        for observer in observers {
            self.ready_set.begin_sharing();
            observer(Some(place));
            is_observed = true;
        }
        if is_observed {
            fence(Ordering::SeqCst);
            self.ring();
        }
    }

    fn tell_departure<'a>(&self, observers: impl Iterator<Item = &'a mut Observer>) {
        for observer in observers {
            observer(None);
            self.ready_set.end_sharing();
        }
    }
}

impl Routes {
    /// What other processes are told: an executor executes whatever comes, so it is before the wait
    /// sets; of these the latest is the one that is most likely to be waited for.
    fn shared_place(&self) -> Option<&Attachment> {
        self.executor.as_ref().or(self.wait_sets.last())
    }

    pub(crate) fn attach_wait_set(&mut self, wait_set: Attachment) {
        self.move_place(self.executor.is_none(), |routes| routes.wait_sets.push(wait_set));
    }

    pub(crate) fn detach_wait_set(&mut self, ready_set: &Arc<ReadySet>) {
        let is_there = |known: &Attachment| Arc::ptr_eq(&known.ready_set, ready_set);
        if let Some(index) = self.wait_sets.iter().rposition(is_there) {
            self.move_place(self.executor.is_none(), |routes| routes.wait_sets.remove(index));
        }
    }

    /// Makes a change by which the place of the entity moves, or does not.
    pub(crate) fn move_place<T>(&mut self, moves: bool, change: impl FnOnce(&mut Self) -> T) -> T {
        if moves {
            self.tell_departure(); // first, so that fewer rings of others come too late
        }
        let changed = change(self);
        if moves {
            self.tell_arrival();
        }
        changed
    }

    /// Tells one more observer the place, now and from now on.
    pub(crate) fn observe(&mut self, mut observer: Observer) -> ObserverId {
        let id = ObserverId(self.next_observer);
        self.next_observer += 1;
        match self.shared_place() {
            Some(place) => place.tell_arrival(std::iter::once(&mut observer)),
            None => observer(None),
        }
        self.observers.push((id, observer));
        id
    }

    /// Tells an observer that there is no place any more; gives it, to be dropped after the lock.
    pub(crate) fn end_observation(&mut self, id: ObserverId) -> Option<Observer> {
        let index = self.observers.iter().position(|(known, _)| *known == id)?;
        let (_, mut observer) = self.observers.swap_remove(index);
        if let Some(place) = self.shared_place() {
            place.tell_departure(std::iter::once(&mut observer));
        }
        Some(observer)
    }

    fn tell_arrival(&mut self) {
        let Self { executor, wait_sets, observers, .. } = self;
        if let Some(place) = executor.as_ref().or(wait_sets.last()) {
            place.tell_arrival(observers.iter_mut().map(|(_, observer)| observer));
        }
    }

    fn tell_departure(&mut self) {
        let Self { executor, wait_sets, observers, .. } = self;
        if let Some(place) = executor.as_ref().or(wait_sets.last()) {
            place.tell_departure(observers.iter_mut().map(|(_, observer)| observer));
        }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("slot", &self.executor.as_ref().map(|attachment| attachment.slot))
            .field("wait_sets", &self.wait_sets.len())
            .field("is_heard", &self.listener.is_some())
            .field("observers", &self.observers.len())
            .finish()
    }
}
