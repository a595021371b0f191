//! The queues of calls within a process: one queue for the requests to a server, and one queue for
//! the responses to a client.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use feros_doorbell::Ringer;
use feros_engine::{Gid, Notify, Payload, Stamp};
use feros_sync::{Condvar, Mutex};

use crate::registry::Registry;

/// The queues of the servers of this process.
pub(crate) static SERVERS: Registry<RequestQueue> = Registry::new();

/// The limit on the number of requests in the queue of a server of this process. Clients wait until
/// there is room.
const MOST_REQUESTS: usize = 256;
/// The limit on the number of responses in the queue of a client of this process. It prevents a
/// server that answers a request many times from filling the memory.
pub(crate) const MOST_RESPONSES: usize = 1024;

/// A request or response within a process.
pub(crate) struct LocalMessage {
    /// The number of the request.
    pub(crate) number: i64,
    /// The sender. A client is identified by the endpoint that receives its responses.
    pub(crate) sender: Gid,
    pub(crate) stamp: Stamp,
    pub(crate) payload: Payload,
}

/// A queue with a limited length, which can be read without the queue's lock.
struct Bounded<T> {
    queue: Mutex<VecDeque<T>>,
    len: AtomicUsize,
}

impl<T> Bounded<T> {
    fn new() -> Self {
        Self { queue: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    /// Takes the oldest item. Returns it with the length that the queue had with it.
    fn take(&self) -> Option<(T, usize)> {
        if self.is_empty() {
            return None;
        }
        let mut queue = self.queue.lock();
        let before = queue.len();
        let taken = queue.pop_front();
        self.len.store(queue.len(), Ordering::Release);
        taken.map(|taken| (taken, before))
    }
}

/// The requests that clients of the same process have sent to one server.
pub(crate) struct RequestQueue {
    requests: Bounded<(LocalMessage, Weak<ResponseInbox>)>,
    room: Condvar,
    ringer: Ringer,
    is_closed: AtomicBool,
}

/// The reason why a request was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotPut {
    /// The server has ended.
    Gone,
    /// The server took no request within the time limit.
    Busy,
}

impl RequestQueue {
    pub(crate) fn new(ringer: Ringer) -> Self {
        let is_closed = AtomicBool::new(false);
        Self { requests: Bounded::new(), room: Condvar::new(), ringer, is_closed }
    }

    /// Queues a request when there is room, and wakes the server. Waits for room for at most
    /// `patience`.
    pub(crate) fn put(
        &self,
        request: LocalMessage,
        client: &Arc<ResponseInbox>,
        patience: Duration,
    ) -> Result<(), NotPut> {
        let mut until = None;
        let mut queue = self.requests.queue.lock();
        while queue.len() >= MOST_REQUESTS {
            let until = *until.get_or_insert_with(|| Instant::now() + patience);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NotPut::Busy);
            }
            queue = self.room.wait_timeout(queue, left);
        }
        if self.is_closed() {
            return Err(NotPut::Gone);
        }
        queue.push_back((request, Arc::downgrade(client)));
        self.requests.len.store(queue.len(), Ordering::Release);
        drop(queue);
        self.ringer.ring();
        Ok(())
    }

    /// Closes the queue, because the server has ended. Pending requests get no response.
    pub(crate) fn close(&self) {
        let left = {
            let mut queue = self.requests.queue.lock();
            self.is_closed.store(true, Ordering::Release);
            self.requests.len.store(0, Ordering::Release);
            std::mem::take(&mut *queue)
        };
        self.room.notify_all();
        drop(left); // after the lock has been released
    }

    /// Whether the server has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Takes the oldest request. Returns it together with the inbox for its response.
    pub(crate) fn take(&self) -> Option<(LocalMessage, Weak<ResponseInbox>)> {
        let (taken, before) = self.requests.take()?;
        if before >= MOST_REQUESTS {
            self.room.notify_all();
        }
        Some(taken)
    }
}

/// The responses that servers of the same process have sent to one client.
pub(crate) struct ResponseInbox {
    responses: Bounded<LocalMessage>,
    ringer: Ringer,
    on_response: Notify,
    is_closed: AtomicBool,
}

/// The reason why a response was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// The client has left.
    Gone,
    /// The client's queue is full.
    Busy,
}

impl ResponseInbox {
    /// Makes an empty inbox. `on_response` is called whenever there is a response to take.
    pub(crate) fn new(ringer: Ringer, on_response: Notify) -> Self {
        let is_closed = AtomicBool::new(false);
        Self { responses: Bounded::new(), ringer, on_response, is_closed }
    }

