//! One bag being recorded: its subscriptions, the queue, and the two threads beside the executor's,
//! one that looks for topics and one that writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use feros::msgs::rosbag2_interfaces::msg::WriteSplitEvent;
use feros::{Clock, GenericSubscription, MessageInfo, Publisher, SerializedMessage};
use feros_sync::Mutex;

use super::discovery::Discovery;
use super::{RecordError, Recording, Shared};
use crate::error::WriteError;
use crate::message::BagTopic;
use crate::metadata::BagMetadata;
use crate::queue::{Popped, Queue, Ring};
use crate::writer::{BagWriter, TopicId};

/// What is in the file after this time, whatever becomes of the process.
const FLUSH_PERIOD: Duration = Duration::from_secs(1);
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
    /// A topic by the number that its messages have.
    Topic(usize, Box<BagTopic>),
    Message(Message),
    Split,
    Lost(String, u64),
}

/// A message on its way into the file.
pub(super) struct Message {
    topic: usize,
    sequence: u32,
    log_time: i64,
    publish_time: i64,
    data: SerializedMessage,
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

pub(super) struct Session {
    output: PathBuf,
    receiver: Receiver,
    subscriptions: Subscriptions,
    is_stopping: Arc<AtomicBool>,
    discovery: JoinHandle<()>,
    writing: JoinHandle<Result<BagMetadata, WriteError>>,
}

/// What each subscription hands its messages to. Clones are the same.
#[derive(Clone)]
pub(super) struct Receiver {
    pub(super) queue: Arc<Queue<Job>>,
    is_paused: Arc<AtomicBool>,
    received: Arc<AtomicU64>,
    ring: Option<Arc<Mutex<Ring<Message>>>>,
    /// The node's clock where that is simulated.
    clock: Clock,
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

impl Session {
    pub(super) fn start(shared: &Shared, output: &Path) -> Result<Self, RecordError> {
        let options = &shared.options;
        let writer = BagWriter::create(output, options.writer.clone())?;
        let queue = Arc::new(Queue::new(options.max_cache_bytes));
        let ring = options.snapshot_mode.then(|| Ring::new(options.max_cache_bytes));
        let receiver = Receiver {
            queue: queue.clone(),
            is_paused: shared.is_paused.clone(),
            received: Arc::default(),
            ring: ring.map(|ring| Arc::new(Mutex::new(ring))),
            clock: shared.node.clock().clone(),
        };
        let subscriptions = Subscriptions::default();
        let is_stopping = Arc::new(AtomicBool::new(false));
        let discovery = Discovery {
            node: shared.node.clone(),
            options: options.clone(),
            receiver: receiver.clone(),
            subscriptions: subscriptions.clone(),
            discovers: shared.discovers.clone(),
            is_stopping: is_stopping.clone(),
            count: 0,
            told: Default::default(),
        };
        let events = shared.split_events.clone();
        let failed = |error: std::io::Error| RecordError::Thread { reason: error.to_string() };
        let writing = std::thread::Builder::new().name("feros-bag-write".into());
        let jobs = queue.clone();
        let writing = writing
            .spawn(move || {
                let written = write_all(&jobs, writer, &events);
                // Whoever puts in is not to wait for whoever has gone.
                jobs.abandon();
                written
            })
            .map_err(failed)?;
        let looking = std::thread::Builder::new().name("feros-bag-topics".into());
        let discovery = looking.spawn(move || discovery.run()).map_err(|error| {
            queue.close();
            failed(error)
        })?;
        let output = output.to_owned();
        Ok(Self { output, receiver, subscriptions, is_stopping, discovery, writing })
    }

    pub(super) fn output(&self) -> &Path {
        &self.output
    }

    pub(super) fn has_ended(&self) -> bool {
        self.writing.is_finished()
    }

    pub(super) fn topics(&self) -> Vec<String> {
        self.subscriptions.lock().keys().map(|(topic, _)| topic.clone()).collect()
    }

    pub(super) fn received(&self) -> u64 {
        self.receiver.received.load(Ordering::Relaxed)
    }

    pub(super) fn split(&self) {
        drop(self.receiver.queue.push(Job::Split, 0));
    }

    /// Hands what the ring has to the thread that writes; how many messages that are.
    pub(super) fn snapshot(&self) -> Option<usize> {
        let messages = self.receiver.ring.as_ref()?.lock().take();
        let count = messages.len();
        for (message, bytes) in messages {
            if self.receiver.queue.push(Job::Message(message), bytes).is_err() {
                break;
            }
        }
        Some(count)
    }

    /// Ends the bag.
    pub(super) fn stop(self) -> Result<Recording, WriteError> {
        self.is_stopping.store(true, Ordering::Relaxed);
        // It ended by a panic at worst, which has been told.
        let _ = self.discovery.join();
        let recorded = std::mem::take(&mut *self.subscriptions.lock());
        let mut lost = BTreeMap::new();
        for ((topic, _), recorded) in recorded {
            let count = recorded.lost.load(Ordering::Relaxed);
            if count > 0 {
                drop(self.receiver.queue.push(Job::Lost(topic.clone(), count), 0));
                *lost.entry(topic).or_default() += count;
            }
        }
        self.receiver.queue.close();
        let written = self.writing.join().unwrap_or(Err(WriteError::Ended));
        Ok(Recording { output: self.output, metadata: written?, lost })
    }
}

/// Writes what comes until the queue is closed.
fn write_all(
    queue: &Queue<Job>,
    mut writer: BagWriter,
    events: &Publisher<WriteSplitEvent>,
) -> Result<BagMetadata, WriteError> {
    let mut topics: Vec<Option<TopicId>> = Vec::new();
    let (mut flushed, mut is_flushed) = (Instant::now(), true);
    loop {
        match queue.pop(FLUSH_PERIOD) {
            Popped::Item(job) => {
                write(job, &mut writer, &mut topics, events)?;
                is_flushed = false;
            }
            Popped::TimedOut => {}
            Popped::Closed => return writer.finish(),
        }
        if !is_flushed && flushed.elapsed() >= FLUSH_PERIOD {
            writer.flush()?;
            (flushed, is_flushed) = (Instant::now(), true);
        }
    }
}

fn write(
    job: Job,
    writer: &mut BagWriter,
    topics: &mut Vec<Option<TopicId>>,
    events: &Publisher<WriteSplitEvent>,
) -> Result<(), WriteError> {
    let split = match job {
        Job::Topic(number, topic) => {
            topics.resize(topics.len().max(number + 1), None);
            topics[number] = Some(writer.add_topic(*topic)?);
            None
        }
        Job::Message(message) => {
            let Message { topic, sequence, log_time, publish_time, data, _held } = message;
            match topics.get(topic) {
                Some(Some(id)) => writer.write(*id, sequence, log_time, publish_time, &data)?,
                _ => None,
            }
        }
        Job::Split => Some(writer.split()?),
        Job::Lost(topic, count) => {
            writer.note_lost(&topic, count);
            None
        }
    };
    if let Some(split) = split {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let event =
            WriteSplitEvent { closed_file: text(&split.closed), opened_file: text(&split.opened) };
        // Nobody may be listening, and the bag goes on either way.
        let _ = events.publish(event);
    }
    Ok(())
}
