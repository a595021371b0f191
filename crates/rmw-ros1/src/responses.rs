//! Responses that a client has received and its user has not taken yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use feros_rmw::{Gid, Notify, Stamp};
use feros_rmw_inbox::{Gate, Received as _};
use feros_sync::{AtomicU64, Mutex, Ordering};

use crate::message::{Body, Message};

/// Responses that wait for a client at most, in number and bytes. They are not displaced by others:
/// who asked for them waits for each.
const MOST_WAITING: usize = 1024;
const MOST_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Waiting {
    queue: VecDeque<Message>,
    bytes: usize,
}

/// Responses that were not taken yet.
pub(crate) struct Responses {
    waiting: Mutex<Waiting>,
    on_response: Gate,
    lost: AtomicU64,
}

impl Responses {
    pub(crate) fn new(on_response: Notify) -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            on_response: Gate::new(Some(on_response)),
            lost: AtomicU64::new(0),
        })
    }

    pub(crate) fn put(&self, number: i64, body: Arc<Body>, server: Gid) {
        let stamp = Some(Stamp::now());
        let at = SystemTime::now();
        let message = Message { body, from: server, number: Some(number), stamp, at };
        {
            let mut waiting = self.waiting.lock();
            let size = message.size_bytes();
            let is_full = waiting.queue.len() >= MOST_WAITING
                || (waiting.bytes + size > MOST_BYTES && !waiting.queue.is_empty());
            if is_full {
                self.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            waiting.bytes += size;
            waiting.queue.push_back(message);
        }
        self.on_response.notify();
    }

    /// The oldest one.
    pub(crate) fn take(&self) -> Option<Message> {
        let mut waiting = self.waiting.lock();
        let message = waiting.queue.pop_front()?;
        waiting.bytes -= message.size_bytes();
        Some(message)
    }

    /// Those that found no room.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Ends the notifications.
    pub(crate) fn close(&self) {
        self.on_response.close();
    }
}
