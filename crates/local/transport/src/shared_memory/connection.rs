//! The connection of a subscription to one publisher in another process. It opens the shared memory
//! of the publisher, tries again if this fails, and takes messages that are plausible.

use std::fmt::Display;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use feros_doorbell::Ringer;
use feros_engine::{FailureCounters, Gid, History, Payload, QosProfile, Reliability, Stamp};
use feros_shm::{
    Attachment, AttachmentsFull, ConnectionObstacle, ConnectionSettings, HostNode, HostSample,
    OpenError, SampleHeader, SubscriptionEntry, TakeOutcome,
};

use crate::intra_process::queue::Envelope;
use crate::local_connection::{ConnectionMessage, LocalConnection};
use crate::shared_memory::availability::LONGEST_QUEUE;
use crate::shared_memory::connection_states::ConnectionStates;
use crate::shared_memory::crowded::CROWDED;
use crate::shared_memory::handshake::Handshake;
use crate::shared_memory::retry::Retry;

/// The limit on the number of messages that one call skips, so that the other connections of the
/// subscription get their turn. The limit is higher than the capacity of a queue; and when a
/// publisher adds messages, it rings again. Without the limit, a queue with overwritten positions
/// might never end.
const MOST_SKIPPED: usize = 4 * LONGEST_QUEUE;

pub(crate) struct Connection {
    publisher: Gid,
    id: NonZeroU64,
    state: Handshake<Opened, Established>,
    retry: Retry,
    /// Whether the publisher has left. Its remaining messages are still taken.
    is_orphan: bool,
    has_warned: bool,
    states: Arc<ConnectionStates>,
}

/// The data that is needed to open a connection.
pub(super) struct Opening<'a> {
    pub(super) entry: &'a SubscriptionEntry,
    pub(super) qos: &'a QosProfile,
    pub(super) type_hash: Option<[u8; 32]>,
    pub(super) ringer: &'a Ringer,
}

/// The memory of a publisher that this subscription has opened.
pub(crate) struct Opened {
    connection: feros_shm::Connection,
    attachment: Attachment,
    /// Whether the publisher waits for room.
    is_lossless: bool,
}

/// The memory of a publisher from which this subscription takes messages.
pub(crate) struct Established {
    opened: Opened,
    /// The number of the first message that arrives only over this connection.
    since: u64,
    /// The oldest message, and the time when it was taken.
    head: Option<(HostSample, Stamp)>,
}

pub(super) struct OpenFailure {
    /// The obstacle, or `None` if it may be enough to wait until the memory is ready.
    obstacle: Option<ConnectionObstacle>,
    why: String,
}

impl From<OpenError> for OpenFailure {
    fn from(error: OpenError) -> Self {
        Self { obstacle: error.obstacle(), why: error.to_string() }
    }
}

impl From<AttachmentsFull> for OpenFailure {
    fn from(full: AttachmentsFull) -> Self {
        Self { obstacle: Some(full.obstacle()), why: full.to_string() }
    }
}

impl Connection {
    pub(super) fn new(publisher: Gid, id: NonZeroU64, states: &Arc<ConnectionStates>) -> Self {
        Self {
            publisher,
            id,
            state: Handshake::Offered,
            retry: Retry::default(),
            is_orphan: false,
            has_warned: false,
            states: Arc::clone(states),
        }
    }

    pub(crate) fn publisher(&self) -> Gid {
        self.publisher
    }

    pub(super) fn id(&self) -> NonZeroU64 {
        self.id
    }

    pub(super) fn state(&self) -> &Handshake<Opened, Established> {
        &self.state
    }

    /// Whether it is time to try to open the connection.
    pub(super) fn is_due(&self, now: Instant, is_reported: bool) -> bool {
        self.state.awaits_opening() && self.retry.is_due(now, is_reported)
    }

    pub(super) fn is_orphan(&self) -> bool {
        self.is_orphan
    }

    pub(super) fn set_orphan(&mut self, is_orphan: bool) {
        self.is_orphan = is_orphan;
    }

    /// The time of the next attempt to open the connection.
    pub(super) fn retry_at(&self) -> Option<Instant> {
        self.retry.at().filter(|_| self.state.awaits_opening())
    }

    /// Records the result of an attempt to open the memory of the publisher.
    pub(super) fn note_opening(&mut self, opened: Result<Opened, OpenFailure>, now: Instant) {
        self.state = match opened {
            Ok(opened) => Handshake::Attached(opened),
            Err(OpenFailure { obstacle, why }) => match self.retry.note(obstacle, now) {
                None => Handshake::Offered,
                Some(obstacle) => {
                    if !matches!(self.state, Handshake::Declined(known) if known == obstacle) {
                        warn_of_declined(&self.states.topic, self.publisher, obstacle, &why);
                    }
                    Handshake::Declined(obstacle)
                }
            },
        };
    }

