//! How messages that are recorded come in: what each subscription hands them to, and what the
//! thread that writes is told of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;

use feros::{Clock, GenericSubscription, MessageInfo, SerializedMessage};
use feros_sync::Mutex;

use crate::message::BagTopic;
use crate::queue::{Queue, Ring};

/// Messages up to this size are copied: a publisher lends few messages at once, and small ones come
/// often.
const COPIED_BYTES: usize = 16 << 10;
/// Messages of one topic that wait in the memory that they came in; a subscription may hold 8 of
/// each publisher. Further ones are copied, so that the queue bridges what the disk is slow at.
const HELD_MESSAGES: usize = 6;
/// What a message takes in the queue besides its bytes.
const ITEM_BYTES: usize = size_of::<Message>();

/// What the thread that writes is told, in the order of the queue.
pub(super) enum Job {
    /// The next topic: its messages have its place among all topics as their number.
    Topic {
        topic: Box<BagTopic>,
        is_asked_for: bool,
    },
    /// There is an answer to the question for the definition of a topic's type.
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
    /// Set where the message waits in the memory that it came in.
    _held: Option<Held>,
}

/// Counts a message of a topic that waits in the memory that it came in.
struct Held(Arc<AtomicUsize>);

impl Held {
    /// `None`: as many wait as may.
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

/// What each subscription hands its messages to. Clones are the same.
#[derive(Clone)]
pub(super) struct Receiver {
    pub(super) queue: Arc<Queue<Job>>,
    pub(super) is_paused: Arc<AtomicBool>,
    pub(super) received: Arc<AtomicU64>,
    /// What waits for a snapshot; `None` where all is written as it comes.
    pub(super) ring: Option<Arc<Mutex<Ring<Message>>>>,
    pub(super) clock: Clock,
}

impl Receiver {
    /// Takes a message in, as soon as there is room. `held` counts those of its topic that wait
    /// uncopied.
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
        #[expect(clippy::cast_possible_truncation, reason = "MCAP has 32 bits for it")]
        let sequence = number as u32;
        let may_wait = self.ring.is_none() && data.len() > COPIED_BYTES;
        let held = if may_wait { Held::new(held) } else { None };
        let data = if held.is_some() { data } else { data.to_vec().into() };
        let bytes = data.len() + ITEM_BYTES;
        let message = Message { topic, sequence, log_time, publish_time, data, _held: held };
        self.received.fetch_add(1, Ordering::Relaxed);
        match &self.ring {
            Some(ring) => ring.lock().push(message, bytes),
            // A queue that is closed belongs to a bag that has ended.
            None => drop(self.queue.push(Job::Message(message), bytes)),
        }
    }

    /// When a message came: by the clock of this machine, or by `/clock` once that told a time.
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
