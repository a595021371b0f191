//! The destinations of an entity's rings (its executor, wait sets and listener), and the place
//! where other processes ring for the entity.

use crate::flags::Slot;
use crate::listener::Listener;
use crate::ready_set::ReadySet;
use feros_sync::{Arc, Ordering, fence};
use std::fmt;

/// The place where other processes ring for an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The [number](crate::DoorbellMemory::number) of the doorbell, or `None` if other processes
    /// cannot ring it.
    pub doorbell: Option<u32>,
    /// The entity's slot at that doorbell.
    pub slot: Slot,
}

#[derive(Default)]
pub(crate) struct Routes {
    pub(crate) executor: Option<Attachment>,
    pub(crate) wait_sets: Vec<Attachment>,
    // Loom's `Arc` cannot contain the listener.
    pub(crate) listener: Option<std::sync::Arc<Listener>>,
    /// An entity has several observers if it consists of several endpoints, such as the three
    /// services of an action.
    observers: Vec<(ObserverId, Observer)>,
    next_observer: u64,
}

/// Identifies an observer among the observers of its entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObserverId(u64);

/// A function that gets the entity's place.
pub(crate) type Observer = Box<dyn FnMut(Option<Place>) + Send + Sync>;

pub(crate) struct Attachment {
    pub(crate) ready_set: Arc<ReadySet>,
    pub(crate) slot: Slot,
}

impl Attachment {
    pub(crate) fn ring(&self) {
        self.ready_set.ring(self.slot);
    }

    /// Passes the place to the observers. If there are any observers, also rings at the place.
    ///
    /// A publisher of another process writes its data and then reads the place. This function
    /// writes the place and then makes the entity check for data. Each side has a fence between its
    /// two steps, so at least one side sees what the other has written: either the publisher finds
    /// the place and rings, or the execution that begins after this ring finds the data. If this
    /// rang before the fence, or before it called the observers, the execution could end before the
    /// place is visible.
    fn report_arrival<'a>(&self, observers: impl Iterator<Item = &'a mut Observer>) {
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

    fn report_departure<'a>(&self, observers: impl Iterator<Item = &'a mut Observer>) {
        for observer in observers {
            observer(None);
            self.ready_set.end_sharing();
        }
    }
}

impl Routes {
    /// The place where other processes ring. If there is an executor, the place is at the executor,
    /// because it executes everything that arrives. Otherwise, the place is at the latest wait set,
    /// because a thread most likely waits with that wait set.
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

    /// Makes a change. If `moves` is set, the change moves the entity's place.
    pub(crate) fn move_place<T>(&mut self, moves: bool, change: impl FnOnce(&mut Self) -> T) -> T {
        if moves {
            self.report_departure(); // first, so that few rings come too late
        }
        let changed = change(self);
        if moves {
            self.report_arrival();
        }
        changed
    }

    /// Adds an observer. Passes the place to it, now and at each change.
    pub(crate) fn observe(&mut self, mut observer: Observer) -> ObserverId {
        let id = ObserverId(self.next_observer);
        self.next_observer += 1;
        match self.shared_place() {
            Some(place) => place.report_arrival(std::iter::once(&mut observer)),
            None => observer(None),
        }
        self.observers.push((id, observer));
        id
    }

    /// Passes `None` to an observer, removes it, and returns it. The caller drops it after it has
    /// released the lock.
    pub(crate) fn end_observation(&mut self, id: ObserverId) -> Option<Observer> {
        let index = self.observers.iter().position(|(known, _)| *known == id)?;
        let (_, mut observer) = self.observers.swap_remove(index);
        if let Some(place) = self.shared_place() {
            place.report_departure(std::iter::once(&mut observer));
        }
        Some(observer)
    }

    fn report_arrival(&mut self) {
        let Self { executor, wait_sets, observers, .. } = self;
        if let Some(place) = executor.as_ref().or(wait_sets.last()) {
            place.report_arrival(observers.iter_mut().map(|(_, observer)| observer));
        }
    }

    fn report_departure(&mut self) {
        let Self { executor, wait_sets, observers, .. } = self;
        if let Some(place) = executor.as_ref().or(wait_sets.last()) {
            place.report_departure(observers.iter_mut().map(|(_, observer)| observer));
        }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("slot", &self.executor.as_ref().map(|attachment| attachment.slot))
            .field("wait_sets", &self.wait_sets.len())
            .field("has_listener", &self.listener.is_some())
            .field("observers", &self.observers.len())
            .finish()
    }
}
