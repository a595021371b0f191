//! Which servers live in this process: how a client finds the queue behind a match that the engine
//! reports.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use feros_rmw::Gid;
use feros_sync::{Mutex, RwLock, RwLockReadGuard};

use crate::calls::inbox::RequestQueue;

#[derive(Default)]
struct Registry {
    queues: Mutex<HashMap<Gid, Weak<RequestQueue>>>,
    /// Rises with each change; clients look again when it did.
    generation: AtomicU64,
    /// Read by those who make a server.
    registrations: RwLock<()>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

/// A number that changes whenever a server of this process comes or goes.
pub(crate) fn generation() -> u64 {
    REGISTRY.generation.load(Ordering::Acquire)
}

/// The queue of a server of this process, which may be in the making. `None`: it is about to go.
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

/// To be held from before the engine makes a server until its queue is registered: the engine tells
/// clients of it in between, and they wait so that their first requests come within the process.
pub(crate) fn begin_registration() -> RwLockReadGuard<'static, ()> {
    REGISTRY.registrations.read()
}

/// Keeps a queue findable.
pub(crate) struct Registration(Gid);

/// Has clients find the queue of a server.
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
