//! A registry of the subscriptions of this process. When the engine reports a subscription as a
//! match, a publisher finds the queue of that subscription here.
//!
//! The registry belongs to the process and not to a context, because two contexts of one process
//! can also exchange objects.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use feros_engine::Gid;
use feros_sync::{Mutex, RwLock, RwLockReadGuard};

use crate::intra_process::queue::AnyQueue;

#[derive(Default)]
struct Registry {
    queues: Mutex<HashMap<Gid, Weak<dyn AnyQueue>>>,
    /// This number increases with each change. A publisher that sees a new value must find its
    /// routes again.
    generation: AtomicU64,
    /// Locked for reading while a subscription is being made.
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

pub(crate) fn find(subscription: Gid) -> Option<Arc<dyn AnyQueue>> {
    registry().queues.lock().get(&subscription).and_then(Weak::upgrade)
}

/// Returns the queue of a subscription of this process. If subscriptions are being made at this
/// time, waits until they are registered. Returns `None` if the subscription is about to end.
pub(crate) fn find_or_wait(subscription: Gid) -> Option<Arc<dyn AnyQueue>> {
    find(subscription).or_else(|| {
        drop(registry().registrations.write());
        find(subscription)
    })
}

/// Returns a guard that makes [`find_or_wait`] wait. Hold this guard from before the engine makes a
/// subscription until the queue of the subscription is registered. Between these points, the engine
/// may report the subscription to publishers. The publishers wait for the guard, so that even the
/// first messages stay within the process.
pub(crate) fn begin_registration() -> RwLockReadGuard<'static, ()> {
    registry().registrations.read()
}

/// Keeps a queue registered until this value is dropped.
pub(crate) struct Registration(Gid);

/// Registers the queue of a subscription, so that publishers can find it.
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