    /// Queues a response and wakes the client.
    pub(crate) fn put(&self, response: LocalMessage) -> Result<(), NotTaken> {
        {
            let mut queue = self.responses.queue.lock();
            if self.is_closed.load(Ordering::Relaxed) {
                return Err(NotTaken::Gone);
            }
            if queue.len() >= MOST_RESPONSES {
                return Err(NotTaken::Busy);
            }
            queue.push_back(response);
            self.responses.len.store(queue.len(), Ordering::Release);
        }
        (self.on_response)(); // before the ring, because the thread that the ring wakes relies on this
        self.ringer.ring();
        Ok(())
    }

    /// Closes the inbox, because the client has left.
    pub(crate) fn close(&self) {
        let left = {
            let mut queue = self.responses.queue.lock();
            self.is_closed.store(true, Ordering::Relaxed);
            std::mem::take(&mut *queue)
        };
        drop(left); // after the lock has been released
    }

    pub(crate) fn take(&self) -> Option<LocalMessage> {
        self.responses.take().map(|(response, _)| response)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_test_support::Watchdog;

    use super::*;

    fn message(number: i64) -> LocalMessage {
        let payload = Payload::new(vec![0, 1, 0, 0]);
        LocalMessage { number, sender: Gid([1; 16]), stamp: Stamp::now(), payload }
    }

    #[test]
    fn clients_wait_for_room_and_get_an_error_when_none_comes() {
        let queue = Arc::new(RequestQueue::new(Ringer::new()));
        let inbox = Arc::new(ResponseInbox::new(Ringer::new(), Arc::new(|| ())));
        for number in 0..MOST_REQUESTS as i64 {
            queue.put(message(number), &inbox, Duration::ZERO).unwrap();
        }
        assert_eq!(queue.put(message(-1), &inbox, Duration::ZERO), Err(NotPut::Busy));
        let (waits, client) = (queue.clone(), inbox.clone());
        let thread = std::thread::Builder::new()
            .name("waits".into())
            .spawn(move || waits.put(message(7), &client, Duration::from_secs(60)))
            .unwrap();
        assert_eq!(queue.take().unwrap().0.number, 0);
        assert_eq!(thread.join().unwrap(), Ok(()));
        let rest: Vec<i64> =
            std::iter::from_fn(|| queue.take()).map(|(one, _)| one.number).collect();
        assert_eq!((rest.len(), rest.last()), (MOST_REQUESTS, Some(&7)));
    }

    /// Whenever the server makes room in a full queue, the waiting clients notice it. A client that
    /// does not would wait for an hour.
    #[test]
    fn no_client_waits_although_there_is_room() {
        const EACH: i64 = 20_000;
        let _watchdog = Watchdog::start();
        let queue = Arc::new(RequestQueue::new(Ringer::new()));
        let inbox = Arc::new(ResponseInbox::new(Ringer::new(), Arc::new(|| ())));
        let clients = [0, 1].map(|client| {
            let (queue, inbox) = (queue.clone(), inbox.clone());
            let put = move |number| queue.put(message(number), &inbox, Duration::from_secs(3600));
            feros_test_support::spawn("client", move || {
                (0..EACH).for_each(|number| put(client * EACH + number).unwrap());
            })
        });
        let mut taken = 0;
        while taken < 2 * EACH {
            match queue.take() {
                Some(_) => taken += 1,
                None => std::thread::yield_now(),
            }
        }
        clients.into_iter().for_each(|client| client.join().unwrap());
        assert!(queue.take().is_none());
    }

    #[test]
    fn a_server_that_left_takes_nothing() {
        let queue = RequestQueue::new(Ringer::new());
        let inbox = Arc::new(ResponseInbox::new(Ringer::new(), Arc::new(|| ())));
        queue.put(message(1), &inbox, Duration::ZERO).unwrap();
        queue.close();
        assert_eq!(queue.put(message(2), &inbox, Duration::ZERO), Err(NotPut::Gone));
        assert!(queue.take().is_none());
    }

    #[test]
    fn a_client_that_left_takes_nothing() {
        let inbox = ResponseInbox::new(Ringer::new(), Arc::new(|| ()));
        inbox.put(message(1)).unwrap();
        inbox.close();
        assert_eq!(inbox.put(message(2)), Err(NotTaken::Gone));
        assert!(inbox.take().is_none());
    }
}
