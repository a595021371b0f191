//! The entities of one node (callbacks with their wake-up handles, see `feros_executor::Entity`),
//! and the executor that runs them.
//!
//! An entity waits here until its node is added to an executor. Wake-ups before that are not lost,
//! because the entity's ringer remembers them.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};

use feros_executor::{
    AddError, Entity, EntityHandle, ExclusiveGroup, ExecutorHandle, Obstacle, Supervision,
    Supervisor,
};
use feros_sync::Mutex;

/// The entities of one node. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct NodeMembers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    panics: Panics,
    /// The group of all callbacks whose options name no group.
    default_group: ExclusiveGroup,
}

#[derive(Default)]
struct State {
    executor: Option<ExecutorHandle>,
    members: Vec<Weak<Place>>,
}

/// The membership of a separate callback group in an executor. It does not depend on the node's
/// membership.
#[derive(Default)]
pub(crate) struct SeparateGroup {
    executor: Mutex<Option<ExecutorHandle>>,
}

/// Holds one entity, which either waits for an executor or is on an executor.
struct Place {
    spot: Mutex<Option<Spot>>,
    /// The separate group to which the entity belongs; `None` if it is added to executors with its
    /// node.
    separate: Option<Arc<SeparateGroup>>,
}

enum Spot {
    Waiting(Entity),
    OnExecutor(EntityHandle),
}

impl Place {
    /// Moves the entity to an executor.
    fn join(&self, executor: &ExecutorHandle) -> Result<(), AddError> {
        let mut spot = self.spot.lock();
        if let Some(Spot::Waiting(entity)) = spot.take() {
            *spot = Some(Spot::OnExecutor(executor.add(entity)?));
        }
        Ok(())
    }

    /// Takes the entity off its executor, and waits until a running callback has ended.
    fn leave(&self) {
        let mut spot = self.spot.lock();
        *spot = match spot.take() {
            Some(Spot::OnExecutor(handle)) => handle.detach().ok().map(Spot::Waiting),
            other => other,
        };
    }

    /// Returns the reason why the entity cannot run during the callback that this thread executes,
    /// or `None` if it can.
    fn obstacle(&self) -> Option<Obstacle> {
        // `try_lock` instead of `lock`, because a thread that takes the entity off its executor
        // holds the lock and may be waiting for this very callback.
        match &*self.spot.try_lock()? {
            Some(Spot::OnExecutor(handle)) => handle.obstacle(),
            _ => None,
        }
    }

    fn is_of(&self, group: &Arc<SeparateGroup>) -> bool {
        self.separate.as_ref().is_some_and(|separate| Arc::ptr_eq(separate, group))
    }
}

/// The owner of one entity of a node; the entity leaves the executor when the owner is dropped.
pub(crate) struct Member(
    #[allow(dead_code, reason = "owns the place until it is dropped")] Arc<Place>,
);

impl Member {
    pub(crate) fn downgrade(&self) -> WeakMember {
        WeakMember(Arc::downgrade(&self.0))
    }
}

/// A weak reference to one entity of a node.
#[derive(Clone)]
pub(crate) struct WeakMember(Weak<Place>);

impl WeakMember {
    /// Returns the reason why the entity cannot run during the callback that this thread executes,
    /// or `None` if it can.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        self.0.upgrade()?.obstacle()
    }
}

impl NodeMembers {
    /// The group of all callbacks whose options name no group.
    pub(crate) fn default_group(&self) -> &ExclusiveGroup {
        &self.0.default_group
    }

    /// Adds an entity. If its separate group or, without a group, the node is on an executor, the
    /// entity is moved there immediately.
    pub(crate) fn add(
        &self,
        entity: Entity,
        separate: Option<Arc<SeparateGroup>>,
    ) -> Result<Member, AddError> {
        let entity = entity.supervised_by(self.0.clone());
        let mut state = self.0.state.lock();
        let executor = match &separate {
            Some(group) => group.executor.lock().clone(),
            None => state.executor.clone(),
        };
        let spot = match executor {
            Some(executor) => Spot::OnExecutor(executor.add(entity)?),
            None => Spot::Waiting(entity),
        };
        let place = Arc::new(Place { spot: Mutex::new(Some(spot)), separate });
        state.members.retain(|member| member.strong_count() > 0);
        state.members.push(Arc::downgrade(&place));
        Ok(Member(place))
    }

