//! The executor, and the handles through which callbacks, other threads and signal handlers use it.

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

/// Runs the callbacks of its entities. When no entity is ready, the executor sleeps on a single
/// futex, no matter which kinds of entities it waits for.
///
/// Callbacks run one at a time on the thread that calls a spin function, unless the executor was
/// [made](Executor::with_options) with more threads. In that case, worker threads join the calling
/// thread for as long as it spins. The same entity never runs on two threads at once, and neither
/// do entities of one [group](crate::ExclusiveGroup).
///
/// Threads may share the executor: any thread and any callback may add and remove entities while it
/// spins. Only the spin functions are limited to one thread at a time. Dropping the executor drops
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
    /// Makes an executor that runs on one thread and serves ready entities in turn
    /// ([`Fair`](crate::Fair)).
    pub fn new() -> Self {
        Self::with_options(ExecutorOptions::default())
    }

    /// Makes an executor with options such as several threads, another policy or a doorbell in
    /// shared memory.
    pub fn with_options(options: ExecutorOptions) -> Self {
        Self { core: Arc::new(Core::new(options)) }
    }

    /// The number of threads that spin the executor: the calling thread and the worker threads.
    pub fn threads(&self) -> usize {
        self.core.settings.threads
    }

    /// The time that threads have polled for work instead of sleeping, with
    /// [`ExecutorOptions::busy_wait`]. This is elapsed time. The processor time is at most as long.
    pub fn busy_waited(&self) -> Duration {
        self.core.settings.busy_wait.as_ref().map_or(Duration::ZERO, BusyWait::spent)
    }

    /// Adds an entity. If the entity has been rung before, it is ready immediately. The entity
    /// stays until the returned handle is dropped.
    ///
    /// # Errors
    ///
    /// [`AddError::Full`], [`AddError::RingerInUse`] or [`AddError::Frozen`]. The entity is then
    /// dropped.
    pub fn add(&self, entity: Entity) -> Result<EntityHandle, AddError> {
        EntityHandle::of(&self.core, entity)
    }

    /// Returns a handle for callbacks and other threads that does not keep the executor alive.
    pub fn handle(&self) -> ExecutorHandle {
        ExecutorHandle { core: Arc::downgrade(&self.core) }
    }

    /// Returns a handle that makes the executor stop spinning. It may be used in a signal handler.
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
    /// Adds an entity, like [`Executor::add`].
    ///
    /// # Errors
    ///
    /// The errors of [`Executor::add`], and [`AddError::ExecutorGone`].
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
/// After the handle is dropped, no new execution of the entity begins, no matter which thread
/// dropped it. If another thread is executing the entity at that moment, the execution continues,
/// and that thread drops the entity afterwards. Use [`detach`](Self::detach) to wait for the end of
/// the execution. A callback may also drop the handle of its own entity, and still runs to its end.
#[must_use = "dropping the handle removes the entity from its executor"]
pub struct EntityHandle {
    core: Weak<Core>,
    slot: Slot,
    ringer: Ringer,
    timer: Option<Arc<TimerCore>>,
}

impl EntityHandle {
    fn of(core: &Arc<Core>, entity: Entity) -> Result<Self, AddError> {
        let (ringer, timer) = (entity.ringer.clone(), entity.timer.clone());
        let slot = core.add(entity)?;
        Ok(Self { core: Arc::downgrade(core), slot, ringer, timer })
    }

    /// Takes the entity out of its executor and returns it, to be added to another executor.
    /// Pending rings are not lost.
    ///
    /// If another thread is executing the entity, this function waits until the execution ends.
    /// After `drop(handle.detach())`, no code of the entity is running, and its captures have been
    /// dropped. Two callbacks on two executors that detach each other's entities wait for each
    /// other forever.
    ///
    /// # Errors
    ///
    /// [`DetachError::OwnCallback`] if the entity's own callback calls this function;
    /// [`DetachError::ExecutorGone`] if the executor was dropped, and the entity with it.
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

    /// Returns the reason why the entity cannot run during the callback that this thread executes,
    /// so that a wait for the entity in that callback would never end. Returns `None` if the entity
    /// can run, and outside of callbacks.
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
    /// The entity's own callback cannot detach it. The error returns the handle.
    #[error(
        "an entity cannot be detached by its own callback: drop the handle to remove it when the callback ends"
    )]
    OwnCallback(EntityHandle),
    /// The executor was dropped, and the entity with it.
    #[error(
        "the executor has been dropped together with the entity: detach entities before you drop \
         the executor"
    )]
    ExecutorGone,
}

/// A handle that makes an executor stop spinning. It may outlive the executor.
#[derive(Debug, Clone)]
pub struct Stopper {
    ready_set: Arc<ReadySet>,
    stop: Arc<AtomicBool>,
}

impl Stopper {
    /// Makes the blocking spin function that is running return, after its current callback, if any.
    /// If no spin function is running, the next call of a spin function returns immediately. One
    /// stop ends one call.
    ///
    /// This function performs two atomic writes and at most one system call, without locks or
    /// allocations, so it is safe to call in a signal handler.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.ready_set.ring(CONTROL);
    }
}
