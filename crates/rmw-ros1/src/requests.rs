//! Requests that a server has received and its user has not taken yet.

use std::collections::VecDeque;
use std::sync::Arc;

use feros_rmw::{History, KEEP_ALL_LIMIT, Notify, QosProfile};
use feros_rmw_inbox::Gate;
use feros_sync::{Condvar, Mutex};

use crate::message::Message;

/// Where a call of ROS 1 waits for its answer.
#[derive(Default)]
pub(crate) struct Slot {
    answer: Mutex<Option<Result<Vec<u8>, String>>>,
    changed: Condvar,
}

impl Slot {
    pub(crate) fn answer(&self, answer: Result<Vec<u8>, String>) {
        *self.answer.lock() = Some(answer);
        self.changed.notify_all();
    }

    pub(crate) fn wait(&self) -> Result<Vec<u8>, String> {
        let mut answer = self.answer.lock();
        loop {
            match answer.take() {
                Some(answer) => return answer,
                None => answer = self.changed.wait(answer),
            }
        }
    }
}

/// A request that was not taken yet.
pub(crate) struct Request {
    pub(crate) message: Message,
    /// Where the caller waits, if it is one of ROS 1.
    pub(crate) slot: Option<Arc<Slot>>,
}

/// Requests that were not taken yet.
pub(crate) struct Requests {
    queue: Mutex<VecDeque<Request>>,
    depth: usize,
    on_request: Gate,
}

impl Requests {
    pub(crate) fn new(qos: &QosProfile, on_request: Notify) -> Arc<Self> {
        let depth = if qos.history == History::KeepAll { KEEP_ALL_LIMIT } else { qos.depth.max(1) };
        Arc::new(Self { queue: Mutex::default(), depth, on_request: Gate::new(Some(on_request)) })
    }

    /// A request of a client of the process.
    pub(crate) fn put(&self, message: Message) {
        self.push(Request { message, slot: None });
    }

    pub(crate) fn push(&self, request: Request) {
        let oldest = {
            let mut queue = self.queue.lock();
            let oldest = if queue.len() >= self.depth { queue.pop_front() } else { None };
            queue.push_back(request);
            oldest
        };
        if let Some(slot) = oldest.and_then(|oldest| oldest.slot) {
            let depth = self.depth;
            slot.answer(Err(format!("more than {depth} requests wait for the server")));
        }
        self.on_request.notify();
    }

    /// The oldest one.
    pub(crate) fn take(&self) -> Option<Request> {
        self.queue.lock().pop_front()
    }

    /// All of them.
    pub(crate) fn take_all(&self) -> VecDeque<Request> {
        std::mem::take(&mut *self.queue.lock())
    }

    /// Ends the notifications.
    pub(crate) fn close(&self) {
        self.on_request.close();
    }
}
