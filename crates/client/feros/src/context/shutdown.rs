//! The shutdown of a context, and the listeners that it calls.
//!
//! The thread that handles signals owns this part of a context while it shuts the context down. It
//! does not own the session: the program's own thread drops the session before `main` returns.
//! Otherwise the process could end while the signal thread drops the session: it would not tell
//! other nodes that it leaves, and its shared memory would stay.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use feros_engine::Ending;
use feros_sync::Mutex;

use crate::graph::changes::GraphChanges;
use crate::signals::ShutDown;

/// The state of the shutdown, and the listeners.
pub(super) struct Shutdown {
    has_begun: AtomicBool,
    session: Ending,
    changes: Arc<GraphChanges>,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    next_number: u64,
    by_number: HashMap<u64, Box<dyn Fn() + Send + Sync>>,
}

/// Keeps a listener of [`Context::on_shutdown`](crate::Context::on_shutdown) registered; dropping
/// the guard removes the listener.
#[must_use = "the listener is forgotten when this is dropped"]
pub struct ShutdownGuard {
    shutdown: Weak<Shutdown>,
    number: u64,
}

impl Drop for ShutdownGuard {
    fn drop(&mut self) {
        if let Some(shutdown) = self.shutdown.upgrade() {
            let listener = shutdown.listeners.lock().by_number.remove(&self.number);
            drop(listener); // outside the lock: its captures may run any code
        }
    }
}

impl Shutdown {
    pub(super) fn new(session: Ending, changes: Arc<GraphChanges>) -> Self {
        Self { has_begun: AtomicBool::new(false), session, changes, listeners: Mutex::default() }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// Ends all spinning and waiting, tells the engine that the session will end, and writes the
    /// trace. Only the first call has an effect.
    pub(super) fn begin(&self) {
        if !self.has_begun.swap(true, Ordering::AcqRel) {
            self.call_listeners();
            self.changes.announce();
            self.session.begin();
            write_trace();
        }
    }

    /// Registers a listener, and calls it immediately if the shutdown has begun.
    pub(super) fn add_listener(
        self: &Arc<Self>,
        listener: impl Fn() + Send + Sync + 'static,
    ) -> ShutdownGuard {
        let number = {
            let mut listeners = self.listeners.lock();
            listeners.next_number += 1;
            let number = listeners.next_number;
            listeners.by_number.insert(number, Box::new(listener));
            number
        };
        if self.has_begun() {
            self.call_listeners();
        }
        ShutdownGuard { shutdown: Arc::downgrade(self), number }
    }

    fn call_listeners(&self) {
        let listeners = std::mem::take(&mut self.listeners.lock().by_number);
        listeners.values().for_each(|listener| listener());
    }
}

impl ShutDown for Shutdown {
    fn shut_down(&self) {
        self.begin();
    }
}

pub(super) fn write_trace() {
    if let Err(error) = feros_trace::write() {
        tracing::error!("{error}");
    }
}
