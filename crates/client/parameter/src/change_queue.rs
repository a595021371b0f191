//! The queue of changes, which notifies the observer and the post-set callbacks in the order of the
//! changes.

use std::collections::VecDeque;
use std::sync::Arc;

use feros_engine::FailureCounter;
use feros_sync::Mutex;

use crate::callbacks::Callbacks;
use crate::change::{Change, ChangeKind, ChangeObserver};

/// The limit on queued changes, which pile up while a post-set callback does not return.
const CAPACITY: usize = 1000;

/// Delivers changes one after the other, while no lock is held, on a thread that made one of the
/// changes.
pub(crate) struct ChangeQueue {
    node: String,
    observer: Arc<dyn ChangeObserver>,
    state: Mutex<State>,
    dropped: FailureCounter,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Change>,
    is_delivering: bool,
}

/// Allows another thread to deliver when this delivery ends, even if it ends with a panic.
struct Delivery<'a>(&'a ChangeQueue);

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        self.0.state.lock().is_delivering = false;
    }
}

impl ChangeQueue {
    pub(crate) fn new(node: String, observer: Arc<dyn ChangeObserver>) -> Self {
        Self { node, observer, state: Mutex::default(), dropped: FailureCounter::new() }
    }

    /// Adds a change. The caller holds the lock of the parameters, so that changes are queued in
    /// the order in which they were made.
    pub(crate) fn push(&self, change: Change) {
        let mut state = self.state.lock();
        if state.waiting.len() >= CAPACITY {
            state.waiting.pop_front();
            if let Some(dropped) = self.dropped.count() {
                tracing::error!(
                    "{}: {dropped} changes of parameters have been dropped so far: a post-set \
                     callback takes too long",
                    self.node
                );
            }
        }
        state.waiting.push_back(change);
    }

    /// Delivers all queued changes, unless another thread is delivering them.
    pub(crate) fn deliver(&self, callbacks: &Callbacks) {
        loop {
            let change = {
                let mut state = self.state.lock();
                if state.is_delivering {
                    return;
                }
                let Some(change) = state.waiting.pop_front() else { return };
                state.is_delivering = true;
                change
            };
            let delivery = Delivery(self);
            if change.kinds != [ChangeKind::Undeclared] {
                self.observer.before_callbacks(&change);
                callbacks.post_set(&change.parameters);
            }
            self.observer.after_callbacks(&change);
            drop(delivery);
        }
    }
}
