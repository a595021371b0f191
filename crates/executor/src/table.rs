//! The entities of an executor by slot, and how they come and go while it spins.
//!
//! While a body runs it is out of the table, so the table's lock is never held meanwhile; what
//! others want from it then (to be removed, to be handed out) is noted in its slot and done when it
//! returns.

use crate::desk::{Board, Desk, Work};
use crate::entity::{Entity, Progress};
use crate::executor::AddError;
use crate::groups::{GroupNumber, Groups};
use crate::policy::{Policy, Step};
use feros_doorbell::ReadySet;
use feros_doorbell::Ringer;
use feros_doorbell::{CAPACITY, Slot};
use feros_sync::{Arc, Condvar, MutexGuard};
use std::cell::Cell;
use std::thread::ThreadId;

pub(crate) struct Table {
    ready_set: Arc<ReadySet>,
    desk: Desk<Entries>,
    /// Notified when an entity that somebody waits for has left.
    left: Condvar,
}

pub(crate) struct Entries {
    policy: Box<dyn Policy>,
    seats: Vec<Seat>,
    groups: Groups,
    free: Vec<Slot>,
    /// Several threads spin, so callback groups make a difference.
    has_crew: bool,
    is_frozen: bool,
    is_closed: bool,
}

struct Seat {
    state: State,
    group: Option<GroupNumber>,
    /// When it became ready, for trace points; 0 if that is not known.
    found_nanos: u64,
}

impl Seat {
    fn vacant() -> Self {
        Self { state: State::Vacant, group: None, found_nanos: 0 }
    }
}

enum State {
    /// No entity, or the slot that the executor keeps for itself.
    Vacant,
    Idle(Box<Entity>),
    /// Out of the table, executed by this thread. `again`: it became ready meanwhile, and that is
    /// owed.
    Running {
        thread: ThreadId,
        again: bool,
    },
    /// Running, and to be dropped when it returns.
    Removed,
    /// Running, and to be handed to somebody who waits.
    Awaited,
    /// Returned for the one who waits.
    Left(Box<Entity>),
}

/// Why an entity could not be taken out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TakeOutError {
    RunsInThisThread,
    Closed,
}

/// What becomes of an entity that has more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requeue {
    /// It is ready, for the very next turn.
    AtOnce,
    /// Its flag is set, for the next time that flags are looked at.
    Later,
}

impl Work for Entries {
    fn has_ready(&self) -> bool {
        self.policy.has_ready()
    }
}

impl Table {
    /// A table without entities that never uses the slots below `first`.
    pub(crate) fn new(
        ready_set: Arc<ReadySet>,
        first: Slot,
        policy: Box<dyn Policy>,
        has_crew: bool,
    ) -> Self {
        let seats = (0..first.index()).map(|_| Seat::vacant()).collect();
        let entries = Entries {
            policy,
            seats,
            groups: Groups::default(),
            free: Vec::new(),
            has_crew,
            is_frozen: false,
            is_closed: false,
        };
        let desk = Desk::new(Arc::clone(&ready_set), entries);
        Self { ready_set, desk, left: Condvar::new() }
    }

    /// Where the threads that spin meet.
    pub(crate) fn desk(&self) -> &Desk<Entries> {
        &self.desk
    }

    /// No entity comes any more.
    pub(crate) fn freeze(&self) {
        self.desk.lock().is_frozen = true;
    }

    /// Gives the entity a slot and lets its ringer ring there.
    pub(crate) fn insert(&self, entity: Entity) -> Result<Slot, AddError> {
        let mut board = self.desk.lock();
        let entries = &mut **board;
        // The entity of an error is a parameter, hence dropped after the lock, which is a local.
        if entries.is_closed {
            return Err(AddError::ExecutorGone);
        }
        if entries.is_frozen {
            return Err(AddError::Frozen);
        }
        let slot = match entries.free.last() {
            Some(&slot) => slot,
            None => Slot::new(entries.seats.len()).ok_or(AddError::Full { capacity: CAPACITY })?,
        };
        if !entity.ringer.attach(&self.ready_set, slot) {
            return Err(AddError::RingerInUse);
        }
        if entries.free.pop().is_none() {
            entries.seats.push(Seat::vacant());
        }
        entries.policy.admit(slot, &entity.attributes);
        let group = entity.attributes.group.as_ref().map(|group| entries.groups.join(group));
        entries.seats[slot.index()] =
            Seat { state: State::Idle(Box::new(entity)), group, found_nanos: 0 };
        Ok(slot)
    }

    /// Executes a step of an entity that was [picked](Entries::pick), and notes whether something
    /// is ready afterwards.
    ///
    /// # Panics
    ///
    /// If the body does and nobody catches it; the entity is back in its slot then, and ready.
    pub(crate) fn execute(
        &self,
        Picked { slot, entity, step, found_nanos }: Picked,
        requeue: Requeue,
        has_ready: &Cell<bool>,
    ) {
        feros_trace::begin_turn(found_nanos);
        // A panic may leave work behind: the guard takes that for granted until it is told better.
        let progress = Progress::More;
        let entity = Some(entity);
        let mut running = Running { table: self, slot, entity, progress, requeue, has_ready };
        match running.entity.as_mut().map(|entity| entity.execute(step)) {
            Some(Ok(progress)) => running.progress = progress,
            Some(Err(caught)) => {
                drop(running);
                caught.tell();
            }
            None => {}
        }
    }

