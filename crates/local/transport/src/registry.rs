//! A registry of endpoints of this process: of its subscriptions, or of its servers. When the
//! engine reports such an endpoint as a match, a publisher or client finds the queue of that
//! endpoint here.
//!
//! The registries belong to the process and not to a context, because two contexts of one process
//! can also exchange objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use feros_engine::Gid;
use feros_sync::{Mutex, RwLock, RwLockReadGuard};

/// The queues of the endpoints of one kind.
pub(crate) struct Registry<Q: ?Sized + 'static> {
    queues: Mutex<BTreeMap<Gid, Weak<Q>>>,
    /// This number increases with each change. A publisher or client that sees a new value must
    /// find its routes again.
    generation: AtomicU64,
    /// Locked for reading while an endpoint is being made.
    registrations: RwLock<()>,
}

impl<Q: ?Sized + 'static> Registry<Q> {
    pub(crate) const fn new() -> Self {
        Self {
            queues: Mutex::new(BTreeMap::new()),
            generation: AtomicU64::new(0),
            registrations: RwLock::new(()),
        }
    }

    /// Returns a number that changes whenever an endpoint is made or ends.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn find(&self, endpoint: Gid) -> Option<Arc<Q>> {
        self.queues.lock().get(&endpoint).and_then(Weak::upgrade)
    }

    /// Returns the queue of an endpoint of this process. If endpoints are being made at this time,
    /// waits until they are registered. Returns `None` if the endpoint is about to end.
    pub(crate) fn find_or_wait(&self, endpoint: Gid) -> Option<Arc<Q>> {
        self.find(endpoint).or_else(|| {
            drop(self.registrations.write());
            self.find(endpoint)
        })
    }

    /// Returns a guard that makes [`find_or_wait`](Self::find_or_wait) wait. Hold this guard from
    /// before the engine makes an endpoint until the queue of the endpoint is registered. Between
    /// these points, the engine may report the endpoint as a match. The other endpoints wait for
    /// the guard, so that even the first messages stay within the process.
    pub(crate) fn begin_registration(&self) -> RwLockReadGuard<'_, ()> {
        self.registrations.read()
    }

    /// Registers the queue of an endpoint, so that others can find it.
    pub(crate) fn register(&'static self, endpoint: Gid, queue: &Arc<Q>) -> Registration<Q> {
        self.queues.lock().insert(endpoint, Arc::downgrade(queue));
        self.generation.fetch_add(1, Ordering::AcqRel);
        Registration { registry: self, endpoint }
    }
}

/// Keeps a queue registered until this value is dropped.
pub(crate) struct Registration<Q: ?Sized + 'static> {
    registry: &'static Registry<Q>,
    endpoint: Gid,
}

impl<Q: ?Sized + 'static> Drop for Registration<Q> {
    fn drop(&mut self) {
        self.registry.queues.lock().remove(&self.endpoint);
        self.registry.generation.fetch_add(1, Ordering::AcqRel);
    }
}
