//! A publisher on both engines. A message has the same position, number and stamp on both engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use feros_engine::engine::{Fill, filled};
use feros_engine::{
    AnnounceError, Created, EventError, FailureCounters, Gid, Match, PublishError, PublishMode,
    Publisher, PublisherEvent, PublisherOptions, QosProfile, SendingThread, Stamp,
    WaitForAckedError, copied, twin,
};
use feros_sync::Mutex;

use crate::announced;
use crate::joining::{Joined, Joiner};
use crate::later::Watch;
use crate::shared::Shared;
use crate::status::PublisherStatus;

/// The size limit of a queued message, in bytes. An engine may have a lower limit.
const LARGEST_BYTES: usize = i32::MAX as usize;

/// How long the first message on the first engine waits when a subscription moves there from the
/// second engine. It waits until the earlier messages have arrived over the second engine.
const HANDOVER_WAIT: Duration = Duration::from_secs(1);

/// After use, the buffer for the second engine's copy of a message is shrunk to this size.
const KEPT_BYTES: usize = 1 << 20;

pub(crate) struct PairPublisher {
    // This is dropped first, because the sending thread must end before both publishers are
    // dropped.
    /// The queue for both engines. Because both share one queue, they drop the same messages, and
    /// their numbers stay equal.
    sender: Option<SendingThread<(Vec<u8>, Stamp)>>,
    writer: Arc<Writer>,
}

/// Sends messages. An asynchronous publisher shares the writer with its sending thread.
pub(crate) struct Writer {
    sides: [Arc<dyn Publisher>; 2],
    names: [&'static str; 2],
    pub(crate) topic: String,
    watch: Arc<Watch>,
    matches: Mutex<Matches>,
    matched: AtomicUsize,
    /// Whether each message must also be sent on the second engine.
    needs_second: AtomicBool,
    /// Whether a policy requires each message on both engines, no matter which endpoints match.
    requires_each_write: bool,
    /// This is locked while both engines send, so that a message has the same number on both
    /// engines. It contains the copy of the message for the second engine.
    order: Mutex<Vec<u8>>,
    announcement: Mutex<String>,
}

struct Matches {
    joiner: Joiner,
    last: Vec<Joined>,
    status: PublisherStatus,
    /// The gids, on the second engine, of subscriptions that the first engine found after the
    /// second engine had found them.
    handovers: Vec<Gid>,
}

impl PairPublisher {
    pub(crate) fn new(shared: &Arc<Shared>, options: &PublisherOptions<'_>) -> Created<Self> {
        let nodes = shared.node(options.node, options.topic)?;
        let watch = Watch::new(options.on_event.clone());
        let of_side = |side: usize, qos: QosProfile, announcement: &str| {
            shared.sides[side].create_publisher(PublisherOptions {
                node: nodes[side],
                qos,
                announcement,
                mode: PublishMode::Synchronous,
                on_event: Some(watch.notifier()),
                ..options.clone()
            })
        };
        let first = of_side(0, options.qos, &twin::first_announcement(options.announcement))?;
        let marked = twin::announcement(first.gid(), options.announcement);
        let second = of_side(1, first.qos(), &marked)?;
        let requires_each_write = first.qos().requires_each_write();
        let writer = Arc::new(Writer {
            names: shared.sides.each_ref().map(|side| side.engine_name()),
            topic: options.topic.to_owned(),
            matches: Mutex::new(Matches {
                joiner: Joiner::new(shared, watch.clone()),
                last: Vec::new(),
                status: PublisherStatus::default(),
                handovers: Vec::new(),
            }),
            sides: [first, second],
            watch,
            matched: AtomicUsize::new(0),
            needs_second: AtomicBool::new(requires_each_write),
            requires_each_write,
            order: Mutex::default(),
            announcement: Mutex::new(options.announcement.to_owned()),
        });
        let sender = match options.mode {
            PublishMode::Synchronous => None,
            PublishMode::Asynchronous { queue_depth } => {
                let to = writer.clone();
                let send = move |(bytes, stamp): (Vec<u8>, Stamp)| {
                    to.write(stamp, bytes.len(), &mut copied(&bytes)).map(drop)
                };
                Some(SendingThread::start(&writer.topic, queue_depth, send)?)
            }
        };
        Ok(Self { sender, writer })
    }
}

impl Writer {
    /// Examines the matches again if they may have changed.
    fn refresh(&self) {
        if self.watch.take_change() {
            self.look(&mut self.matches.lock());
        }
    }