    /// Moves all entities to an executor, except the entities of separate groups. Returns `false`
    /// if the node is on an executor already.
    pub(crate) fn join(&self, executor: &ExecutorHandle) -> Result<bool, AddError> {
        let mut state = self.0.state.lock();
        if state.executor.is_some() {
            return Ok(false);
        }
        let places = state.members.iter().filter_map(Weak::upgrade);
        places
            .filter(|place| place.separate.is_none())
            .try_for_each(|place| place.join(executor))?;
        state.executor = Some(executor.clone());
        Ok(true)
    }

    /// The form of [`join`](Self::join) for the entities of one separate group.
    pub(crate) fn join_group(
        &self,
        group: &Arc<SeparateGroup>,
        executor: &ExecutorHandle,
    ) -> Result<bool, AddError> {
        let state = self.0.state.lock();
        let mut place_of_group = group.executor.lock();
        if place_of_group.is_some() {
            return Ok(false);
        }
        let places = state.members.iter().filter_map(Weak::upgrade);
        places.filter(|place| place.is_of(group)).try_for_each(|place| place.join(executor))?;
        *place_of_group = Some(executor.clone());
        Ok(true)
    }

    /// Takes all entities off the node's executor, except the entities of separate groups, and
    /// waits until running callbacks have ended.
    pub(crate) fn leave(&self) {
        self.0.state.lock().executor = None;
        self.0
            .places()
            .iter()
            .filter(|place| place.separate.is_none())
            .for_each(|place| place.leave());
    }

    /// The form of [`leave`](Self::leave) for the entities of one separate group.
    pub(crate) fn leave_group(&self, group: &Arc<SeparateGroup>) {
        let state = self.0.state.lock();
        *group.executor.lock() = None;
        drop(state);
        self.0.places().iter().filter(|place| place.is_of(group)).for_each(|place| place.leave());
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Catches panics of the entities' callbacks. The first panic drops all entities and then calls
    /// `hook`.
    pub(crate) fn on_panic(&self, hook: PanicHook) {
        let former = self.0.panics.hook.lock().replace(hook);
        drop(former); // outside the lock
        let (off, catch) = (Supervision::Off as u8, Supervision::Catch as u8);
        let supervision = &self.0.panics.supervision;
        let _ = supervision.compare_exchange(off, catch, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Runs a callback outside any executor, and handles its panics like those of the entities.
    pub(crate) fn supervise(&self, work: impl FnOnce()) {
        feros_executor::supervise(&*self.0, work);
    }
}

type PanicHook = Box<dyn FnOnce(&str) + Send>;

/// How a node reacts to a panic in one of its callbacks.
#[derive(Default)]
struct Panics {
    /// A [`Supervision`] as a number.
    supervision: AtomicU8,
    hook: Mutex<Option<PanicHook>>,
}

impl Shared {
    fn places(&self) -> Vec<Arc<Place>> {
        self.state.lock().members.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Supervisor for Shared {
    fn supervision(&self) -> Supervision {
        match self.panics.supervision.load(Ordering::Acquire) {
            off if off == Supervision::Off as u8 => Supervision::Off,
            catch if catch == Supervision::Catch as u8 => Supervision::Catch,
            _ => Supervision::Refuse,
        }
    }

    fn panicked(&self, text: &str) {
        self.panics.supervision.store(Supervision::Refuse as u8, Ordering::Release);
        for place in self.places() {
            let spot = place.spot.lock().take();
            drop(spot); // outside the lock: the captures of a callback may run any code
        }
        let hook = self.panics.hook.lock().take(); // only the first panic calls the hook
        if let Some(hook) = hook {
            hook(text);
        }
    }
}
