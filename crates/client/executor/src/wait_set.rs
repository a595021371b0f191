//! Waiting for any of several entities without an executor, as `rcl_wait` does.

use crate::waitable::Waitable;
use feros_doorbell::{DoorbellMemory, ReadySet, Slot};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A set of entities. One thread waits until at least one of the entities is ready.
///
/// The same entity may be in several wait sets, and in an executor as well. Being ready is a state,
/// not an event: an entity is ready in every wait until its work has been taken.
///
/// Rings from other processes arrive if the set is made [with a doorbell](Self::with_doorbell). If
/// the same entity is in several such sets and in no executor, a thread has to wait on the set to
/// which the entity was added last: that set relays the rings to the other sets.
///
/// A wait checks each entity and sleeps on one futex. Use [`WaitSetPool`](crate::WaitSetPool) to
/// make a wait set for each wait.
///
/// ```
/// use feros_executor::{GuardCondition, WaitSet};
/// use std::sync::Arc;
///
/// let [first, second] = [(); 2].map(|()| GuardCondition::without_callback());
/// let mut wait_set = WaitSet::new();
/// wait_set.add(Arc::new(first));
/// let index = wait_set.add(Arc::new(second.clone()));
/// let trigger = second.clone();
/// let other = std::thread::spawn(move || trigger.trigger());
/// assert_eq!(wait_set.wait(None), [index]);
/// assert!(second.take());
/// # other.join().unwrap();
/// ```
pub struct WaitSet {
    // Under loom, this is loom's `Arc`, while the `Arc` of the entities is the standard `Arc`,
    // because loom's `Arc` cannot hold a trait object.
    ready_set: feros_sync::Arc<ReadySet>,
    members: Vec<Arc<dyn Waitable>>,
    ready: Vec<usize>,
}

/// All entities ring this slot, because a wait checks each of them anyway.
const SLOT: Slot = Slot::FIRST;

impl WaitSet {
    /// Makes an empty wait set that other processes cannot wake.
    pub fn new() -> Self {
        Self::of(ReadySet::private())
    }

    /// Makes an empty wait set that other processes can wake through the doorbell in `memory`.
    pub fn with_doorbell(memory: Arc<dyn DoorbellMemory>) -> Self {
        Self::of(ReadySet::shared_at(memory))
    }

    fn of(ready_set: ReadySet) -> Self {
        let ready_set = feros_sync::Arc::new(ready_set);
        Self { ready_set, members: Vec::new(), ready: Vec::new() }
    }

    /// Adds an entity, and returns its index, which is the number of entities added before it.
    /// [`wait`](Self::wait) reports entities by their indices.
    pub fn add(&mut self, entity: Arc<dyn Waitable>) -> usize {
        entity.ringer().attach_wait_set(&self.ready_set, SLOT);
        self.members.push(entity);
        self.ready.reserve(self.members.len()); // so that waiting allocates nothing
        self.members.len() - 1
    }

    /// Removes all entities. The allocated memory stays for new entities.
    pub fn clear(&mut self) {
        self.ready.clear();
        for entity in self.members.drain(..) {
            entity.ringer().detach_wait_set(&self.ready_set);
        }
    }

    /// The entities. The position of an entity in the slice is its index.
    pub fn entities(&self) -> &[Arc<dyn Waitable>] {
        &self.members
    }

    /// Whether other processes can end a wait.
    pub fn has_doorbell(&self) -> bool {
        self.ready_set.number().is_some()
    }

    /// Whether one of the entities is in another wait set too.
    pub(crate) fn shares_entities(&self) -> bool {
        self.members.iter().any(|entity| entity.ringer().wait_sets() > 1)
    }

    /// The number of entities.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no entities.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Waits until an entity is ready, for at most `timeout`. Returns the indices of all ready
    /// entities, or an empty slice if the timeout passed. A timeout of zero only checks; without a
    /// timeout the wait is unlimited.
    pub fn wait(&mut self, timeout: Option<Duration>) -> &[usize] {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            // Old rings are taken before the entities are checked, so that any ring from now on
            // ends the sleep.
            self.take_rings();
            self.look();
            let rest = end.map(|end| end.saturating_duration_since(Instant::now()));
            if !self.ready.is_empty() || rest == Some(Duration::ZERO) {
                return &self.ready;
            }
            self.ready_set.wait(self.until_ready().into_iter().chain(rest).min());
        }
    }

    fn take_rings(&self) {
        let mut by_others = false;
        self.ready_set.drain_shared(|_| by_others = true);
        self.ready_set.drain_private(|_| {});
        if by_others {
            self.members.iter().for_each(|entity| entity.ringer().relay(&self.ready_set));
        }
    }

    /// Records which entities are ready.
    fn look(&mut self) {
        self.ready.clear();
        for (index, entity) in self.members.iter().enumerate() {
            if entity.is_ready() {
                self.ready.push(index);
            }
        }
    }

    /// The time until the next entity becomes ready through the passing of time alone; zero if an
    /// entity has become ready since the check.
    fn until_ready(&self) -> Option<Duration> {
        self.members.iter().filter_map(|entity| entity.time_until_ready()).min()
    }
}

impl Default for WaitSet {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for WaitSet {
    fn drop(&mut self) {
        self.clear();
    }
}

impl fmt::Debug for WaitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSet")
            .field("entities", &self.members.len())
            .field("ready", &self.ready)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
