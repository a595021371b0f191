//! The entities of an executor by slot, and their addition and removal while it spins.
//!
//! A body is taken out of the table while it runs, so that the table's lock is free. If another
//! thread wants to remove or detach the entity during that time, the slot records the request,
//! which is fulfilled when the body returns.

use crate::entity::{Entity, Progress};
use crate::execution::{ExecutorId, Noted, Shared, shared_with_current};
use crate::groups::{GroupNumber, Groups};
use crate::leader_followers::{LeaderFollowers, State, Work};
use crate::policy::{Policy, Step};
use feros_doorbell::ReadySet;
use feros_doorbell::Ringer;
use feros_doorbell::{CAPACITY, Slot};
use feros_sync::{Arc, Condvar, MutexGuard};
use std::cell::Cell;
use std::thread::ThreadId;

pub(crate) struct Table {
    ready_set: Arc<ReadySet>,
    shared: LeaderFollowers<Entries>,
    /// Notified when an entity has been detached for a waiting thread.
    detached: Condvar,
}

pub(crate) struct Entries {
    policy: Box<dyn Policy>,
    slots: Vec<Entry>,
    groups: Groups,
    free: Vec<Slot>,
    /// Whether callback groups have an effect, because several threads spin.
    has_groups: bool,
    is_frozen: bool,
    is_closed: bool,
}

struct Entry {
    state: EntityState,
    group: Option<GroupNumber>,
    /// The time at which the entity became ready, for trace points; 0 if unknown.
    found_nanos: u64,
}

impl Entry {
    fn vacant() -> Self {
        Self { state: EntityState::Vacant, group: None, found_nanos: 0 }
    }
}

enum EntityState {
    /// The slot has no entity, or belongs to the executor itself.
    Vacant,
    Idle(Box<Entity>),
    /// This thread has taken the entity out of the table and executes it. `again`: the entity has
    /// become ready in the meantime and has to be executed again.
    Running {
        thread: ThreadId,
        again: bool,
    },
    /// The entity is running, and will be dropped when it returns.
    Removed,
    /// The entity is running. When it returns, the thread that waits for it will take it.
    Detaching,
    /// The entity has returned, and the waiting thread can take it.
    Detached(Box<Entity>),
}

/// The reason why an entity was not added to an executor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// All slots are in use.
    #[error(
        "the executor holds {capacity} entities, which is its limit: divide them among several executors"
    )]
    Full {
        /// The number of slots of a doorbell, without the slot of the executor itself.
        capacity: usize,
    },
    /// The ringer already belongs to another entity.
    #[error(
        "the ringer of the entity already belongs to another entity of an executor: give each \
         entity its own ringer"
    )]
    RingerInUse,
    /// The executor is frozen and has spun.
    #[error(
        "the executor is frozen: add everything before it spins for the first time, or build it without `frozen`"
    )]
    Frozen,
    /// The handle outlived its executor.
    #[error("the executor has been dropped: keep it alive while entities are added to it")]
    ExecutorGone,
}

/// The reason why an entity could not be detached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DetachFailure {
    RunsInThisThread,
    Closed,
}

/// How an entity with more work becomes ready again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requeue {
    /// The entity is ready immediately, for the next turn.
    AtOnce,
    /// The entity's flag is set, so the entity becomes ready the next time the flags are read.
    Later,
}

impl Work for Entries {
    fn has_ready(&self) -> bool {
        self.policy.has_ready()
    }
}

impl Table {
    /// Makes a table without entities. It never uses the slots below `first`.
    pub(crate) fn new(
        ready_set: Arc<ReadySet>,
        first: Slot,
        policy: Box<dyn Policy>,
        has_groups: bool,
    ) -> Self {
        let slots = (0..first.index()).map(|_| Entry::vacant()).collect();
        let entries = Entries {
            policy,
            slots,
            groups: Groups::default(),
            free: Vec::new(),
            has_groups,
            is_frozen: false,
            is_closed: false,
        };
        let shared = LeaderFollowers::new(Arc::clone(&ready_set), entries);
        Self { ready_set, shared, detached: Condvar::new() }
    }

    /// The state that the spinning threads share.
    pub(crate) fn shared(&self) -> &LeaderFollowers<Entries> {
        &self.shared
    }

    /// Makes the table refuse new entities.
    pub(crate) fn freeze(&self) {
        self.shared.lock().is_frozen = true;
    }

