//! A registry of the subscriptions of this process. In it, a publisher finds the queue of a
//! subscription that the engine reports as a match.
//!
//! The registry belongs to the process rather than to a context, because two contexts of a process
//! can exchange objects too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use feros_engine::Gid;
use feros_sync::{Mutex, RwLock, RwLockReadGuard};

use crate::intra_process::queue::AnyQueue;

#[derive(Default)]
struct Registry {
    queues: Mutex<HashMap<Gid, Weak<dyn AnyQueue>>>,
    /// Rises with each change. A publisher that sees a new value has to find its routes again.
    generation: AtomicU64,
    /// Read-locked while a subscription is being made.
    registrations: RwLock<()>,
}

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(Registry::default)
}

/// Returns a number that changes whenever a subscription of this process is made or ends.
pub(crate) fn generation() -> u64 {
    registry().generation.load(Ordering::Acquire)
}

/// The queue of a subscription of this process.
pub(crate) fn find(subscription: Gid) -> Option<Arc<dyn AnyQueue>> {
    registry().queues.lock().get(&subscription).and_then(Weak::upgrade)
}

/// Returns the queue of a subscription of this process. If subscriptions are being made, waits
/// until they are registered. Returns `None` if the subscription is about to end.
pub(crate) fn find_or_wait(subscription: Gid) -> Option<Arc<dyn AnyQueue>> {
    find(subscription).or_else(|| {
        drop(registry().registrations.write());
        find(subscription)
    })
}

/// Returns a guard to hold from before the engine makes a subscription until the subscription's
/// queue is registered. The engine may report the subscription to publishers in between. They wait
/// for the guard, so that even the first messages stay within the process.
pub(crate) fn begin_registration() -> RwLockReadGuard<'static, ()> {
    registry().registrations.read()
}

/// Keeps a queue registered until this is dropped.
pub(crate) struct Registration(Gid);

/// Registers the queue of a subscription, so that publishers find it.
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
