//! A registry of the servers of this process. When the engine reports a server as a match, a client
//! finds the queue of that server here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use feros_engine::Gid;
use feros_sync::{Mutex, RwLock, RwLockReadGuard};

use crate::calls::inbox::RequestQueue;

#[derive(Default)]
struct Registry {
    queues: Mutex<HashMap<Gid, Weak<RequestQueue>>>,
    /// This number increases with each change. A client that sees a new value must find its routes
    /// again.
    generation: AtomicU64,
    /// Locked for reading while a server is being made.
    registrations: RwLock<()>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

/// Returns a number that changes whenever a server of this process is made or ends.
pub(crate) fn generation() -> u64 {
    REGISTRY.generation.load(Ordering::Acquire)
}

/// Returns the queue of a server of this process. If servers are being made at this time, waits
/// until they are registered. Returns `None` if the server is about to end.
pub(crate) fn find_or_wait(server: Gid) -> Option<Arc<RequestQueue>> {
    let find = || {
        let queue = REGISTRY.queues.lock().get(&server).and_then(Weak::upgrade);
        queue.filter(|queue| !queue.is_closed())
    };
    find().or_else(|| {
        drop(REGISTRY.registrations.write());
        find()
    })
}

/// Returns a guard that makes [`find_or_wait`] wait. Hold this guard from before the engine makes a
/// server until the queue of the server is registered. Between these points, the engine may report
/// the server to clients, and even their first requests must stay within the process.
pub(crate) fn begin_registration() -> RwLockReadGuard<'static, ()> {
    REGISTRY.registrations.read()
}

/// Keeps a queue registered until this value is dropped.
pub(crate) struct Registration(Gid);

/// Registers the queue of a server, so that clients can find it.
pub(crate) fn register(server: Gid, queue: &Arc<RequestQueue>) -> Registration {
    REGISTRY.queues.lock().insert(server, Arc::downgrade(queue));
    REGISTRY.generation.fetch_add(1, Ordering::AcqRel);
    Registration(server)
}

impl Drop for Registration {
    fn drop(&mut self) {
        REGISTRY.queues.lock().remove(&self.0);
        REGISTRY.generation.fetch_add(1, Ordering::AcqRel);
    }
}