    /// Gives the entity a slot, and directs its ringer there.
    pub(crate) fn insert(&self, entity: Entity) -> Result<Slot, AddError> {
        let mut guard = self.shared.lock();
        let entries = &mut **guard;
        // On an error, the entity is dropped after the lock is released: parameters outlive local
        // variables.
        if entries.is_closed {
            return Err(AddError::ExecutorGone);
        }
        if entries.is_frozen {
            return Err(AddError::Frozen);
        }
        let slot = match entries.free.last() {
            Some(&slot) => slot,
            None => Slot::new(entries.slots.len()).ok_or(AddError::Full { capacity: CAPACITY })?,
        };
        if !entity.ringer.attach(&self.ready_set, slot) {
            return Err(AddError::RingerInUse);
        }
        if entries.free.pop().is_none() {
            entries.slots.push(Entry::vacant());
        }
        entries.policy.add(slot, &entity.attributes);
        let group = entity.attributes.group.as_ref().map(|group| entries.groups.join(group));
        entries.slots[slot.index()] =
            Entry { state: EntityState::Idle(Box::new(entity)), group, found_nanos: 0 };
        Ok(slot)
    }

    /// Executes a step of an entity that was [picked](Entries::pick), and stores in `has_ready`
    /// whether any entity is ready afterwards. `is_alone`: whether this is the only thread that
    /// spins the executor.
    ///
    /// # Panics
    ///
    /// If the body panics and no supervisor catches the panic. The entity is then back in its slot,
    /// and ready.
    pub(crate) fn execute(
        &self,
        Picked { slot, entity, step, found_nanos, group }: Picked,
        requeue: Requeue,
        has_ready: &Cell<bool>,
        is_alone: bool,
    ) {
        feros_trace::begin_turn(found_nanos);
        // A panic may leave work behind. So the guard assumes that more work waits, until the body
        // returns its progress.
        let progress = Progress::More;
        let entity = Some(entity);
        let mut running = Running { table: self, slot, entity, progress, requeue, has_ready };
        let executed = {
            let _noted = Noted::begin(self.executor(), slot, group, is_alone);
            running.entity.as_mut().map(|entity| entity.execute(step))
        };
        match executed {
            Some(Ok(progress)) => running.progress = progress,
            Some(Err(caught)) => {
                drop(running);
                caught.report();
            }
            None => {}
        }
    }

    /// Puts an entity back into its slot; returns whether any entity is ready.
    fn finish(
        &self,
        slot: Slot,
        entity: Box<Entity>,
        progress: Progress,
        requeue: Requeue,
    ) -> bool {
        let mut guard = self.shared.lock();
        let Entries { policy, slots, groups, has_groups, .. } = &mut **guard;
        let entry = &mut slots[slot.index()];
        if let Some(group) = entry.group.filter(|_| *has_groups) {
            groups.exit(group).for_each(|parked| policy.make_ready(parked));
        }
        match std::mem::replace(&mut entry.state, EntityState::Vacant) {
            EntityState::Running { again, .. } => {
                if again || progress == Progress::More {
                    match requeue {
                        Requeue::AtOnce => policy.make_ready(slot),
                        Requeue::Later => self.ready_set.ring(slot),
                    }
                }
                entry.state = EntityState::Idle(entity);
                policy.has_ready()
            }
            EntityState::Detaching => {
                if progress == Progress::More {
                    entity.ringer.ring(); // stays pending, since the entity is detached
                }
                entry.state = EntityState::Detached(entity);
                drop(guard);
                self.detached.notify_all();
                true // an assumption, which the next turn checks
            }
            _ => {
                guard.release(slot);
                drop(guard);
                drop(entity);
                true
            }
        }
    }

    /// Takes the entity out without waiting. Returns the entity, unless a thread is running it now.
    /// In that case, that thread drops the entity afterwards.
    pub(crate) fn remove(&self, slot: Slot, ringer: &Ringer) -> Option<Box<Entity>> {
        let mut guard = self.shared.lock();
        let entries = &mut **guard;
        if entries.is_closed {
            return None;
        }
        entries.dismiss(slot, ringer); // before another entity can get the slot
        let entry = &mut entries.slots[slot.index()];
        match std::mem::replace(&mut entry.state, EntityState::Vacant) {
            EntityState::Idle(entity) => {
                entries.release(slot);
                Some(entity)
            }
            _ => {
                entry.state = EntityState::Removed;
                None
            }
        }
    }

    /// Takes the entity out. If another thread is running the entity, waits until it returns. On an
    /// error, nothing changes.
    pub(crate) fn detach(&self, slot: Slot, ringer: &Ringer) -> Result<Entity, DetachFailure> {
        let mut guard = self.shared.lock();
        if guard.is_closed {
            return Err(DetachFailure::Closed);
        }
        if let EntityState::Running { thread, .. } = guard.slots[slot.index()].state
            && thread == std::thread::current().id()
        {
            return Err(DetachFailure::RunsInThisThread);
        }
        guard.dismiss(slot, ringer);
        let state = &mut guard.slots[slot.index()].state;
        if matches!(state, EntityState::Running { .. }) {
            *state = EntityState::Detaching;
        }
        loop {
            let entry = &mut guard.slots[slot.index()];
            match std::mem::replace(&mut entry.state, EntityState::Vacant) {
                EntityState::Idle(entity) | EntityState::Detached(entity) => {
                    guard.release(slot);
                    return Ok(*entity);
                }
                other => entry.state = other,
            }
            guard = self.wait_for_detaching(guard);
        }
    }

