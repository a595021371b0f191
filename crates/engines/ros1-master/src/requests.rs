//! The requests that a server has received, and the pending calls of ROS 1 nodes.

use std::sync::Arc;

use feros_sync::Mutex;
use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::message::Message;

/// The body of a response, or the reason why there is no response.
pub(crate) type Answer = Result<Vec<u8>, String>;

/// A slot in which the connection of a ROS 1 node waits for the response to its call.
pub(crate) struct Slot(Mutex<Option<Sender<Answer>>>);

impl Slot {
    /// Creates a slot and the receiver of its response.
    pub(crate) fn new() -> (Arc<Self>, Receiver<Answer>) {
        let (sender, receiver) = channel();
        (Arc::new(Self(Mutex::new(Some(sender)))), receiver)
    }

    pub(crate) fn answer(&self, answer: Answer) {
        if let Some(sender) = self.0.lock().take() {
            let _ = sender.send(answer); // the caller may have left
        }
    }
}

/// A request that the server has not taken yet.
pub(crate) struct Request {
    pub(crate) message: Message,
    /// The slot for the response, if the caller is a ROS 1 node.
    pub(crate) slot: Option<Arc<Slot>>,
}

/// Requests that the server has not taken yet.
pub(crate) type Requests = feros_inbox::Requests<Request>;

/// Calls of ROS 1 nodes that the server has taken but has not responded to yet.
pub(crate) type Taken = feros_inbox::Pending<Arc<Slot>>;

/// Queues a request. If this removes the request of a ROS 1 node from the queue, that node gets an
/// error.
pub(crate) fn put(requests: &Requests, request: Request) {
    if let Some(slot) = requests.push(request).and_then(|oldest| oldest.slot) {
        let depth = requests.depth();
        slot.answer(Err(format!("more than {depth} requests already wait for the server")));
    }
}
