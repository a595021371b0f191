//! The executor and its handles: who may add, remove, stop and ask, from where.

use crate::builder::{Builder, Settings};
use crate::entity::Entity;
use crate::policy::Policy;
use crate::spin::Spinners;
use crate::table::{Table, TakeOutError};
use crate::timer::TimerCore;
use crate::timer_queue::Timers;
use feros_doorbell::DoorbellMemory;
use feros_doorbell::ReadySet;
use feros_doorbell::Ringer;
use feros_doorbell::Slot;
use feros_sync::{Arc, AtomicBool, Mutex, Ordering};
use std::fmt;
use std::sync::Weak;

/// Runs the callbacks of its entities; sleeps in one place when none is ready.
///
/// They run one at a time on the thread that calls a spin function, unless the executor was
/// [built](Executor::builder) with more threads: then that thread has helpers of its own for as
/// long as it spins. The same entity never runs on two threads at once, and neither do entities of
/// one [group](crate::ExclusiveGroup).
///
/// May be shared between threads: entities come and go from any thread and from inside callbacks
/// while it spins. Only calling spin functions is for one thread at a time. Dropping the executor
/// drops its entities; ringers and handles that remain do no harm.
///
/// ```
/// use feros_executor::{Executor, GuardCondition};
/// use std::{sync::Arc, thread, time::Duration};
///
/// let executor = Arc::new(Executor::new());
/// let spinning = thread::spawn({
///     let executor = Arc::clone(&executor);
///     move || executor.spin()
/// });
/// let stopper = executor.stopper();
/// let (condition, entity) = GuardCondition::new(move || stopper.stop());
/// let _entity = executor.add(entity)?;
/// condition.trigger();
/// spinning.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Executor {
    pub(crate) shared: Arc<Shared>,
}

/// What the executor's handles share with it.
pub(crate) struct Shared {
    pub(crate) ready_set: Arc<ReadySet>,
    pub(crate) table: Table,
    pub(crate) timers: Timers,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) spinners: Mutex<Spinners>,
    pub(crate) settings: Settings,
}

/// The slot with which the executor itself is called: stopped, given an earlier deadline, a
/// future's progress.
pub(crate) fn control_slot() -> Slot {
    Slot::new(0).expect("zero is below any capacity")
}

impl Executor {
    /// An executor for one thread that serves ready entities in turn ([`Fair`](crate::Fair)).
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// For an executor with several threads, another policy, a place in shared memory, ...
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// An executor for one thread that asks `policy` which ready entity is next.
    pub fn with_policy(policy: impl Policy + 'static) -> Self {
        Self::builder().policy(policy).build()
    }

    /// An executor for one thread that other processes can ring too: see [`Builder::doorbell`].
    pub fn with_doorbell(memory: Arc<dyn DoorbellMemory>, policy: impl Policy + 'static) -> Self {
        Self::builder().policy(policy).doorbell(memory).build()
    }

    pub(crate) fn of(ready_set: ReadySet, policy: Box<dyn Policy>, settings: Settings) -> Self {
        let ready_set = Arc::new(ready_set);
        let has_crew = settings.threads > 1;
        let shared = Shared {
            table: Table::new(Arc::clone(&ready_set), control_slot().next(), policy, has_crew),
            timers: Timers::new(Arc::clone(&ready_set), control_slot()),
            ready_set,
            stop: Arc::new(AtomicBool::new(false)),
            spinners: Mutex::default(),
            settings,
        };
        Self { shared: Arc::new(shared) }
    }

    /// How many threads spin it: the calling one and its helpers.
    pub fn threads(&self) -> usize {
        self.shared.settings.threads
    }

    /// Takes an entity in; if it was rung before, it is ready. It stays as long as the returned
    /// handle.
    ///
    /// # Errors
    ///
    /// [`AddError::Full`], [`AddError::RingerInUse`] and [`AddError::Frozen`]; the entity is
    /// dropped then.
    pub fn add(&self, entity: Entity) -> Result<EntityHandle, AddError> {
        self.shared.add(entity, Arc::downgrade(&self.shared))
    }

    /// A handle for callbacks and other threads that does not keep the executor alive.
    pub fn handle(&self) -> ExecutorHandle {
        ExecutorHandle { shared: Arc::downgrade(&self.shared) }
    }

    /// A handle that makes spinning return, usable in a signal handler.
    pub fn stopper(&self) -> Stopper {
        Stopper {
            ready_set: Arc::clone(&self.shared.ready_set),
            stop: Arc::clone(&self.shared.stop),
        }
    }

    /// Whether some thread is inside one of the spin functions.
    pub fn is_spinning(&self) -> bool {
        self.shared.spinners.lock().is_spinning()
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        for (slot, entity) in self.shared.table.close() {
            self.shared.retire_timer(slot, entity.timer.as_ref());
            entity.ringer.detach();
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("is_spinning", &self.is_spinning()).finish_non_exhaustive()
    }
}

impl Shared {
    fn add(&self, entity: Entity, shared: Weak<Self>) -> Result<EntityHandle, AddError> {
        let (ringer, timer) = (entity.ringer.clone(), entity.timer.clone());
        let slot = self.table.insert(entity)?;
        if let Some(timer) = &timer {
            self.timers.add(slot, timer);
        }
        Ok(EntityHandle { shared, slot, ringer, timer })
    }

