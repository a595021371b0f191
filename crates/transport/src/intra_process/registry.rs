//! Which subscriptions live in this process: how a publisher finds the queue behind a match that
//! the engine reports.
//!
//! It belongs to the process and not to a context, because two contexts of one process share memory
//! too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use feros_rmw::Gid;
use feros_sync::{Mutex, RwLock, RwLockReadGuard};

use crate::intra_process::queue::AnyQueue;

#[derive(Default)]
struct Registry {
    queues: Mutex<HashMap<Gid, Weak<dyn AnyQueue>>>,
    /// Rises with each change; publishers look again when it did.
    generation: AtomicU64,
    /// Read by those who make a subscription.
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

/// The queue of a subscription of this process, which may be in the making. `None`: it is about to
/// go.
pub(crate) fn find_or_wait(subscription: Gid) -> Option<Arc<dyn AnyQueue>> {
    find(subscription).or_else(|| {
        drop(registry().registrations.write());
        find(subscription)
    })
}

/// To be held from before the engine makes a subscription until its queue is registered: the engine
/// tells publishers of it in between, and they wait so that its first messages too come within the
/// process.
pub(crate) fn begin_registration() -> RwLockReadGuard<'static, ()> {
    registry().registrations.read()
}

/// Keeps a queue findable.
pub(crate) struct Registration(Gid);

/// Has publishers find the queue of a subscription.
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
