//! Wait sets that are used again, for clients that make one per wait, as rclpy does.

use crate::wait_set::WaitSet;
use feros_doorbell::DoorbellMemory;
use feros_sync::{Arc, Mutex};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Keeps wait sets that are not in use, with their memory and doorbells. Clones are the same pool.
#[derive(Clone)]
pub struct WaitSetPool(Arc<Pool>);

struct Pool {
    idle: Mutex<Vec<WaitSet>>,
    doorbell: Box<dyn Fn() -> Option<Arc<dyn DoorbellMemory>> + Send + Sync>,
}

/// More are not kept: so many threads that wait at the same time are served without allocating.
const MOST_IDLE: usize = 16;

impl WaitSetPool {
    /// A pool of wait sets that other processes cannot ring.
    pub fn new() -> Self {
        Self::with_doorbells(|| None)
    }

    /// A pool of wait sets that other processes can ring: `doorbell` is asked for a place when a
    /// new set is made, and may have none left.
    pub fn with_doorbells(
        doorbell: impl Fn() -> Option<Arc<dyn DoorbellMemory>> + Send + Sync + 'static,
    ) -> Self {
        let idle = Mutex::new(Vec::with_capacity(MOST_IDLE));
        Self(Arc::new(Pool { idle, doorbell: Box::new(doorbell) }))
    }

    /// A wait set without entities, which goes back to the pool when it is dropped.
    pub fn take(&self) -> PooledWaitSet {
        let idle = self.0.idle.lock().pop();
        let wait_set = idle.unwrap_or_else(|| {
            (self.0.doorbell)().map_or_else(WaitSet::new, WaitSet::with_doorbell)
        });
        PooledWaitSet { wait_set: Some(wait_set), pool: self.clone() }
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
    /// There until it is dropped.
    wait_set: Option<WaitSet>,
    pool: WaitSetPool,
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
        let mut idle = self.pool.0.idle.lock();
        if idle.len() < MOST_IDLE {
            idle.push(wait_set);
        }
    }
}
