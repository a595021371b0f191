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
    observer: Option<Observer>,
}

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

    /// Replaces the observer; gives the former one, to be dropped after the lock.
    pub(crate) fn observe(&mut self, observer: Option<Observer>) -> Option<Observer> {
        if observer.is_none() {
            self.tell_departure();
        } else if let (Some(_), Some(place)) = (&self.observer, self.shared_place()) {
            place.ready_set.end_sharing(); // the new one begins anew
        }
        let former = std::mem::replace(&mut self.observer, observer);
        let is_nowhere = self.shared_place().is_none();
        match &mut self.observer {
            Some(observer) if is_nowhere => observer(None),
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
        let Self { executor, wait_sets, observer, .. } = self;
        if let (Some(observer), Some(place)) = (observer, executor.as_ref().or(wait_sets.last())) {
            place.ready_set.begin_sharing();
            observer(Some(Place { doorbell: place.ready_set.number(), slot: place.slot }));
            fence(Ordering::SeqCst);
            place.ring();
        }
    }

    fn tell_departure(&mut self) {
        let Self { executor, wait_sets, observer, .. } = self;
        if let (Some(observer), Some(place)) = (observer, executor.as_ref().or(wait_sets.last())) {
            observer(None);
            place.ready_set.end_sharing();
        }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("slot", &self.executor.as_ref().map(|attachment| attachment.slot))
            .field("wait_sets", &self.wait_sets.len())
            .field("is_heard", &self.listener.is_some())
            .field("is_observed", &self.observer.is_some())
            .finish()
    }
}
