//! The executor, and its handles for adding, removing, stopping and querying, each with the
//! contexts where it may be used.

use crate::busy_wait::BusyWait;
use crate::core::{CONTROL, Core};
use crate::entity::Entity;
use crate::execution::Obstacle;
use crate::options::ExecutorOptions;
use crate::table::{AddError, DetachFailure};
use crate::timer_core::TimerCore;
use feros_doorbell::{ReadySet, Ringer, Slot};
use feros_sync::{Arc, AtomicBool, Ordering};
use std::fmt;
use std::sync::Weak;
use std::time::Duration;

/// Runs the callbacks of its entities; sleeps in one place when none is ready.
///
/// Callbacks run one at a time on the thread that calls a spin function, unless the executor was
/// [made](Executor::with_options) with more threads: then worker threads join that thread for as
/// long as it spins. The same entity never runs on two threads at once, and neither do entities of
/// one [group](crate::ExclusiveGroup).
///
/// Threads may share it: entities come and go from any thread and from inside callbacks while it
/// spins. Only spin functions must be called by one thread at a time. Dropping the executor drops
/// its entities; remaining ringers and handles do no harm.
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
    pub(crate) core: Arc<Core>,
}

impl Executor {
    /// An executor for one thread that serves ready entities in turn ([`Fair`](crate::Fair)).
    pub fn new() -> Self {
        Self::with_options(ExecutorOptions::default())
    }

    /// An executor with several threads, another policy, a doorbell in shared memory, ...
    pub fn with_options(options: ExecutorOptions) -> Self {
        Self { core: Arc::new(Core::new(options)) }
    }

    /// The number of threads that spin it: the calling one and its worker threads.
    pub fn threads(&self) -> usize {
        self.core.settings.threads
    }

    /// The time that threads have polled for work instead of sleeping, with
    /// [`ExecutorOptions::busy_wait`]: processor time, as far as the system gave them any.
    pub fn busy_waited(&self) -> Duration {
        self.core.settings.busy_wait.as_ref().map_or(Duration::ZERO, BusyWait::spent)
    }

    /// Adds an entity; if it was rung before, it is ready. It stays as long as the returned handle
    /// lives.
    ///
    /// # Errors
    ///
    /// [`AddError::Full`], [`AddError::RingerInUse`] and [`AddError::Frozen`]; the entity is
    /// dropped then.
    pub fn add(&self, entity: Entity) -> Result<EntityHandle, AddError> {
        EntityHandle::of(&self.core, entity)
    }

    /// A handle for callbacks and other threads that does not keep the executor alive.
    pub fn handle(&self) -> ExecutorHandle {
        ExecutorHandle { core: Arc::downgrade(&self.core) }
    }

    /// A handle that ends spinning, usable in a signal handler.
    pub fn stopper(&self) -> Stopper {
        Stopper { ready_set: Arc::clone(&self.core.ready_set), stop: Arc::clone(&self.core.stop) }
    }

    /// Whether a thread is inside one of the spin functions.
    pub fn is_spinning(&self) -> bool {
        self.core.is_spinning()
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        for (slot, entity) in self.core.table.close() {
            self.core.retire_timer(slot, entity.timer.as_ref());
            entity.ringer.detach();
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("is_spinning", &self.is_spinning()).finish_non_exhaustive()
    }
}

/// Adds entities to an executor from its callbacks and from other threads, without keeping it
/// alive.
#[derive(Clone)]
pub struct ExecutorHandle {
    core: Weak<Core>,
}

impl ExecutorHandle {
    /// Like [`Executor::add`].
    ///
    /// # Errors
    ///
    /// Like [`Executor::add`], and [`AddError::ExecutorGone`].
    pub fn add(&self, entity: Entity) -> Result<EntityHandle, AddError> {
        match self.core.upgrade() {
            Some(core) => EntityHandle::of(&core, entity),
            None => Err(AddError::ExecutorGone),
        }
    }

