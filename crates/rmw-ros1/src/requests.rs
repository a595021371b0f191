//! Requests that a server has received, and where calls of ROS 1 wait for their answers.

use std::sync::Arc;

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
pub(crate) type Requests = feros_rmw_inbox::Requests<Request>;

/// Calls that were taken and wait for their answers.
pub(crate) type Taken = feros_rmw_inbox::Pending<Arc<Slot>>;

/// Puts a request behind the others; a caller of ROS 1 whose request gave way is told.
pub(crate) fn put(requests: &Requests, request: Request) {
    if let Some(slot) = requests.push(request).and_then(|oldest| oldest.slot) {
        let depth = requests.depth();
        slot.answer(Err(format!("more than {depth} requests wait for the server")));
    }
}
