//! The subscriptions of this process: how a publisher finds the queue behind a match that the
//! engine reports.
//!
//! The registry belongs to the process rather than to a context: two contexts of a process share
//! memory too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use feros_rmw::Gid;
use feros_sync::{Mutex, RwLock, RwLockReadGuard};

use crate::intra_process::queue::AnyQueue;

#[derive(Default)]
struct Registry {
    queues: Mutex<HashMap<Gid, Weak<dyn AnyQueue>>>,
    /// Rises with each change; a publisher that sees a new value finds its routes again.
    generation: AtomicU64,
    /// Read-locked while a subscription is being made.
    registrations: RwLock<()>,
}

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(Registry::default)
}

/// A number that changes whenever a subscription of this process comes or goes.
pub(crate) fn generation() -> u64 {
    registry().generation.load(Ordering::Acquire)
}

/// The queue of a subscription of this process.
pub(crate) fn find(subscription: Gid) -> Option<Arc<dyn AnyQueue>> {
    registry().queues.lock().get(&subscription).and_then(Weak::upgrade)
}

/// The queue of a subscription of this process, which may still be in the making. `None`: the
/// subscription is about to end.
pub(crate) fn find_or_wait(subscription: Gid) -> Option<Arc<dyn AnyQueue>> {
    find(subscription).or_else(|| {
        drop(registry().registrations.write());
        find(subscription)
    })
}

/// Held from before the engine makes a subscription until its queue is registered. The engine may
/// tell publishers of the subscription in between; they wait, so that even its first messages stay
/// within the process.
pub(crate) fn begin_registration() -> RwLockReadGuard<'static, ()> {
    registry().registrations.read()
}

/// Keeps a queue registered.
pub(crate) struct Registration(Gid);

/// Registers the queue of a subscription, where publishers find it.
pub(crate) fn register(subscription: Gid, queue: Arc<impl AnyQueue + 'static>) -> Registration {
    let queue: Arc<dyn AnyQueue> = queue;
    registry().queues.lock().insert(subscription, Arc::downgrade(&queue));
    registry().generation.fetch_add(1, Ordering::AcqRel);
    Registration(subscription)
}

impl Drop for Registration {
    fn drop(&mut self) {
        registry().queues.lock().remove(&self.0);
        registry().generation.fetch_add(1, Ordering::AcqRel);
    }
}
