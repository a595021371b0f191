//! Publishers, both synchronous and asynchronous.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::engine::{self, Fill};
use feros_engine::{
    AnnounceError, Created, Durability, EventError, Gid, History, Match, PublishError, PublishMode,
    Publisher, PublisherEvent, PublisherOptions, QosProfile, Reliability, SendingThread, Stamp,
    WaitForAckedError,
};
use feros_sync::Mutex;
use zenoh::Wait as _;
use zenoh::bytes::ZBytes;
use zenoh::qos::{CongestionControl, Reliability as ZenohReliability};
use zenoh_ext::{AdvancedPublisher, AdvancedPublisherBuilderExt as _, CacheConfig};

use crate::fence::{self, Fence};
use crate::matches::Matches;
use crate::member::Member;
use crate::session_state::{SessionState, failed};
use crate::wire::attachment::Attachment;
use crate::wire::token::EndpointToken;

/// The size limit of a payload, in bytes. Receivers assemble at most 1 GiB, including overhead
/// (`transport/link/rx/max_message_size`).
pub(crate) const LARGEST_BYTES: usize = (1 << 30) - 1024;

/// How long a publisher waits for a subscription of its session whose inbox is full.
const ROOM_WAIT: Duration = Duration::from_secs(1);

enum Declared {
    Plain(zenoh::pubsub::Publisher<'static>),
    /// A publisher that keeps its history for late subscriptions.
    Keeping(AdvancedPublisher<'static>),
}

impl Declared {
    fn new(shared: &SessionState, key: String, qos: &QosProfile) -> Result<Self, zenoh::Error> {
        let reliable = qos.reliability != Reliability::BestEffort;
        // Only a keep-all publisher waits for a full link, as in rmw_zenoh
        // (`rmw_zenoh_cpp/src/detail/rmw_publisher_data.cpp`).
        let waits = reliable && qos.history == History::KeepAll;
        let reliability =
            if reliable { ZenohReliability::Reliable } else { ZenohReliability::BestEffort };
        let congestion = if waits { CongestionControl::Block } else { CongestionControl::Drop };
        let builder = shared.session.declare_publisher(key);
        let builder = builder.congestion_control(congestion).reliability(reliability);
        if qos.durability != Durability::TransientLocal {
            return builder.wait().map(Self::Plain);
        }
        let depth = kept_samples(qos);
        let cache = CacheConfig::default().max_samples(depth);
        builder.cache(cache).publisher_detection().wait().map(Self::Keeping)
    }

    fn put(&self, bytes: ZBytes, attachment: [u8; 33]) -> Result<(), zenoh::Error> {
        match self {
            Self::Plain(publisher) => publisher.put(bytes).attachment(&attachment[..]).wait(),
            Self::Keeping(publisher) => publisher.put(bytes).attachment(&attachment[..]).wait(),
        }
    }
}

/// The number of samples in a history.
pub(crate) fn kept_samples(qos: &QosProfile) -> usize {
    match qos.history {
        History::KeepAll => feros_engine::KEEP_ALL_LIMIT,
        _ => qos.depth.max(1),
    }
}

/// The numbers of published messages.
#[derive(Default)]
struct Numbers {
    last: u64,
    /// The last number that was passed to Zenoh.
    last_written: u64,
}

/// Sends the messages of a publisher. An asynchronous publisher shares this value with its sending
/// thread.
struct Writer {
    declared: Declared,
    numbers: Mutex<Numbers>,
    /// For each session, the number of the last message that the session is known to have handled.
    handled: Mutex<HashMap<Arc<str>, u64>>,
    gid: Gid,
    topic: String,
    matches: Arc<Matches>,
    shared: Arc<SessionState>,
}

impl Writer {
    fn write(&self, bytes: Vec<u8>, stamp: Stamp) -> Result<u64, PublishError> {
        self.wait_for_room()?;
        // The lock is held while the message is sent, so that messages are sent in the order of
        // their numbers.
        let mut numbers = self.numbers.lock();
        let number = numbers.last + 1;
        let attachment =
            Attachment { number: number.cast_signed(), stamp_nanos: stamp.0, gid: self.gid };
        self.declared.put(bytes.into(), attachment.encode()).map_err(|error| {
            PublishError::Engine { topic: self.topic.clone(), code: error.to_string() }
        })?;
        *numbers = Numbers { last: number, last_written: number };
        Ok(number)
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        let is_full = || self.matches.gids().iter().any(|gid| self.shared.is_full(*gid));
        if self.shared.room.wait(ROOM_WAIT, is_full) {
            return Ok(());
        }
        Err(PublishError::Timeout { topic: self.topic.clone(), waited: ROOM_WAIT })
    }

    /// Whether a session has handled all messages that have been written so far.
    fn is_handled_by(&self, zid: &Arc<str>, patience: Duration) -> bool {
        let written = self.numbers.lock().last_written;
        // Within this session, a message is delivered while it is written.
        if *zid == self.shared.zid || written == 0 {
            return true;
        }
        if self.handled.lock().get(zid).is_some_and(|handled| *handled >= written) {
            return true;
        }
        match fence::ask(&self.shared.session, self.shared.domain_id, zid, patience) {
            Fence::TimedOut => false,
            Fence::Passed | Fence::Unknown => {
                let sessions = self.matches.sessions();
                let mut handled = self.handled.lock();
                handled.retain(|zid, _| sessions.contains(zid));
                handled.insert(zid.clone(), written);
                true
            }
        }
    }
}

pub(crate) struct ZenohPublisher {
    // The fields are dropped in this order: first the sending thread ends, then the announcement is
    // withdrawn, and then the writer is dropped.
    sender: Option<SendingThread<(Vec<u8>, Stamp)>>,
    member: Member,
    writer: Arc<Writer>,
    qos: QosProfile,
}

impl ZenohPublisher {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        token: EndpointToken,
        options: PublisherOptions<'_>,
    ) -> Created<Self> {
        let (qos, topic) = (token.qos, token.name.clone());
        let declared = Declared::new(shared, token.data_key(), &qos)
            .map_err(|error| failed(&topic, "declaring the publisher", &error))?;
        let matches = Matches::new(options.on_event);
        let gid = crate::wire::token::gid(&token.encode());
        let writer = Arc::new(Writer {
            declared,
            numbers: Mutex::default(),
            handled: Mutex::default(),
            gid,
            topic,
            matches: matches.clone(),
            shared: shared.clone(),
        });
        let sender = match options.mode {
            PublishMode::Synchronous => None,
            PublishMode::Asynchronous { queue_depth } => {
                let to = writer.clone();
                let send = move |(bytes, stamp)| to.write(bytes, stamp).map(|_| ());
                Some(SendingThread::start(&writer.topic, queue_depth, send)?)
            }
        };
        let member = Member::announce(shared, token, options.announcement, matches)?;
        Ok(Self { sender, member, writer, qos })
    }

    fn filled(&self, size_bytes: usize, fill: Fill<'_>) -> Result<Vec<u8>, PublishError> {
        filled(&self.writer.topic, size_bytes, fill)
    }
}

/// Allocates a buffer of this size and lets `fill` write into it.
pub(crate) fn filled(
    name: &str,
    size_bytes: usize,
    fill: Fill<'_>,
) -> Result<Vec<u8>, PublishError> {
    engine::filled(name, size_bytes, LARGEST_BYTES, fill)
}

impl Publisher for ZenohPublisher {
    fn gid(&self) -> Gid {
        self.writer.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn publish_at(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError> {
        if !stamp.is_publishable() {
            return Err(PublishError::Stamp { topic: self.writer.topic.clone(), stamp });
        }
        let bytes = self.filled(size_bytes, fill)?;
        match &self.sender {
            Some(sender) => Ok(sender.push((bytes, stamp))),
            None => self.writer.write(bytes, stamp),
        }
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        if self.sender.is_some() { Ok(()) } else { self.writer.wait_for_room() }
    }

    fn skip(&self, messages: u64) {
        self.writer.numbers.lock().last += messages;
    }

    fn matched_subscriptions(&self) -> usize {
        self.writer.matches.count()
    }

    fn matches(&self) -> Vec<Match> {
        self.writer.matches.list()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        self.member.announced.change(&self.writer.topic, announcement)
    }

    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        let deadline = Instant::now() + timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let in_time = self.sender.as_ref().is_none_or(|sender| sender.wait_until_done(left()))
            && self
                .writer
                .matches
                .sessions()
                .iter()
                .all(|zid| self.writer.is_handled_by(zid, left()));
        let late =
            || WaitForAckedError::Timeout { topic: self.writer.topic.clone(), waited: timeout };
        in_time.then_some(()).ok_or_else(late)
    }

    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        if let Some(sender) = &self.sender
            && !sender.wait_until_done(patience)
        {
            return false;
        }
        let Some(zid) = self.writer.matches.session_of(subscription) else { return true };
        self.writer.is_handled_by(&zid, deadline.saturating_duration_since(Instant::now()))
    }

    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        Ok(self.writer.matches.take(feros_inbox::Status::take_of_publisher))
    }

    fn dropped_messages(&self) -> u64 {
        self.sender.as_ref().map_or(0, SendingThread::lost)
    }
}

impl Drop for ZenohPublisher {
    fn drop(&mut self) {
        self.writer.matches.close();
    }
}