    fn retire_timer(&self, slot: Slot, timer: Option<&Arc<TimerCore>>) {
        if let Some(timer) = timer {
            self.timers.remove(slot, timer);
        }
    }
}

/// Adds entities to an executor from its callbacks and from other threads, without keeping it
/// alive.
#[derive(Clone)]
pub struct ExecutorHandle {
    shared: Weak<Shared>,
}

impl ExecutorHandle {
    /// As [`Executor::add`].
    ///
    /// # Errors
    ///
    /// As [`Executor::add`], and [`AddError::ExecutorGone`].
    pub fn add(&self, entity: Entity) -> Result<EntityHandle, AddError> {
        match self.shared.upgrade() {
            Some(shared) => shared.add(entity, self.shared.clone()),
            None => Err(AddError::ExecutorGone),
        }
    }

    /// Whether some thread is inside one of the executor's spin functions.
    pub fn is_spinning(&self) -> bool {
        self.shared.upgrade().is_some_and(|shared| shared.spinners.lock().is_spinning())
    }
}

impl fmt::Debug for ExecutorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorHandle")
            .field("is_spinning", &self.is_spinning())
            .finish_non_exhaustive()
    }
}

/// Why an entity was not added to an executor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// All slots are in use.
    #[error(
        "the executor holds {capacity} entities, which is its limit: divide them among several executors"
    )]
    Full {
        /// The number of slots of a doorbell, of which the executor keeps one for itself.
        capacity: usize,
    },
    /// The ringer rings another entity already.
    #[error(
        "the entity's ringer belongs to another entity of an executor: give each entity a ringer of its own"
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

/// Keeps an entity in its executor; dropping it removes the entity.
///
/// After the handle is dropped no new execution of the entity begins, wherever the drop happens. If
/// another thread executes the entity at that moment, the execution goes on, and that thread drops
/// the entity when it is finished. Use [`detach`](Self::detach) where one has to wait for that. In
/// a callback of its own an entity may be dropped too: the callback runs to its end.
#[must_use = "dropping the handle removes the entity from its executor"]
pub struct EntityHandle {
    shared: Weak<Shared>,
    slot: Slot,
    ringer: Ringer,
    timer: Option<Arc<TimerCore>>,
}

impl EntityHandle {
    /// Takes the entity out of its executor and returns it, fit to be added to another one; rings
    /// are kept.
    ///
    /// If another thread executes the entity now, this waits until it is finished: after
    /// `drop(handle.detach())` no code of the entity runs any more, and nothing it has captured is
    /// alive. Two entities that detach each other from their callbacks on two executors would wait
    /// for each other for ever.
    ///
    /// # Errors
    ///
    /// [`DetachError::OwnCallback`] if called from within the entity's own execution;
    /// [`DetachError::ExecutorGone`] if the executor was dropped, and with it the entity.
    pub fn detach(self) -> Result<Entity, DetachError> {
        let shared = self.shared.upgrade().ok_or(DetachError::ExecutorGone)?;
        match shared.table.take_out(self.slot, &self.ringer) {
            Ok(entity) => {
                shared.retire_timer(self.slot, self.timer.as_ref());
                self.keep(); // there is nothing left to remove
                Ok(entity)
            }
            Err(TakeOutError::Closed) => Err(DetachError::ExecutorGone),
            Err(TakeOutError::RunsInThisThread) => Err(DetachError::OwnCallback(self)),
        }
    }

    /// Leaves the entity in the executor for as long as that lives.
    pub fn keep(mut self) {
        self.shared = Weak::new();
    }
}

impl Drop for EntityHandle {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.retire_timer(self.slot, self.timer.as_ref());
            drop(shared.table.remove(self.slot, &self.ringer));
        }
    }
}

impl fmt::Debug for EntityHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityHandle").field("slot", &self.slot).finish_non_exhaustive()
    }
}

/// Why an entity was not handed out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetachError {
    /// An entity cannot be handed out while it executes; here is its handle again.
    #[error(
        "an entity cannot be detached by its own callback: drop the handle to remove it when the callback ends"
    )]
    OwnCallback(EntityHandle),
    /// The executor is gone, and the entity with it.
    #[error(
        "the executor has been dropped, and the entity with it: detach entities before dropping the executor"
    )]
    ExecutorGone,
}

/// Makes an executor stop spinning. Outlives the executor without harm.
#[derive(Debug, Clone)]
pub struct Stopper {
    ready_set: Arc<ReadySet>,
    stop: Arc<AtomicBool>,
}

impl Stopper {
    /// Makes the blocking spin function that runs now return, after the callback that it is in, if
    /// any; if none runs, the next one returns at once. One stop ends one spin.
    ///
    /// Two atomic writes and at most one system call, no lock, no allocation: safe to call in a
    /// signal handler.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.ready_set.ring(control_slot());
    }
}