    #[cold]
    fn look(&self, matches: &mut Matches) {
        let joined = matches.joiner.join(self.sides.each_ref().map(|side| side.matches()));
        matches.status.set_matched(joined.iter().map(|one| one.identity));
        for one in joined.iter().filter(|one| one.on[0].is_some()) {
            let before = matches.last.iter().find(|before| before.identity == one.identity);
            if let Some(Joined { on: [None, Some(gid)], .. }) = before {
                matches.handovers.push(*gid);
            }
        }
        let is_needed = self.requires_each_write || joined.iter().any(|one| one.on[0].is_none());
        self.needs_second.store(is_needed, Ordering::Release);
        self.matched.store(joined.len(), Ordering::Release);
        matches.last = joined;
    }

    /// If the first engine takes over a subscription, waits until the second engine has delivered
    /// all earlier messages to the subscription, so that no later message overtakes them.
    fn hand_over(&self) {
        // All publishers of the process to the topic count together.
        static LATE: FailureCounters = FailureCounters::new();
        self.refresh();
        let handovers = std::mem::take(&mut self.matches.lock().handovers);
        for gid in handovers {
            if !self.sides[1].is_acknowledged_by(gid, HANDOVER_WAIT)
                && let Some(so_far) = LATE.so_far(&self.topic)
            {
                tracing::warn!(
                    "a subscription of {} may get messages late and out of order: {} did not deliver them within \
                     {HANDOVER_WAIT:?}, and {} has now found it{so_far}",
                    self.topic,
                    self.names[1],
                    self.names[0]
                );
            }
        }
    }

    pub(crate) fn write(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError> {
        let mut copy = self.order.lock();
        self.hand_over();
        if self.needs_second.load(Ordering::Acquire) {
            return self.write_on_both(stamp, size_bytes, fill, &mut copy);
        }
        let number = self.sides[0].publish_at(stamp, size_bytes, fill)?;
        self.sides[1].skip(1);
        Ok(number)
    }

    /// Publishes on both engines. A message that only one of the engines refuses is counted on
    /// both.
    fn write_on_both(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
        copy: &mut Vec<u8>,
    ) -> Result<u64, PublishError> {
        let mut is_filled = false;
        let first = self.sides[0].publish_at(stamp, size_bytes, &mut |memory| {
            fill(memory)?;
            copy.clear();
            copy.extend_from_slice(memory);
            is_filled = true;
            Ok(())
        });
        let is_refused_by_all = |error: &PublishError| {
            use PublishError::{FillAborted, Size, Stamp};
            matches!(error, FillAborted | Size { .. } | Stamp { .. })
        };
        if let Err(error) = &first
            && is_refused_by_all(error)
        {
            return first;
        }
        let second = self.sides[1].publish_at(stamp, size_bytes, &mut |memory| {
            if is_filled {
                memory.copy_from_slice(copy);
                return Ok(());
            }
            fill(memory)
        });
        copy.clear();
        copy.shrink_to(KEPT_BYTES);
        match (first, second) {
            (Ok(number), Ok(_)) => Ok(number),
            (Ok(number), Err(error)) => Ok(self.go_on_without(1, number, &error)),
            (Err(error), Ok(number)) => Ok(self.go_on_without(0, number, &error)),
            (Err(error), Err(_)) => Err(error),
        }
    }

    #[cold]
    fn go_on_without(&self, side: usize, number: u64, error: &PublishError) -> u64 {
        // All publishers of the process to the topic count together.
        static REFUSED: FailureCounters = FailureCounters::new();
        self.sides[side].skip(1);
        if let Some(refused) = REFUSED.count(&self.topic) {
            tracing::warn!(
                "a message on {} was sent only through {} ({refused} so far): {error}",
                self.topic,
                self.names[1 - side]
            );
        }
        number
    }

    /// Returns the gids of a subscription on both engines.
    fn gids_of(&self, subscription: Gid) -> [Option<Gid>; 2] {
        let matches = self.matches.lock();
        let found = matches.last.iter().find(|one| one.identity == subscription);
        found.map_or([None; 2], |one| one.on)
    }
}

impl Publisher for PairPublisher {
    fn gid(&self) -> Gid {
        self.writer.sides[0].gid()
    }

