//! The messages that a subscription has received and that its user has not taken yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_engine::engine::{Gate, LOG_TARGET};
use feros_engine::{FailureCounters, History, KEEP_ALL_LIMIT, Notify, QosProfile};
use feros_sync::Mutex;

use crate::room::Room;

/// The limit on messages in the inbox of a keep-all subscription. Receiving does not wait for the
/// user, because other subscriptions receive over the same connection. So the limit is higher than
/// [`KEEP_ALL_LIMIT`], the limit for publishers in the same session or process, which can wait.
const MOST_MESSAGES: usize = 1 << 16;
const MOST_BYTES: usize = 256 << 20;

/// A message in the form in which an engine stores it.
pub trait Received {
    /// The size of the message.
    fn size_bytes(&self) -> usize;
}

struct State<M> {
    queue: VecDeque<M>,
    bytes: usize,
    is_full: bool,
}

impl<M> Default for State<M> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), bytes: 0, is_full: false }
    }
}

/// A bounded queue of messages.
pub struct Inbox<M> {
    state: Mutex<State<M>>,
    /// How many of the newest messages are kept. With `None`, all messages are kept.
    depth: Option<usize>,
    room: Arc<Room>,
    on_data: Gate,
    topic: String,
    refused: AtomicU64,
}

impl<M: Received> Inbox<M> {
    /// Creates an empty inbox with the depth of its subscription's history.
    pub fn new(topic: &str, qos: &QosProfile, room: &Arc<Room>, on_data: Notify) -> Arc<Self> {
        let depth = (qos.history != History::KeepAll).then_some(qos.depth.max(1));
        Arc::new(Self {
            state: Mutex::default(),
            depth,
            room: room.clone(),
            on_data: Gate::new(Some(on_data)),
            topic: topic.to_owned(),
            refused: AtomicU64::new(0),
        })
    }

    /// The topic of the subscription.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Counts received data that are not a valid message. All inboxes of the process for the topic
    /// count together in the log. Returns their number so far if this failure should be logged.
    pub fn count_refused(&self) -> Option<u64> {
        static REFUSED: FailureCounters = FailureCounters::new();
        self.refused.fetch_add(1, Ordering::Relaxed);
        REFUSED.count(&self.topic)
    }

    /// How many times this inbox got data that are not a valid message.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Adds a message and calls the notification. If the history is full, the oldest message is
    /// dropped. If the subscription keeps all messages and there is no room, the new message is
    /// lost and the loss is logged.
    pub fn push(&self, message: M) {
        // All inboxes of the process for the topic count together.
        static OVERFLOWED: FailureCounters = FailureCounters::new();
        if !self.store(message)
            && let Some(count) = OVERFLOWED.count(&self.topic)
        {
            tracing::warn!(
                target: LOG_TARGET,
                "the queue of {}, which keeps all messages, is full: {count} messages have been \
                 lost so far; take them faster",
                self.topic
            );
        }
        self.on_data.notify();
    }

    /// Stores the message. Returns false if there is no room.
    fn store(&self, message: M) -> bool {
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
        state.bytes -= oldest.as_ref().map_or(0, M::size_bytes);
        state.queue.push_back(message);
        if self.depth.is_none() && state.queue.len() >= KEEP_ALL_LIMIT && !state.is_full {
            state.is_full = true;
            self.room.filled();
        }
        drop(state);
        drop(oldest); // without the lock, because dropping a message may take long
        true
    }

    /// Takes the oldest message.
    pub fn pop(&self) -> Option<M> {
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

    /// Whether the subscription keeps all messages and is so full that publishers must wait.
    pub fn is_full(&self) -> bool {
        self.state.lock().is_full
    }

    /// Closes the notification, and ends the waits of publishers for room.
    pub fn close(&self) {
        self.on_data.close();
        let was_full = std::mem::take(&mut self.state.lock().is_full);
        if was_full {
            self.room.emptied();
        }
    }
}

impl<M> Drop for Inbox<M> {
    fn drop(&mut self) {
        if self.state.get_mut().is_full {
            self.room.emptied();
        }
    }
}
