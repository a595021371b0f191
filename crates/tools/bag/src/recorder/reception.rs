//! The reception of messages to record: the receiver of each subscription, and the jobs for the
//! writing thread.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;

use feros::{Clock, GenericSubscription, MessageInfo, SerializedMessage};
use feros_sync::Mutex;

use crate::message::BagTopic;
use crate::queue::{Queue, Ring};

/// Messages up to this size are copied: a publisher can have only a few messages held at once, and
/// small messages are frequent.
const COPIED_BYTES: usize = 16 << 10;
/// The limit on messages of one topic that wait in the memory in which they arrived (a subscription
/// may hold 8 of each publisher). Further messages are copied, so that the queue can fill while the
/// disk is slow.
const HELD_MESSAGES: usize = 6;
/// The memory that a message takes in the queue in addition to its bytes.
const ITEM_BYTES: usize = size_of::<Message>();

/// A job for the writing thread, in the order of the queue.
pub(super) enum Job {
    /// Announces the next topic. Its messages refer to it by its index among all topics.
    Topic {
        topic: Box<BagTopic>,
        is_asked_for: bool,
    },
    /// The question for the definition of a topic's type has been answered.
    Defined(usize),
    Message(Message),
    Split,
    Lost(String, u64),
}

/// A message on its way into the file.
pub(super) struct Message {
    pub(super) topic: usize,
    pub(super) sequence: u32,
    pub(super) log_time: i64,
    pub(super) publish_time: i64,
    pub(super) data: SerializedMessage,
    /// Set if the message waits in the memory in which it arrived.
    _held: Option<Held>,
}

/// Counts one message of a topic while the message waits in the memory in which it arrived.
struct Held(Arc<AtomicUsize>);

impl Held {
    /// Returns `None` if the allowed number of messages is waiting already.
    fn new(count: &Arc<AtomicUsize>) -> Option<Self> {
        let held = Self(count.clone());
        (count.fetch_add(1, Ordering::Relaxed) < HELD_MESSAGES).then_some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A topic that is recorded.
pub(super) struct Recorded {
    pub(super) lost: Arc<AtomicU64>,
    pub(super) _subscription: GenericSubscription,
}

/// Topics that are recorded, by name and type.
pub(super) type Subscriptions = Arc<Mutex<BTreeMap<(String, String), Recorded>>>;

/// The receiver of each subscription's messages. Clones share one state.
#[derive(Clone)]
pub(super) struct Receiver {
    pub(super) queue: Arc<Queue<Job>>,
    pub(super) is_paused: Arc<AtomicBool>,
    pub(super) received: Arc<AtomicU64>,
    /// The messages kept for a snapshot; `None` outside of the snapshot mode.
    pub(super) ring: Option<Arc<Mutex<Ring<Message>>>>,
    pub(super) clock: Clock,
}

impl Receiver {
    /// Queues a message as soon as it fits. `held` counts the messages of its topic that wait
    /// without having been copied.
    pub(super) fn receive(
        &self,
        topic: usize,
        held: &Arc<AtomicUsize>,
        data: SerializedMessage,
        info: &MessageInfo,
    ) {
        if self.is_paused.load(Ordering::Relaxed) {
            return;
        }
        let Some(log_time) = self.time_of(info) else { return };
        let publish_time = info.source_timestamp.map_or(log_time, nanos);
        let number = info.publication_sequence_number.unwrap_or(0);
        #[expect(clippy::cast_possible_truncation, reason = "MCAP has 32 bits for the number")]
        let sequence = number as u32;
        let may_wait = self.ring.is_none() && data.len() > COPIED_BYTES;
        let held = if may_wait { Held::new(held) } else { None };
        let data = if held.is_some() { data } else { data.to_vec().into() };
        let bytes = data.len() + ITEM_BYTES;
        let message = Message { topic, sequence, log_time, publish_time, data, _held: held };
        self.received.fetch_add(1, Ordering::Relaxed);
        match &self.ring {
            Some(ring) => ring.lock().push(message, bytes),
            // A closed queue belongs to a bag that has ended.
            None => drop(self.queue.push(Job::Message(message), bytes)),
        }
    }

    /// Returns the time of receipt by this machine's clock or by `/clock`; `None` before the first
    /// message on `/clock`.
    fn time_of(&self, info: &MessageInfo) -> Option<i64> {
        if self.clock.is_simulated() {
            let now = self.clock.now().as_nanos();
            return (now > 0).then_some(now);
        }
        Some(nanos(info.received_timestamp.unwrap_or_else(SystemTime::now)))
    }
}

fn nanos(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
