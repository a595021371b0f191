//! Requests that a server has received: requests that the user has not taken yet, and requests that
//! the user has taken but has not responded to yet.

use std::collections::{HashMap, VecDeque};

use feros_engine::engine::Gate;
use feros_engine::{Gid, History, KEEP_ALL_LIMIT, Notify, QosProfile};
use feros_sync::Mutex;

/// The limit on requests that wait for their responses. It is high because requests for the results
/// of actions wait for a long time.
pub const MOST_PENDING: usize = 4096;

/// Requests that the user has not taken yet, limited by the depth of the history.
pub struct Requests<R> {
    queue: Mutex<VecDeque<R>>,
    depth: usize,
    on_request: Gate,
}

impl<R> Requests<R> {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(qos: &QosProfile, on_request: Notify) -> Self {
        let depth = if qos.history == History::KeepAll { KEEP_ALL_LIMIT } else { qos.depth.max(1) };
        Self { queue: Mutex::default(), depth, on_request: Gate::new(Some(on_request)) }
    }

    /// Adds a request and calls the notification. If this call removes the oldest request to make
    /// room, returns that request.
    #[must_use = "its sender waits"]
    pub fn push(&self, request: R) -> Option<R> {
        let oldest = {
            let mut queue = self.queue.lock();
            let oldest = if queue.len() >= self.depth { queue.pop_front() } else { None };
            queue.push_back(request);
            oldest
        };
        self.on_request.notify();
        oldest
    }

    /// Takes the oldest request.
    pub fn take(&self) -> Option<R> {
        self.queue.lock().pop_front()
    }

    /// Takes all requests.
    pub fn take_all(&self) -> VecDeque<R> {
        std::mem::take(&mut *self.queue.lock())
    }

    /// The limit on waiting requests.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Closes the notification.
    pub fn close(&self) {
        self.on_request.close();
    }
}

/// The key of a request, which consists of its client and its number.
type Key = (Gid, i64);

/// Requests that have been taken and wait for their responses. Their number is limited to
/// [`MOST_PENDING`].
#[derive(Debug)]
pub struct Pending<R> {
    requests: HashMap<Key, R>,
    /// The keys in the order of arrival. Keys of answered requests remain here for some time.
    order: VecDeque<Key>,
}

impl<R> Default for Pending<R> {
    fn default() -> Self {
        Self { requests: HashMap::new(), order: VecDeque::new() }
    }
}

impl<R> Pending<R> {
    /// Whether the client's request with this number waits for its response.
    #[must_use]
    pub fn has(&self, client: Gid, number: i64) -> bool {
        self.requests.contains_key(&(client, number))
    }

    /// Adds the client's request with this number. Returns the request that was removed to make
    /// room for it, which is an earlier request with the same number, or the oldest request.
    #[must_use = "its sender waits"]
    pub fn insert(&mut self, client: Gid, number: i64, request: R) -> Option<R> {
        let key = (client, number);
        if let Some(former) = self.requests.insert(key, request) {
            return Some(former);
        }
        self.order.push_back(key);
        if self.order.len() > 2 * MOST_PENDING {
            self.order.retain(|key| self.requests.contains_key(key));
        }
        if self.requests.len() <= MOST_PENDING {
            return None;
        }
        std::iter::from_fn(|| self.order.pop_front()).find_map(|key| self.requests.remove(&key))
    }

    /// Removes the client's request with this number, because its response is being sent.
    pub fn remove(&mut self, client: Gid, number: i64) -> Option<R> {
        self.requests.remove(&(client, number))
    }

    /// Returns all requests.
    pub fn into_requests(self) -> impl Iterator<Item = R> {
        self.requests.into_values()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const CLIENT: Gid = Gid([7; 16]);

    #[test]
    fn the_oldest_request_gives_way_and_is_handed_back() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let notify = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let requests = Requests::new(&QosProfile::keep_last(2), Arc::new(notify));
        let given: Vec<_> = (0..4).map(|number| requests.push(number)).collect();
        assert_eq!(given, [None, None, Some(0), Some(1)]);
        assert_eq!((requests.take(), calls.load(Ordering::Relaxed)), (Some(2), 4));
        requests.close();
        assert_eq!(requests.push(4), None);
        assert_eq!(calls.load(Ordering::Relaxed), 4);
        assert_eq!(requests.take_all(), [3, 4]);
        let all = Requests::<i32>::new(&QosProfile::keep_all(), Arc::new(|| {}));
        assert_eq!(all.depth(), KEEP_ALL_LIMIT);
    }

    #[test]
    fn pending_requests_are_bounded() {
        let mut pending = Pending::default();
        let most = i64::try_from(MOST_PENDING).unwrap_or_default();
        for number in 0..most {
            assert_eq!(pending.insert(CLIENT, number, number), None);
        }
        assert_eq!(pending.remove(CLIENT, 0), Some(0));
        assert_eq!(pending.remove(CLIENT, 0), None);
        assert_eq!(pending.insert(CLIENT, most, most), None);
        // The oldest request that was still waiting has been dropped.
        assert_eq!(pending.insert(CLIENT, most + 1, most + 1), Some(1));
        assert!(pending.has(CLIENT, most) && !pending.has(CLIENT, 1));
        assert_eq!(pending.insert(CLIENT, most, -1), Some(most), "the same number again");
        for number in 0..10 * most {
            let _ = pending.insert(Gid([8; 16]), number, number);
            assert_eq!(pending.remove(Gid([8; 16]), number), Some(number));
            assert!(pending.order.len() <= 2 * MOST_PENDING + 1);
        }
        assert_eq!(pending.into_requests().count(), MOST_PENDING - 1);
    }
}
