//! Requests that a server has received, and where calls of ROS 1 wait for their answers.

use std::sync::Arc;

use feros_sync::Mutex;
use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::message::Message;

/// The body of a response, or why there is none.
pub(crate) type Answer = Result<Vec<u8>, String>;

/// Where a call of ROS 1 waits for its answer.
pub(crate) struct Slot(Mutex<Option<Sender<Answer>>>);

impl Slot {
    /// A place for an answer, and what it comes to.
    pub(crate) fn new() -> (Arc<Self>, Receiver<Answer>) {
        let (sender, receiver) = channel();
        (Arc::new(Self(Mutex::new(Some(sender)))), receiver)
    }

    pub(crate) fn answer(&self, answer: Answer) {
        if let Some(sender) = self.0.lock().take() {
            let _ = sender.send(answer); // the caller may have gone
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
