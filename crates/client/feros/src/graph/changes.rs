//! Wakes the threads and futures that wait for changes of the graph.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use feros_sync::{Condvar, Mutex};

/// Counts the changes of the graph, and stores the wakers of the futures that wait for a change.
#[derive(Default)]
pub(crate) struct GraphChanges {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    count: u64,
    last_future: u64,
    wakers: HashMap<u64, Waker>,
}

impl GraphChanges {
    /// Counts a change, and makes all waiters check their conditions again.
    pub(crate) fn announce(&self) {
        let wakers = {
            let mut state = self.state.lock();
            state.count += 1;
            std::mem::take(&mut state.wakers)
        };
        self.changed.notify_all();
        wakers.into_values().for_each(Waker::wake);
    }

    pub(crate) fn count(&self) -> u64 {
        self.state.lock().count
    }

    /// Waits until there are more than `seen` changes, for at most `timeout`. May return early.
    pub(crate) fn wait_beyond(&self, seen: u64, timeout: Duration) {
        let state = self.state.lock();
        if state.count == seen {
            drop(self.changed.wait_timeout(state, timeout));
        }
    }

    /// Registers a future as a waiter.
    pub(crate) fn enter(self: &Arc<Self>) -> WaitingFuture {
        let mut state = self.state.lock();
        state.last_future += 1;
        WaitingFuture { changes: self.clone(), number: state.last_future }
    }
}

/// The registration of a waiting future; dropping it ends the registration.
pub(crate) struct WaitingFuture {
    changes: Arc<GraphChanges>,
    number: u64,
}

impl WaitingFuture {
    /// Makes the next change wake the future. The caller must check its condition after this call,
    /// not before.
    pub(crate) fn listen(&self, waker: &Waker) {
        self.changes.state.lock().wakers.insert(self.number, waker.clone());
    }
}

impl Drop for WaitingFuture {
    fn drop(&mut self) {
        let waker = self.changes.state.lock().wakers.remove(&self.number);
        drop(waker); // outside the lock: the waker may own a task of the user
    }
}
