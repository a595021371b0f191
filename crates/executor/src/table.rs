//! The entities of an executor by slot, and how they come and go while it spins.
//!
//! While a body runs it is out of the table, so the table's lock is never held meanwhile; what others want from it
//! then (to be removed, to be handed out) is noted in its slot and done when it returns.

use crate::entity::{Entity, Progress};
use crate::executor::AddError;
use crate::flags::{CAPACITY, Slot};
use crate::readiness::Readiness;
use crate::ready::Ringer;
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, lock};
use std::thread::ThreadId;

pub(crate) struct Table {
    readiness: Arc<Readiness>,
    entries: Mutex<Entries>,
    /// Notified when an entity that somebody waits for has left.
    left: Condvar,
}

struct Entries {
    states: Vec<State>,
    free: Vec<Slot>,
    closed: bool,
}

enum State {
    /// No entity, or the slot that the executor keeps for itself.
    Vacant,
    Idle(Entity),
    /// Out of the table, executed by this thread. `again`: its flag was taken meanwhile and is owed.
    Running {
        thread: ThreadId,
        again: bool,
    },
    /// Running, and to be dropped when it returns.
    Removed,
    /// Running, and to be handed to somebody who waits.
    Awaited,
    /// Returned for the one who waits.
    Left(Entity),
}

/// Why an entity could not be taken out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TakeOutError {
    RunsInThisThread,
    Closed,
}

impl Table {
    /// A table without entities that never uses the slots below `first`.
    pub(crate) fn new(readiness: Arc<Readiness>, first: Slot) -> Self {
        let states = (0..first.index()).map(|_| State::Vacant).collect();
        let entries = Entries { states, free: Vec::new(), closed: false };
        Self { readiness, entries: Mutex::new(entries), left: Condvar::new() }
    }

    /// Gives the entity a slot and lets its ringer ring there.
    pub(crate) fn insert(&self, entity: Entity) -> Result<Slot, AddError> {
        let mut entries = lock(&self.entries);
        // The entity of an error is a parameter, hence dropped after the lock, which is a local.
        if entries.closed {
            return Err(AddError::ExecutorGone);
        }
        let slot = match entries.free.last() {
            Some(&slot) => slot,
            None => Slot::new(entries.states.len()).ok_or(AddError::Full { capacity: CAPACITY })?,
        };
        if !entity.ringer.attach(&self.readiness, slot) {
            return Err(AddError::RingerInUse);
        }
        if entries.free.pop().is_none() {
            entries.states.push(State::Vacant);
        }
        entries.states[slot.index()] = State::Idle(entity);
        Ok(slot)
    }

    /// Clears the flag of `slot` and executes one unit of its entity. False if there was no flag or no entity.
    ///
    /// # Panics
    ///
    /// If the body does and nobody catches it; the entity is back in its slot then, and ready.
    pub(crate) fn execute(&self, slot: Slot, thread: ThreadId) -> bool {
        let Some(entity) = self.begin(slot, thread) else { return false };
        // A panic may leave work behind: the guard takes that for granted until it is told better.
        let mut running = Running { table: self, slot, entity: Some(entity), progress: Progress::More };
        match running.entity.as_mut().map(Entity::execute) {
            Some(Ok(progress)) => running.progress = progress,
            Some(Err(caught)) => {
                drop(running);
                caught.tell();
            }
            None => {}
        }
        true
    }

    fn begin(&self, slot: Slot, thread: ThreadId) -> Option<Entity> {
        let mut entries = lock(&self.entries);
        // Flag and entity are taken in one step: else the entity could be detached in between, and leave for another
        // executor without the ring that was taken here. The flag goes before the body looks for its work, so that
        // a ring while it looks is not lost either.
        if !self.readiness.flags().take(slot) {
            return None;
        }
        let state = entries.states.get_mut(slot.index())?;
        match std::mem::replace(state, State::Vacant) {
            State::Idle(entity) => {
                *state = State::Running { thread, again: false };
                Some(entity)
            }
            State::Running { thread, .. } => {
                *state = State::Running { thread, again: true };
                None
            }
            other => {
                *state = other;
                None
            }
        }
    }

    fn finish(&self, slot: Slot, entity: Entity, progress: Progress) {
        if progress == Progress::More {
            entity.ringer.ring(); // pending, if the entity is leaving
        }
        let mut entries = lock(&self.entries);
        let state = &mut entries.states[slot.index()];
        match std::mem::replace(state, State::Vacant) {
            State::Running { again, .. } => {
                if again {
                    entity.ringer.ring();
                }
                *state = State::Idle(entity);
            }
            State::Awaited => {
                *state = State::Left(entity);
                drop(entries);
                self.left.notify_all();
            }
            _ => {
                entries.release(slot);
                drop(entries);
                drop(entity);
            }
        }
    }

    /// Takes the entity out without waiting: it is returned, or dropped by the thread that runs it now.
    pub(crate) fn remove(&self, slot: Slot, ringer: &Ringer) -> Option<Entity> {
        let mut entries = lock(&self.entries);
        if entries.closed {
            return None;
        }
        ringer.detach(); // before the slot is free for another
        let state = &mut entries.states[slot.index()];
        match std::mem::replace(state, State::Vacant) {
            State::Idle(entity) => {
                entries.release(slot);
                Some(entity)
            }
            _ => {
                *state = State::Removed;
                None
            }
        }
    }

    /// Takes the entity out; waits until it returns if another thread runs it now. Nothing happens on an error.
    pub(crate) fn take_out(&self, slot: Slot, ringer: &Ringer) -> Result<Entity, TakeOutError> {
        let mut entries = lock(&self.entries);
        if entries.closed {
            return Err(TakeOutError::Closed);
        }
        if let State::Running { thread, .. } = entries.states[slot.index()] {
            if thread == std::thread::current().id() {
                return Err(TakeOutError::RunsInThisThread);
            }
            entries.states[slot.index()] = State::Awaited;
        }
        ringer.detach();
        loop {
            let state = &mut entries.states[slot.index()];
            match std::mem::replace(state, State::Vacant) {
                State::Idle(entity) | State::Left(entity) => {
                    entries.release(slot);
                    return Ok(entity);
                }
                other => *state = other,
            }
            entries = self.wait_for_leaving(entries);
        }
    }

    fn wait_for_leaving<'a>(&self, entries: MutexGuard<'a, Entries>) -> MutexGuard<'a, Entries> {
        self.left.wait(entries).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all entities out, for good. Nobody may be executing one.
    pub(crate) fn close(&self) -> Vec<(Slot, Entity)> {
        let mut entries = lock(&self.entries);
        entries.closed = true;
        let states = std::mem::take(&mut entries.states);
        let numbered = states.into_iter().enumerate();
        let entities = numbered.filter_map(|(index, state)| match state {
            State::Idle(entity) | State::Left(entity) => Some((Slot::new(index)?, entity)),
            _ => None,
        });
        entities.collect()
    }
}

impl Entries {
    fn release(&mut self, slot: Slot) {
        self.states[slot.index()] = State::Vacant;
        self.free.push(slot);
    }
}

/// An entity out of its slot; brings it back when dropped, by a panic too.
struct Running<'a> {
    table: &'a Table,
    slot: Slot,
    entity: Option<Entity>,
    progress: Progress,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(entity) = self.entity.take() {
            self.table.finish(self.slot, entity, self.progress);
        }
    }
}
