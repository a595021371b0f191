//! What those who wait for the graph sleep on: threads, and futures.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use feros_sync::{Condvar, Mutex};

/// Counts what those who wait have to look at again.
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
    /// Has everybody who waits look again.
    pub(crate) fn announce(&self) {
        let wakers = {
            let mut state = self.state.lock();
            state.count += 1;
            std::mem::take(&mut state.wakers)
        };
        self.changed.notify_all();
        wakers.into_values().for_each(Waker::wake);
    }

    /// How many changes there were.
    pub(crate) fn count(&self) -> u64 {
        self.state.lock().count
    }

    /// Waits for a change after those that were seen. May return early.
    pub(crate) fn wait_beyond(&self, seen: u64, timeout: Duration) {
        let state = self.state.lock();
        if state.count == seen {
            drop(self.changed.wait_timeout(state, timeout));
        }
    }

    /// The place of a future among those who wait.
    pub(crate) fn enter(self: &Arc<Self>) -> WaitingFuture {
        let mut state = self.state.lock();
        state.last_future += 1;
        WaitingFuture { changes: self.clone(), number: state.last_future }
    }
}

/// A future that waits; it leaves when this is dropped.
pub(crate) struct WaitingFuture {
    changes: Arc<GraphChanges>,
    number: u64,
}

impl WaitingFuture {
    /// Has the next change wake it. What it waits for is to be looked at afterwards.
    pub(crate) fn listen(&self, waker: &Waker) {
        self.changes.state.lock().wakers.insert(self.number, waker.clone());
    }
}

impl Drop for WaitingFuture {
    fn drop(&mut self) {
        let waker = self.changes.state.lock().wakers.remove(&self.number);
        drop(waker); // it may own a task of the user's, so no lock is held
    }
}
