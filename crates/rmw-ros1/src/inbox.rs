//! What a subscription has received and its user has not taken yet.

use std::collections::VecDeque;
use std::sync::Arc;

use feros_rmw::engine::LOG_TARGET;
use feros_rmw::{FailureCounter, History, KEEP_ALL_LIMIT, Notify, QosProfile};
use feros_sync::Mutex;

use crate::gate::Gate;
use crate::message::Message;
use crate::room::Room;

/// What a subscription that keeps all holds at most. A connection's thread does not wait for who
/// takes, since others take from the same connection; so this is more than [`KEEP_ALL_LIMIT`],
/// from which on publishers of the process wait.
const MOST_MESSAGES: usize = 1 << 16;
const MOST_BYTES: usize = 256 << 20;

#[derive(Default)]
struct State {
    queue: VecDeque<Message>,
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

    pub(crate) fn push(&self, message: Message) {
        if !self.store(message)
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

    /// Whether there was room.
    fn store(&self, message: Message) -> bool {
        let mut state = self.state.lock();
        let is_too_much = state.queue.len() >= MOST_MESSAGES
            || state.bytes.saturating_add(message.size_bytes()) > MOST_BYTES;
        if self.depth.is_none() && is_too_much && !state.queue.is_empty() {
            return false;
        }
        let oldest = match self.depth {
            Some(depth) if state.queue.len() >= depth => state.queue.pop_front(),
            _ => None,
        };
        state.bytes += message.size_bytes();
        state.bytes -= oldest.as_ref().map_or(0, Message::size_bytes);
        state.queue.push_back(message);
        if self.depth.is_none() && state.queue.len() >= KEEP_ALL_LIMIT && !state.is_full {
            state.is_full = true;
            self.room.filled();
        }
        drop(state);
        drop(oldest); // without the lock: freeing may take long
        true
    }

    pub(crate) fn pop(&self) -> Option<Message> {
        let (message, has_room) = {
            let mut state = self.state.lock();
            let message = state.queue.pop_front()?;
            state.bytes -= message.size_bytes();
            let has_room = state.is_full && state.queue.len() < KEEP_ALL_LIMIT;
            if has_room {
                state.is_full = false;
            }
            (message, has_room)
        };
        if has_room {
            self.room.emptied();
        }
        Some(message)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.state.lock().is_full
    }

    /// Ends the notifications, and nobody waits for it any more.
    pub(crate) fn close(&self) {
        self.on_data.close();
        let was_full = std::mem::take(&mut self.state.lock().is_full);
        if was_full {
            self.room.emptied();
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        if self.state.get_mut().is_full {
            self.room.emptied();
        }
    }
}