    /// Each executor has one table, whose address identifies it.
    fn executor(&self) -> ExecutorId {
        ExecutorId(std::ptr::from_ref(self).addr())
    }

    /// Returns the resource that the entity in this slot shares with the entity that this thread
    /// executes, and that keeps the entity in the slot from running at the same time.
    pub(crate) fn shared_with_current(&self, slot: Slot) -> Option<Shared> {
        shared_with_current(self.executor(), slot, || {
            self.shared.lock().slots.get(slot.index()).and_then(|entry| entry.group)
        })
    }

    fn wait_for_detaching<'a>(
        &self,
        guard: MutexGuard<'a, State<Entries>>,
    ) -> MutexGuard<'a, State<Entries>> {
        self.detached.wait(guard)
    }

    /// Takes all entities out and closes the table. No thread may be executing an entity.
    pub(crate) fn close(&self) -> Vec<(Slot, Box<Entity>)> {
        let mut guard = self.shared.lock();
        guard.is_closed = true;
        let slots = std::mem::take(&mut guard.slots);
        let numbered = slots.into_iter().enumerate();
        let entities = numbered.filter_map(|(index, entry)| match entry.state {
            EntityState::Idle(entity) | EntityState::Detached(entity) => {
                Some((Slot::new(index)?, entity))
            }
            _ => None,
        });
        entities.collect()
    }
}

/// An entity to be executed, out of its slot.
pub(crate) struct Picked {
    slot: Slot,
    entity: Box<Entity>,
    pub(crate) step: Step,
    found_nanos: u64,
    group: Option<GroupNumber>,
}

impl Entries {
    /// Makes the entity in this slot ready, if there is one: other processes may set the flag of an
    /// empty slot.
    pub(crate) fn make_ready(&mut self, slot: Slot) {
        let Some(entry) = self.slots.get_mut(slot.index()) else { return };
        if !matches!(entry.state, EntityState::Vacant) {
            if entry.found_nanos == 0 {
                entry.found_nanos = feros_trace::found_nanos();
            }
            self.policy.make_ready(slot);
        }
    }

    /// Makes the entity in this slot ready after another process has rung it, and relays the ring
    /// to the entity's wait sets. (That is unnecessary while the entity runs, since it is taking
    /// its work.)
    pub(crate) fn relay(&mut self, slot: Slot, from: &Arc<ReadySet>) {
        if let Some(Entry { state: EntityState::Idle(entity), .. }) = self.slots.get(slot.index()) {
            entity.ringer.relay(from);
        }
        self.make_ready(slot);
    }

    /// Takes the next entity out of its slot.
    ///
    /// The entity stops being ready before its body looks for work, so that a ring during the
    /// execution is not lost.
    pub(crate) fn pick(&mut self, thread: ThreadId) -> Option<Picked> {
        loop {
            let (slot, step) = self.policy.next()?;
            let Entry { state, group, found_nanos } = &mut self.slots[slot.index()];
            if let Some(group) = group.filter(|_| self.has_groups)
                && matches!(state, EntityState::Idle(_) | EntityState::Running { .. })
                && !self.groups.enter(group, slot)
            {
                continue; // the entity becomes ready when the group is free
            }
            match std::mem::replace(state, EntityState::Vacant) {
                EntityState::Idle(entity) => {
                    *state = EntityState::Running { thread, again: false };
                    let found_nanos = std::mem::take(found_nanos);
                    let group = *group;
                    return Some(Picked { slot, entity, step, found_nanos, group });
                }
                EntityState::Running { thread, .. } => {
                    *state = EntityState::Running { thread, again: true }
                }
                other => *state = other,
            }
        }
    }

    /// Detaches the ringer from the slot. If the entity was ready, the ringer keeps a pending ring.
    fn dismiss(&mut self, slot: Slot, ringer: &Ringer) {
        let group = self.slots[slot.index()].group;
        let was_parked = group.is_some_and(|group| self.groups.dismiss(group, slot));
        let was_ready = self.policy.remove(slot) || was_parked;
        let is_owed =
            matches!(self.slots[slot.index()].state, EntityState::Running { again: true, .. });
        ringer.detach();
        if was_ready || is_owed {
            ringer.ring(); // stays pending
        }
    }

    fn release(&mut self, slot: Slot) {
        let entry = &mut self.slots[slot.index()];
        entry.state = EntityState::Vacant;
        if let Some(group) = entry.group.take() {
            self.groups.leave(group);
        }
        self.free.push(slot);
    }
}

/// Holds an entity that is out of its slot. Dropping this value returns the entity to the slot,
/// even during a panic.
struct Running<'a> {
    table: &'a Table,
    slot: Slot,
    entity: Option<Box<Entity>>,
    progress: Progress,
    requeue: Requeue,
    has_ready: &'a Cell<bool>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(entity) = self.entity.take() {
            self.has_ready.set(self.table.finish(self.slot, entity, self.progress, self.requeue));
        }
    }
}
