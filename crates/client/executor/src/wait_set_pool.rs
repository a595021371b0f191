//! Reusable wait sets, for callers that make a wait set for each wait, as rclpy does
//! (`rclpy/rclpy/executors.py`).

use crate::wait_set::WaitSet;
use feros_doorbell::DoorbellMemory;
use feros_sync::{Arc, Mutex};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Keeps unused wait sets, with their memory and doorbells. Clones refer to the same pool.
#[derive(Clone)]
pub struct WaitSetPool(Arc<Pool>);

struct Pool {
    idle: Mutex<Vec<WaitSet>>,
    doorbell: Box<dyn Fn() -> Option<Arc<dyn DoorbellMemory>> + Send + Sync>,
}

/// The limit on unused wait sets: this many threads can wait at the same time without allocating.
const MOST_IDLE: usize = 16;

impl WaitSetPool {
    /// Makes a pool of wait sets that other processes cannot ring.
    pub fn new() -> Self {
        Self::with_doorbells(|| None)
    }

    /// Makes a pool of wait sets that other processes can ring: `doorbell` is called for each new
    /// set, and may return `None`.
    pub fn with_doorbells(
        doorbell: impl Fn() -> Option<Arc<dyn DoorbellMemory>> + Send + Sync + 'static,
    ) -> Self {
        let idle = Mutex::new(Vec::with_capacity(MOST_IDLE));
        Self(Arc::new(Pool { idle, doorbell: Box::new(doorbell) }))
    }

    /// Returns a wait set without entities. Dropping the wait set returns it to the pool.
    pub fn take(&self) -> PooledWaitSet {
        self.take_where(|_| false)
    }

    /// Returns a wait set that was [kept](PooledWaitSet::keep) with the wanted entities, or a wait
    /// set without entities if there is no such set. Dropping the wait set returns it to the pool.
    pub fn take_where(&self, is_wanted: impl Fn(&WaitSet) -> bool) -> PooledWaitSet {
        let (idle, is_found) = self.take_idle(is_wanted);
        let mut wait_set = idle.unwrap_or_else(|| {
            (self.0.doorbell)().map_or_else(WaitSet::new, WaitSet::with_doorbell)
        });
        if !is_found {
            wait_set.clear();
        }
        PooledWaitSet { wait_set: Some(wait_set), pool: self.clone() }
    }
}

impl WaitSetPool {
    /// Takes an idle wait set out of the pool. The flag is true if the set has the wanted entities.
    /// As long as there are few idle sets, sets with other entities stay for callers that may want
    /// them again.
    fn take_idle(&self, is_wanted: impl Fn(&WaitSet) -> bool) -> (Option<WaitSet>, bool) {
        let mut idle = self.0.idle.lock();
        if let Some(index) = idle.iter().rposition(is_wanted) {
            return (Some(idle.remove(index)), true);
        }
        let spare = idle.iter().rposition(WaitSet::is_empty);
        let spare = spare.or((idle.len() > MOST_IDLE / 2).then_some(0));
        (spare.map(|index| idle.remove(index)), false)
    }

    fn put_back(&self, mut wait_set: WaitSet) {
        if wait_set.shares_entities() {
            wait_set.clear();
        }
        let mut idle = self.0.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.push(wait_set);
        }
    }
}

impl Default for WaitSetPool {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WaitSetPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSetPool").field("idle", &self.0.idle.lock().len()).finish()
    }
}

/// A [`WaitSet`] of a pool.
#[derive(Debug)]
pub struct PooledWaitSet {
    /// Present until this value is dropped.
    wait_set: Option<WaitSet>,
    pool: WaitSetPool,
}

impl PooledWaitSet {
    /// Returns the wait set to the pool with its entities, for a caller that waits for the same
    /// entities again. If one of the entities is in another wait set too, this set is emptied
    /// first, because other processes ring the set to which an entity was added last, so a thread
    /// has to wait on that set.
    pub fn keep(mut self) {
        if let Some(wait_set) = self.wait_set.take() {
            self.pool.put_back(wait_set);
        }
    }
}

impl Deref for PooledWaitSet {
    type Target = WaitSet;

    fn deref(&self) -> &WaitSet {
        self.wait_set.as_ref().expect("a wait set that was not dropped")
    }
}

impl DerefMut for PooledWaitSet {
    fn deref_mut(&mut self) -> &mut WaitSet {
        self.wait_set.as_mut().expect("a wait set that was not dropped")
    }
}

impl Drop for PooledWaitSet {
    fn drop(&mut self) {
        let Some(mut wait_set) = self.wait_set.take() else { return };
        wait_set.clear();
        self.pool.put_back(wait_set);
    }
}