    /// Says whether something is ready.
    fn finish(
        &self,
        slot: Slot,
        entity: Box<Entity>,
        progress: Progress,
        requeue: Requeue,
    ) -> bool {
        let mut board = self.desk.lock();
        let Entries { policy, seats, groups, has_crew, .. } = &mut **board;
        let seat = &mut seats[slot.index()];
        if let Some(group) = seat.group.filter(|_| *has_crew) {
            groups.exit(group).for_each(|parked| policy.make_ready(parked));
        }
        match std::mem::replace(&mut seat.state, State::Vacant) {
            State::Running { again, .. } => {
                if again || progress == Progress::More {
                    match requeue {
                        Requeue::AtOnce => policy.make_ready(slot),
                        Requeue::Later => self.ready_set.ring(slot),
                    }
                }
                seat.state = State::Idle(entity);
                policy.has_ready()
            }
            State::Awaited => {
                if progress == Progress::More {
                    entity.ringer.ring(); // pending, since the entity is detached
                }
                seat.state = State::Left(entity);
                drop(board);
                self.left.notify_all();
                true // or not: it will be looked at
            }
            _ => {
                board.release(slot);
                drop(board);
                drop(entity);
                true
            }
        }
    }

    /// Takes the entity out without waiting: it is returned, or dropped by the thread that runs it
    /// now.
    pub(crate) fn remove(&self, slot: Slot, ringer: &Ringer) -> Option<Box<Entity>> {
        let mut board = self.desk.lock();
        let entries = &mut **board;
        if entries.is_closed {
            return None;
        }
        entries.dismiss(slot, ringer); // before the slot is free for another
        let seat = &mut entries.seats[slot.index()];
        match std::mem::replace(&mut seat.state, State::Vacant) {
            State::Idle(entity) => {
                entries.release(slot);
                Some(entity)
            }
            _ => {
                seat.state = State::Removed;
                None
            }
        }
    }

    /// Takes the entity out; waits until it returns if another thread runs it now. Nothing happens
    /// on an error.
    pub(crate) fn take_out(&self, slot: Slot, ringer: &Ringer) -> Result<Entity, TakeOutError> {
        let mut board = self.desk.lock();
        if board.is_closed {
            return Err(TakeOutError::Closed);
        }
        if let State::Running { thread, .. } = board.seats[slot.index()].state
            && thread == std::thread::current().id()
        {
            return Err(TakeOutError::RunsInThisThread);
        }
        board.dismiss(slot, ringer);
        let state = &mut board.seats[slot.index()].state;
        if matches!(state, State::Running { .. }) {
            *state = State::Awaited;
        }
        loop {
            let seat = &mut board.seats[slot.index()];
            match std::mem::replace(&mut seat.state, State::Vacant) {
                State::Idle(entity) | State::Left(entity) => {
                    board.release(slot);
                    return Ok(*entity);
                }
                other => seat.state = other,
            }
            board = self.wait_for_leaving(board);
        }
    }

    fn wait_for_leaving<'a>(
        &self,
        board: MutexGuard<'a, Board<Entries>>,
    ) -> MutexGuard<'a, Board<Entries>> {
        self.left.wait(board)
    }

    /// Takes all entities out, for good. Nobody may be executing one.
    pub(crate) fn close(&self) -> Vec<(Slot, Box<Entity>)> {
        let mut board = self.desk.lock();
        board.is_closed = true;
        let seats = std::mem::take(&mut board.seats);
        let numbered = seats.into_iter().enumerate();
        let entities = numbered.filter_map(|(index, seat)| match seat.state {
            State::Idle(entity) | State::Left(entity) => Some((Slot::new(index)?, entity)),
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
}

impl Entries {
    /// Makes the entity in this slot ready; strangers may have set the flag of a slot that has
    /// none.
    pub(crate) fn make_ready(&mut self, slot: Slot) {
        let Some(seat) = self.seats.get_mut(slot.index()) else { return };
        if !matches!(seat.state, State::Vacant) {
            if seat.found_nanos == 0 {
                seat.found_nanos = feros_trace::found_nanos();
            }
            self.policy.make_ready(slot);
        }
    }

    /// Takes the entity out of its slot that is next.
    ///
    /// It is ready no more when its body looks for work, so that a ring while it looks is not lost.
    pub(crate) fn pick(&mut self, thread: ThreadId) -> Option<Picked> {
        loop {
            let (slot, step) = self.policy.next()?;
            let Seat { state, group, found_nanos } = &mut self.seats[slot.index()];
            if let Some(group) = group.filter(|_| self.has_crew)
                && matches!(state, State::Idle(_) | State::Running { .. })
                && !self.groups.enter(group, slot)
            {
                continue; // comes back when the group is free
            }
            match std::mem::replace(state, State::Vacant) {
                State::Idle(entity) => {
                    *state = State::Running { thread, again: false };
                    let found_nanos = std::mem::take(found_nanos);
                    return Some(Picked { slot, entity, step, found_nanos });
                }
                State::Running { thread, .. } => *state = State::Running { thread, again: true },
                other => *state = other,
            }
        }
    }

    /// Ends rings to the slot. That the entity was ready goes with it.
    fn dismiss(&mut self, slot: Slot, ringer: &Ringer) {
        let group = self.seats[slot.index()].group;
        let was_parked = group.is_some_and(|group| self.groups.dismiss(group, slot));
        let was_ready = self.policy.dismiss(slot) || was_parked;
        let is_owed = matches!(self.seats[slot.index()].state, State::Running { again: true, .. });
        ringer.detach();
        if was_ready || is_owed {
            ringer.ring(); // pending from now on
        }
    }

    fn release(&mut self, slot: Slot) {
        let seat = &mut self.seats[slot.index()];
        seat.state = State::Vacant;
        if let Some(group) = seat.group.take() {
            self.groups.leave(group);
        }
        self.free.push(slot);
    }
}

/// An entity out of its slot; brings it back when dropped, by a panic too.
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