    /// Establishes the connection when the publisher has announced the first message that it sends
    /// over the connection. Returns whether this call has established the connection.
    pub(super) fn advance(&mut self) -> bool {
        let Handshake::Attached(opened) = &self.state else { return false };
        let Some(since) = opened.attachment.first_number() else { return false };
        let state = std::mem::replace(&mut self.state, Handshake::Offered);
        if let Handshake::Attached(opened) = state {
            self.state = Handshake::Established(Established { opened, since, head: None });
        }
        true
    }

    /// Whether there may be a message. Does not take the message.
    pub(super) fn may_have_message(&self) -> bool {
        let established = self.state.established();
        established.is_some_and(|it| it.head.is_some() || it.opened.connection.has_message())
    }

    /// Whether there is a message. Takes the message out of the queue and stores it.
    pub(super) fn has_message(&mut self) -> bool {
        self.advance();
        self.front().is_some()
    }

    fn fill_head(&mut self) {
        let Handshake::Established(established) = &mut self.state else { return };
        if established.head.is_some() {
            return;
        }
        let Established { opened, since, head } = established;
        for _ in 0..MOST_SKIPPED {
            match opened.connection.take() {
                TakeOutcome::Sample(sample) => {
                    let header = sample.header();
                    // Older messages have arrived through the engine.
                    if header.publication_number < *since {
                        continue;
                    }
                    if opened.is_lossless {
                        opened.attachment.count_taken(1);
                    }
                    let now = Stamp::now();
                    if !is_plausible(&header, *since, now) {
                        let why = format_args!("its header has impossible values, {header:?}");
                        refuse(&self.states, self.publisher, &why);
                        continue;
                    }
                    if is_expired(header.expires_nanos, now) {
                        continue;
                    }
                    *head = Some((sample, now));
                    return;
                }
                TakeOutcome::Empty => return,
                TakeOutcome::ViewsExhausted { max_views } => {
                    if !std::mem::replace(&mut self.has_warned, true) {
                        warn_of_views(&self.states.topic, max_views, self.publisher);
                    }
                    return;
                }
                TakeOutcome::Refused(why) => {
                    // The publisher has counted this sample as sent, so it must be counted as
                    // taken.
                    if opened.is_lossless {
                        opened.attachment.count_taken(1);
                    }
                    refuse(&self.states, self.publisher, &why);
                }
            }
        }
    }
}

impl LocalConnection for Connection {
    fn publisher(&self) -> Gid {
        self.publisher
    }

    fn front(&mut self) -> Option<Stamp> {
        self.fill_head();
        let (sample, _) = self.state.established()?.head.as_ref()?;
        Some(Stamp(sample.header().stamp))
    }

    fn take(&mut self) -> Option<ConnectionMessage> {
        let Handshake::Established(established) = &mut self.state else { return None };
        let (sample, received) = established.head.take()?;
        let SampleHeader { stamp, publication_number, .. } = sample.header();
        let envelope = Envelope {
            publisher: self.publisher,
            stamp: Stamp(stamp),
            number: publication_number,
            since: established.since,
            expires: None, // this was checked when the head was taken
        };
        Some(ConnectionMessage { envelope, received, payload: Payload::new(sample.into_bytes()) })
    }
}

impl Opening<'_> {
    /// Opens the memory of a publisher, and writes the id of the publisher into the entry of the
    /// subscription. This may wait for other processes.
    pub(super) fn open(&self, publisher: NonZeroU64) -> Result<Opened, OpenFailure> {
        let Opening { entry, qos, type_hash, ringer } = *self;
        // These checks are first, because the rest takes the lock of the host's shared memory, and
        // other processes must then wait.
        entry.check_room()?;
        if let Some(obstacle) = CROWDED.obstacle(publisher, Instant::now()) {
            return Err(OpenFailure {
                obstacle: Some(obstacle),
                why: obstacle.reason().to_string(),
            });
        }
        let depth = if qos.history == History::KeepAll { LONGEST_QUEUE } else { qos.depth.max(1) };
        let node = HostNode::shared().map_err(OpenError::from)?;
        let opened = feros_shm::Connection::open(
            &node,
            publisher.get(),
            ConnectionSettings { depth, type_hash },
        );
        let obstacle = opened.as_ref().err().and_then(OpenError::obstacle);
        CROWDED.note(publisher, obstacle, Instant::now());
        let connection = opened?;
        let room = ringer.clone();
        connection.on_room(move || room.ring());
        let is_lossless =
            qos.history == History::KeepAll && qos.reliability == Reliability::Reliable;
        // The capacity is derived from the QoS of the subscription itself. It must not be derived
        // from an announcement: others can forge announcements, and could so make the publisher
        // wait.
        let capacity =
            if is_lossless { u32::try_from(connection.depth()).unwrap_or(u32::MAX) } else { 0 };
        let attachment = entry.attach(publisher, capacity)?;
        Ok(Opened { connection, attachment, is_lossless })
    }
}

