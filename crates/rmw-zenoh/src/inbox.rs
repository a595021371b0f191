//! What a subscription has received and its user has not taken yet.

use std::collections::VecDeque;
use std::sync::Arc;

use feros_rmw::engine::LOG_TARGET;
use feros_rmw::{FailureCounter, History, KEEP_ALL_LIMIT, Notify, QosProfile};
use feros_sync::Mutex;
use zenoh::bytes::ZBytes;

use crate::gate::Gate;
use crate::room::Room;
use crate::sample::Received;

/// What a subscription that keeps all holds at most. Zenoh's callback cannot wait without holding
/// up all that comes by the same link, so it holds more than [`KEEP_ALL_LIMIT`], from which on
/// publishers of the session wait.
const MOST_SAMPLES: usize = 1 << 16;
const MOST_BYTES: usize = 256 << 20;

#[derive(Default)]
struct State {
    queue: VecDeque<Received>,
    bytes: usize,
    is_full: bool,
}

/// A bounded queue of messages.
pub(crate) struct Inbox {
    state: Mutex<State>,
    /// How many the newest push out the oldest; `None` keeps all.
    depth: Option<usize>,
    room: Arc<Room>,
    on_data: Gate,
    topic: String,
    pub(crate) refused: FailureCounter,
    overflowed: FailureCounter,
}

impl Inbox {
    pub(crate) fn new(
        topic: &str,
        qos: &QosProfile,
        room: &Arc<Room>,
        on_data: Notify,
    ) -> Arc<Self> {
        let depth = (qos.history != History::KeepAll).then_some(qos.depth.max(1));
        Arc::new(Self {
            state: Mutex::default(),
            depth,
            room: room.clone(),
            on_data: Gate::new(Some(on_data)),
            topic: topic.to_owned(),
            refused: FailureCounter::new(),
            overflowed: FailureCounter::new(),
        })
    }

    /// Takes over what came from the network, whoever sent it.
    pub(crate) fn put(&self, bytes: &ZBytes, attachment: Option<&ZBytes>) {
        match Received::new(bytes, attachment) {
            Some(received) => self.push(received),
            None => self.refuse(bytes.len()),
        }
    }

    fn refuse(&self, size_bytes: usize) {
        if let Some(count) = self.refused.count() {
            tracing::warn!(
                target: LOG_TARGET,
                "a message of {size_bytes} bytes on {} was refused ({count} so far): it has not the attachment of \
                 rmw_zenoh (number, time, gid), or no header",
                self.topic
            );
        }
    }

    fn push(&self, received: Received) {
        let dropped = {
            let mut state = self.state.lock();
            let is_too_much = state.queue.len() >= MOST_SAMPLES
                || state.bytes.saturating_add(received.size_bytes()) > MOST_BYTES;
            if self.depth.is_none() && is_too_much && !state.queue.is_empty() {
                Some(received)
            } else {
                let oldest = match self.depth {
                    Some(depth) if state.queue.len() >= depth => state.queue.pop_front(),
                    _ => None,
                };
                state.bytes += received.size_bytes();
                state.bytes -= oldest.as_ref().map_or(0, Received::size_bytes);
                state.queue.push_back(received);
                if self.depth.is_none() && state.queue.len() >= KEEP_ALL_LIMIT && !state.is_full {
                    state.is_full = true;
                    self.room.filled();
                }
                drop(state);
                drop(oldest); // without the lock: freeing may take long
                None
            }
        };
        if dropped.is_some()
            && let Some(count) = self.overflowed.count()
        {
            tracing::warn!(
                target: LOG_TARGET,
                "{} keeps all and is full: {count} messages were lost so far; take them faster",
                self.topic
            );
        }
        self.on_data.notify();
    }

    pub(crate) fn pop(&self) -> Option<Received> {
        let (received, has_room) = {
            let mut state = self.state.lock();
            let received = state.queue.pop_front()?;
            state.bytes -= received.size_bytes();
            let has_room = state.is_full && state.queue.len() < KEEP_ALL_LIMIT;
            if has_room {
                state.is_full = false;
            }
            (received, has_room)
        };
        if has_room {
            self.room.emptied();
        }
        Some(received)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.state.lock().is_full
    }

    /// Ends the notifications.
    pub(crate) fn close(&self) {
        self.on_data.close();
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        if self.state.get_mut().is_full {
            self.room.emptied();
        }
    }
}
