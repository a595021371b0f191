//! Responses that a client has received and that its user has not taken yet.

use std::collections::VecDeque;

use feros_engine::Notify;
use feros_engine::engine::Gate;
use feros_sync::{AtomicU64, Mutex, Ordering};

use crate::inbox::Received;

/// The limit on the waiting responses of a client. New responses do not replace waiting responses,
/// because the client waits for each of them.
const MOST_WAITING: usize = 1024;
const MOST_BYTES: usize = 64 << 20;

struct Waiting<M> {
    queue: VecDeque<M>,
    bytes: usize,
}

/// A bounded queue of responses.
pub struct Responses<M> {
    waiting: Mutex<Waiting<M>>,
    on_response: Gate,
    lost: AtomicU64,
}

impl<M: Received> Responses<M> {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(on_response: Notify) -> Self {
        Self {
            waiting: Mutex::new(Waiting { queue: VecDeque::new(), bytes: 0 }),
            on_response: Gate::new(Some(on_response)),
            lost: AtomicU64::new(0),
        }
    }

    /// Adds a response and calls the notification. If there is no room, the response is lost.
    pub fn push(&self, response: M) {
        {
            let mut waiting = self.waiting.lock();
            let size = response.size_bytes();
            let is_full = waiting.queue.len() >= MOST_WAITING
                || (waiting.bytes + size > MOST_BYTES && !waiting.queue.is_empty());
            if is_full {
                self.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            waiting.bytes += size;
            waiting.queue.push_back(response);
        }
        self.on_response.notify();
    }

    /// Takes the oldest response.
    pub fn pop(&self) -> Option<M> {
        let mut waiting = self.waiting.lock();
        let response = waiting.queue.pop_front()?;
        waiting.bytes -= response.size_bytes();
        Some(response)
    }

    /// The number of responses that were lost because there was no room.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Closes the notification.
    pub fn close(&self) {
        self.on_response.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    struct Bytes(usize);

    impl Received for Bytes {
        fn size_bytes(&self) -> usize {
            self.0
        }
    }

    fn responses() -> (Responses<Bytes>, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let notify = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        (Responses::new(Arc::new(notify)), calls)
    }

    #[test]
    fn the_oldest_stay_and_what_finds_no_room_is_counted() {
        let (responses, calls) = responses();
        (0..MOST_WAITING + 3).for_each(|size| responses.push(Bytes(size)));
        assert_eq!(responses.lost(), 3);
        assert_eq!(calls.load(Ordering::Relaxed), MOST_WAITING, "a lost response does not notify");
        let sizes: Vec<_> = std::iter::from_fn(|| responses.pop()).map(|bytes| bytes.0).collect();
        assert_eq!(sizes, (0..MOST_WAITING).collect::<Vec<_>>());
    }

    #[test]
    fn one_response_has_room_whatever_its_size() {
        let (responses, _) = responses();
        responses.push(Bytes(MOST_BYTES + 1));
        responses.push(Bytes(1));
        assert_eq!(responses.lost(), 1);
        assert_eq!(responses.pop().map(|bytes| bytes.0), Some(MOST_BYTES + 1));
        responses.push(Bytes(MOST_BYTES));
        assert_eq!(responses.lost(), 1);
    }

    #[test]
    fn nothing_is_notified_after_the_close() {
        let (responses, calls) = responses();
        responses.close();
        responses.push(Bytes(1));
        assert_eq!(calls.load(Ordering::Relaxed), 0);
    }
}