/// Logs that the messages of a publisher take the network transport. A process may have hundreds of
/// subscriptions of a topic that has hundreds of publishers, so all connections of the process to
/// publishers of the topic count together, separately for each limit.
#[cold]
fn warn_of_declined(topic: &str, publisher: Gid, obstacle: ConnectionObstacle, why: &str) {
    static BY_PUBLISHERS: FailureCounters = FailureCounters::new();
    static BY_SUBSCRIPTIONS: FailureCounters = FailureCounters::new();
    static UNAVAILABLE: FailureCounters = FailureCounters::new();
    let (counters, cause, cure) = match obstacle {
        ConnectionObstacle::TooManySubscriptions { .. } => (
            &BY_PUBLISHERS,
            obstacle.reason().to_string(),
            "; raise max_subscriptions in the publisher's options, or FEROS_MAX_SUBSCRIPTIONS for \
             all publishers of its process",
        ),
        ConnectionObstacle::TooManyPublishers { .. } => (
            &BY_SUBSCRIPTIONS,
            obstacle.reason().to_string(),
            "; let fewer publishers match one subscription",
        ),
        ConnectionObstacle::Unavailable(_) => (&UNAVAILABLE, why.to_owned(), ""),
    };
    if let Some(so_far) = counters.so_far(topic) {
        tracing::warn!(
            target: "feros::shm",
            "{topic}: messages of publisher {publisher} to a subscription take the network \
             transport{so_far}: {cause}{cure} (`feros topic info -v {topic}` shows each match)"
        );
    }
}

/// Logs that a subscription holds as many messages as it may hold. All subscriptions of the process
/// to the topic count together.
#[cold]
fn warn_of_views(topic: &str, max_views: usize, publisher: Gid) {
    static HOLDS: FailureCounters = FailureCounters::new();
    if let Some(so_far) = HOLDS.so_far(topic) {
        tracing::warn!(
            target: "feros::shm",
            "{topic}: this subscription holds {max_views} messages of publisher {publisher}, its \
             limit{so_far}: further messages wait until it drops one; copy messages that you keep \
             for longer"
        );
    }
}

/// Counts and logs a message that was refused. All subscriptions of the process to the topic count
/// together in the log.
#[cold]
fn refuse(states: &ConnectionStates, publisher: Gid, why: &dyn Display) {
    static REFUSED: FailureCounters = FailureCounters::new();
    states.refused.fetch_add(1, Ordering::Relaxed);
    if let Some(count) = REFUSED.count(&states.topic) {
        tracing::error!(
            target: "feros::shm",
            "{}: {count} messages have been refused so far, the last from publisher {publisher}: \
             {why}",
            states.topic
        );
    }
}

/// Whether the stamp and the number of a message are plausible. They decide which messages are
/// duplicates and which messages were lost, so one header with impossible values would make all
/// later messages look old. A stamp may be ahead of the clock, because the clock may have been set
/// back after the message was sent.
fn is_plausible(header: &SampleHeader, since: u64, now: Stamp) -> bool {
    const LARGEST_LEAD_NANOS: i64 = 24 * 3600 * 1_000_000_000;
    const MOST_MESSAGES: u64 = 1 << 40;
    let latest = now.0.saturating_add(LARGEST_LEAD_NANOS);
    (Stamp::MIN.0..=latest).contains(&header.stamp)
        && header.publication_number - since < MOST_MESSAGES
}

/// Whether the lifespan of a message has ended. As in the engine, a lifespan is counted from the
/// stamp, on the clock of the host.
fn is_expired(expires_nanos: u64, now: Stamp) -> bool {
    expires_nanos != 0 && u64::try_from(now.0).is_ok_and(|now| now >= expires_nanos)
}

#[cfg(test)]
mod tests {
    use feros_test_support::log_lines;

    use super::*;

    #[test]
    fn a_limit_is_told_by_topic_at_each_doubling() {
        let warn = |topic, obstacle| warn_of_declined(topic, Gid([1; 16]), obstacle, "");
        let full = ConnectionObstacle::TooManySubscriptions { limit: 16 };
        let lines = log_lines(|| (0..1600).for_each(|_| warn("/limit/tf", full)));
        assert_eq!(lines.len(), 11, "{lines:?}");
        for part in ["/limit/tf: ", "16 subscriptions", "FEROS_MAX_SUBSCRIPTIONS"] {
            assert!(lines[0].contains(part) && lines[10].contains(part), "{lines:?}");
        }
        assert!(lines[10].contains("(1024 so far)"), "{lines:?}");
        let own_limit = ConnectionObstacle::TooManyPublishers { limit: 128 };
        for (topic, obstacle) in [("/limit/tf", own_limit), ("/limit/scan", full)] {
            assert_eq!(log_lines(|| warn(topic, obstacle)).len(), 1);
        }
    }

    #[test]
    fn absurd_headers_are_refused() {
        let now = Stamp::now();
        let good = SampleHeader { stamp: now.0, publication_number: 7, ..SampleHeader::default() };
        assert!(is_plausible(&good, 7, now));
        for stamp in [0, -1, i64::MIN, i64::MAX, good.stamp.saturating_mul(3)] {
            assert!(!is_plausible(&SampleHeader { stamp, ..good }, 7, now), "{stamp}");
        }
        assert!(!is_plausible(&SampleHeader { publication_number: u64::MAX, ..good }, 7, now));
    }
}
