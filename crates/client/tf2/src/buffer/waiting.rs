//! The tasks and threads that wait for changes of a buffer; each of them looks again when it wakes.

use std::collections::HashMap;
use std::task::Waker;
use std::time::Duration;

use feros_sync::{Condvar, Mutex};

/// The tasks and threads that wait for changes of a buffer.
#[derive(Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

/// The changes that had happened before a task looked at the buffer. The task then sleeps until
/// there are more changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The number of changes of the buffer.
    pub(crate) changes: u64,
    /// Whether the buffer is closed, so that no new transforms arrive.
    pub(crate) is_closed: bool,
}

#[derive(Default)]
struct State {
    changes: u64,
    is_closed: bool,
    next_task: u64,
    tasks: HashMap<u64, Waker>,
    threads: usize,
}

impl Waiting {
    /// Wakes all tasks and threads, so that they look again.
    pub(super) fn wake(&self) {
        let mut state = self.state.lock();
        state.changes += 1;
        let tasks: Vec<Waker> = state.tasks.drain().map(|(_, waker)| waker).collect();
        let has_threads = state.threads > 0;
        drop(state);
        if has_threads {
            self.changed.notify_all();
        }
        tasks.into_iter().for_each(Waker::wake);
    }

    /// Ends all present and future waits.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.wake();
    }

    /// Returns the changes so far. A caller has to call this before it looks at the buffer.
    pub(crate) fn seen(&self) -> Seen {
        let state = self.state.lock();
        Seen { changes: state.changes, is_closed: state.is_closed }
    }

    /// Sleeps until there are more changes than in `seen`, at most for `timeout`.
    pub(crate) fn sleep(&self, seen: Seen, timeout: Duration) {
        let is_unchanged = |state: &mut State| state.changes == seen.changes && !state.is_closed;
        let mut state = self.state.lock();
        state.threads += 1;
        state = self.changed.wait_timeout_while(state, timeout, is_unchanged);
        state.threads -= 1;
    }

    /// Registers a waker, which is called once at the next change. A task has to register before it
    /// looks at the buffer. `task` holds the number of the task between calls.
    pub(crate) fn leave(&self, task: &mut Option<u64>, waker: Waker) -> Seen {
        let (seen, replaced) = {
            let mut state = self.state.lock();
            let task = *task.get_or_insert(state.next_task);
            state.next_task = state.next_task.max(task + 1);
            let seen = Seen { changes: state.changes, is_closed: state.is_closed };
            (seen, state.tasks.insert(task, waker))
        };
        drop(replaced); // not under the lock, since code of the async runtime drops a waker
        seen
    }

    pub(crate) fn forget(&self, task: u64) {
        let waker = self.state.lock().tasks.remove(&task);
        drop(waker); // not under the lock, as above
    }
}