    fn qos(&self) -> QosProfile {
        self.writer.sides[0].qos()
    }

    fn publish_at(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError> {
        match &self.sender {
            Some(sender) if stamp.is_publishable() => {
                let bytes = filled(&self.writer.topic, size_bytes, LARGEST_BYTES, fill)?;
                Ok(sender.push((bytes, stamp)))
            }
            Some(_) => Err(PublishError::Stamp { topic: self.writer.topic.clone(), stamp }),
            None => self.writer.write(stamp, size_bytes, fill),
        }
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        if self.sender.is_some() {
            return Ok(());
        }
        self.writer.sides[0].wait_for_room()?;
        let needs_second = self.writer.needs_second.load(Ordering::Acquire);
        if needs_second { self.writer.sides[1].wait_for_room() } else { Ok(()) }
    }

    fn skip(&self, messages: u64) {
        let _order = self.writer.order.lock();
        self.writer.sides.iter().for_each(|side| side.skip(messages));
    }

    fn matched_subscriptions(&self) -> usize {
        self.writer.refresh();
        self.writer.matched.load(Ordering::Acquire)
    }

    fn matches(&self) -> Vec<Match> {
        let mut matches = self.writer.matches.lock();
        self.writer.look(&mut matches);
        matches.last.iter().map(Joined::to_match).collect()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        let Writer { sides, topic, announcement: current, .. } = &*self.writer;
        announced::change((topic, self.gid()), current, announcement, |side, text| {
            sides[side].announce(text)
        })
    }

    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        let end = Instant::now() + timeout;
        let left = || end.saturating_duration_since(Instant::now());
        if self.sender.as_ref().is_some_and(|sender| !sender.wait_until_done(timeout)) {
            let topic = self.writer.topic.clone();
            return Err(WaitForAckedError::Timeout { topic, waited: timeout });
        }
        self.writer.sides.iter().try_for_each(|side| side.wait_for_all_acked(left()))
    }

    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        if self.sender.as_ref().is_some_and(|sender| !sender.wait_until_done(patience)) {
            return false;
        }
        let left = || end.saturating_duration_since(Instant::now());
        let gids = self.writer.gids_of(subscription);
        let mut on = self.writer.sides.iter().zip(gids);
        on.all(|(side, gid)| gid.is_none_or(|gid| side.is_acknowledged_by(gid, left())))
    }

    fn is_announced_to(&self, subscription: Gid, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let left = || end.saturating_duration_since(Instant::now());
        let gids = self.writer.gids_of(subscription);
        let mut on = self.writer.sides.iter().zip(gids);
        on.all(|(side, gid)| gid.is_none_or(|gid| side.is_announced_to(gid, left())))
    }

    fn forget_ended(&self, subscription: Gid) {
        let gids = self.writer.gids_of(subscription);
        let on = self.writer.sides.iter().zip(gids);
        on.for_each(|(side, gid)| gid.into_iter().for_each(|gid| side.forget_ended(gid)));
    }

    fn assert_liveliness(&self) -> Result<(), EventError> {
        let [first, second] = self.writer.sides.each_ref().map(|side| side.assert_liveliness());
        first.and(second)
    }

    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        self.writer.refresh();
        let mut matches = self.writer.matches.lock();
        for (side, end) in self.writer.sides.iter().enumerate() {
            while let Some(event) = end.take_event()? {
                matches.status.note(side, event);
            }
        }
        Ok(matches.status.take())
    }

    fn dropped_messages(&self) -> u64 {
        self.sender.as_ref().map_or(0, SendingThread::lost)
    }
}

impl Drop for PairPublisher {
    fn drop(&mut self) {
        self.writer.watch.close();
    }
}
