//! The thread that waits for responses in shared memory on behalf of clients whose responses are
//! awaited as futures. For such a client, no other thread sleeps at the doorbell that servers of
//! other processes ring.
//!
//! The thread starts with the first such client of the process, and ends when the last one has
//! ended.

use std::sync::{Arc, Weak};

use feros_doorbell::{ReadySet, Ringer, Slot};
use feros_engine::FailureCounter;
use feros_sync::Mutex;

use crate::calls::waiting;

/// The slot of the ready set that all rings use. One slot is enough, because the thread checks all
/// clients whenever it wakes up.
const SLOT: Slot = Slot::FIRST;

/// A client that the thread listens for.
pub(crate) trait Listening: Send + Sync {
    fn ringer(&self) -> &Ringer;
    /// Notifies the client if it has responses.
    fn notify(&self);
}

struct Listener {
    ready_set: Arc<ReadySet>,
    clients: Vec<Weak<dyn Listening>>,
}

/// The state of the thread, or `None` if the thread does not run.
static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

/// Makes the thread listen for responses to a client until the client is dropped. Returns whether
/// the thread runs.
pub(crate) fn listen_for(client: &Arc<dyn Listening>) -> bool {
    let mut listener = LISTENER.lock();
    let ready_set = match &mut *listener {
        Some(listener) => {
            listener.clients.push(Arc::downgrade(client));
            Arc::clone(&listener.ready_set)
        }
        None => {
            let ready_set = waiting::ready_set();
            let set = Arc::clone(&ready_set);
            let thread = std::thread::Builder::new().name("feros-responses".into());
            if let Err(error) = thread.spawn(move || listen(&set)) {
                static FAILED: FailureCounter = FailureCounter::new();
                if let Some(so_far) = FAILED.so_far() {
                    tracing::error!(
                        "a response that is awaited may come late: the thread that listens for \
                         responses cannot be started ({error}){so_far}; end other threads, or \
                         raise `ulimit -u`"
                    );
                }
                return false;
            }
            let clients = vec![Arc::downgrade(client)];
            *listener = Some(Listener { ready_set: Arc::clone(&ready_set), clients });
            ready_set
        }
    };
    drop(listener);
    client.ringer().attach_wait_set(&ready_set, SLOT);
    true
}

/// Wakes the thread, so that it forgets the clients that have ended.
pub(crate) fn forget_gone() {
    if let Some(listener) = &*LISTENER.lock() {
        listener.ready_set.ring(SLOT);
    }
}

fn listen(ready_set: &Arc<ReadySet>) {
    loop {
        let mut by_others = false;
        ready_set.drain_shared(|_| by_others = true);
        ready_set.drain_private(|_| {});
        let Some(clients) = living_clients() else { return };
        for client in &clients {
            if by_others {
                client.ringer().relay(ready_set);
            }
            client.notify();
        }
        drop(clients); // a client may end here
        waiting::sleep(ready_set, true, None);
    }
}

/// Returns the clients for which the thread listens. If it returns `None`, no client is left, and
/// the thread ends.
fn living_clients() -> Option<Vec<Arc<dyn Listening>>> {
    let mut listener = LISTENER.lock();
    let known = &mut listener.as_mut()?.clients;
    known.retain(|client| client.strong_count() > 0);
    let living: Vec<_> = known.iter().filter_map(Weak::upgrade).collect();
    if known.is_empty() {
        *listener = None;
    }
    (!living.is_empty() || listener.is_some()).then_some(living)
}