    /// Whether a thread is inside one of the executor's spin functions.
    pub fn is_spinning(&self) -> bool {
        self.core.upgrade().is_some_and(|core| core.is_spinning())
    }
}

impl fmt::Debug for ExecutorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorHandle")
            .field("is_spinning", &self.is_spinning())
            .finish_non_exhaustive()
    }
}

/// Keeps an entity in its executor; dropping it removes the entity.
///
/// After the handle is dropped no new execution of the entity begins, wherever the drop happens. If
/// another thread executes the entity at that moment, the execution continues, and that thread
/// drops the entity at its end. Use [`detach`](Self::detach) to wait for that end. An entity may
/// also drop its handle in its own callback: the callback runs to its end.
#[must_use = "dropping the handle removes the entity from its executor"]
pub struct EntityHandle {
    core: Weak<Core>,
    slot: Slot,
    ringer: Ringer,
    timer: Option<Arc<TimerCore>>,
}

impl EntityHandle {
    /// Adds an entity to an executor.
    fn of(core: &Arc<Core>, entity: Entity) -> Result<Self, AddError> {
        let (ringer, timer) = (entity.ringer.clone(), entity.timer.clone());
        let slot = core.add(entity)?;
        Ok(Self { core: Arc::downgrade(core), slot, ringer, timer })
    }

    /// Takes the entity out of its executor and returns it, ready to be added to another one; rings
    /// are kept.
    ///
    /// If another thread executes the entity now, this waits until it is finished: after
    /// `drop(handle.detach())` no code of the entity runs any longer, and nothing it has captured
    /// is alive. Two entities that detach each other from their callbacks on two executors would
    /// wait for each other forever.
    ///
    /// # Errors
    ///
    /// [`DetachError::OwnCallback`] if called from within the entity's own execution;
    /// [`DetachError::ExecutorGone`] if the executor was dropped, and with it the entity.
    pub fn detach(self) -> Result<Entity, DetachError> {
        let core = self.core.upgrade().ok_or(DetachError::ExecutorGone)?;
        match core.table.detach(self.slot, &self.ringer) {
            Ok(entity) => {
                core.retire_timer(self.slot, self.timer.as_ref());
                self.keep(); // nothing is left to remove
                Ok(entity)
            }
            Err(DetachFailure::Closed) => Err(DetachError::ExecutorGone),
            Err(DetachFailure::RunsInThisThread) => Err(DetachError::OwnCallback(self)),
        }
    }

    /// The reason why the entity cannot run during the callback that this thread executes: waiting
    /// for the entity in that callback would never end. `None` if there is no reason, or outside of
    /// callbacks.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let core = self.core.upgrade()?;
        let shared = core.table.shared_with_current(self.slot)?;
        Some(Obstacle { executor: core.settings.name().to_owned(), shared })
    }

    /// Leaves the entity in the executor until the executor is dropped.
    pub fn keep(mut self) {
        self.core = Weak::new();
    }
}

impl Drop for EntityHandle {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.retire_timer(self.slot, self.timer.as_ref());
            drop(core.table.remove(self.slot, &self.ringer));
        }
    }
}

impl fmt::Debug for EntityHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityHandle").field("slot", &self.slot).finish_non_exhaustive()
    }
}

/// The reason why an entity was not detached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetachError {
    /// An entity cannot be detached while it executes; this is its handle.
    #[error(
        "an entity cannot be detached by its own callback: drop the handle to remove it when the callback ends"
    )]
    OwnCallback(EntityHandle),
    /// The executor was dropped, and the entity with it.
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
    /// Makes the running blocking spin function return, after the callback that it is in, if any;
    /// if none runs, the next one returns at once. One stop ends one spin.
    ///
    /// Two atomic writes and at most one system call, without locks or allocations: safe to call in
    /// a signal handler.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.ready_set.ring(CONTROL);
    }
}
