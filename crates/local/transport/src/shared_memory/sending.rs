//! The sending side of the shared-memory transport: the shared memory of a publisher, and the
//! subscriptions that are served from it.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use feros_engine::{FailureCounter, Gid, Match, Publisher as EnginePublisher, Reliability};
use feros_shm::{
    Announced, Announcement, CreateError, EntryId, HostNode, HostPublisher, HostPublisherSettings,
    Obstacle, Peer, PeerAttachment, PeerSubscription, Reason, Room, Side, Transport, TransportSet,
    classify, random_id,
};

use feros_trace::{Endpoint, Kind};

use crate::intra_process::queue::StillFull;
use crate::shared_memory::availability::{self, LONGEST_QUEUE};
use crate::shared_memory::handshake::Handshake;
use crate::shared_memory::options::SharedMemoryOptions;

/// How long publishing waits until the messages that the engine sent are acknowledged.
const ACKNOWLEDGEMENT_WAIT: Duration = Duration::from_millis(2);
/// The shortest time between two such waits.
const ACKNOWLEDGEMENT_INTERVAL: Duration = Duration::from_millis(100);
/// How long to wait after a failed attempt to make shared memory. The wait doubles with each
/// attempt, up to [`LAST_RETRY`].
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// The longest wait after a failed attempt to make shared memory.
const LAST_RETRY: Duration = Duration::from_secs(16);

/// The publisher's side of the shared-memory transport. Its shared memory is made when the first
/// match can use it.
pub(crate) struct SharedMemorySending {
    id: NonZeroU64,
    topic: String,
    announced: Announced,
    /// The announcement that is used if the shared memory can be made.
    wanted: Announcement,
    settings: HostPublisherSettings,
    memory: Memory,
    waited_for_acknowledgement: Option<Instant>,
}

/// The state of a publisher's shared memory. The upkeep thread makes the shared memory, and tries
/// again after a failure.
enum Memory {
    None,
    Made(Arc<HostPublisher>),
    Failed { patience: Duration, retry_at: Instant },
}

/// Makes the shared memory of a publisher. This may wait for other processes.
pub(crate) fn make_memory(settings: HostPublisherSettings) -> Result<Arc<HostPublisher>, Obstacle> {
    let type_name = settings.type_name.clone();
    let made = HostNode::shared()
        .map_err(CreateError::from)
        .and_then(|node| HostPublisher::create(&node, settings));
    made.map(Arc::new).map_err(|error| {
        // The counter limits the number of log messages, because each publisher tries again and
        // again.
        static FAILED: FailureCounter = FailureCounter::new();
        if let Some(so_far) = FAILED.so_far() {
            tracing::warn!(
                target: "feros::shm",
                "a publisher of {type_name} takes the network transport instead of shared memory: \
                 {error}{so_far}"
            );
        }
        match error {
            CreateError::Unavailable(error) => error.obstacle(),
            CreateError::AlreadyExists { .. } => Obstacle::Other,
        }
    })
}

/// The route to a subscription in another process of this host.
#[derive(Clone)]
pub(crate) struct SharedMemoryRoute {
    pub(crate) subscription: Gid,
    pub(crate) peer: PeerSubscription,
    pub(crate) state: Handshake<PeerAttachment, Arc<Established>>,
    /// The number of attachments that the subscription had released when the state was found.
    releases: u32,
    pub(crate) traced: Endpoint,
}

/// A subscription that is served through shared memory.
pub(crate) struct Established {
    attachment: PeerAttachment,
    /// Whether the subscription keeps all messages, so that publishing waits until the subscription
    /// has room.
    is_lossless: bool,
    /// The number of messages that were sent to the subscription, modulo 2^32. Messages are counted
    /// only if publishing waits for at least one subscription of the publisher.
    sent: AtomicU32,
}

impl Established {
    /// Whether publishing waits until the subscription has room.
    pub(crate) fn is_lossless(&self) -> bool {
        self.is_lossless
    }

    pub(crate) fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the subscription has room for one more message. This is also true if the
    /// subscription has left.
    pub(crate) fn has_room(&self) -> bool {
        self.attachment.taken().is_none_or(|taken| self.has_room_after(taken))
    }

    fn has_room_after(&self, taken: u32) -> bool {
        // Both sides count modulo 2^32, and the other side may report any number.
        let waiting = self.sent.load(Ordering::Relaxed).wrapping_sub(taken);
        waiting < self.attachment.capacity() || waiting > u32::MAX / 2
    }

    /// Waits until the subscription has room or has left.
    pub(crate) fn wait_for_room(&self, until: Instant) -> Result<(), StillFull> {
        loop {
            let Some(taken) = self.attachment.taken() else { return Ok(()) };
            if self.has_room_after(taken) {
                return Ok(());
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.attachment.wait_for_room(taken, left) {
                Room::Taken(_) => {}
                Room::Detached => return Ok(()),
                Room::TimedOut => return Err(StillFull),
            }
        }
    }
}

impl SharedMemorySending {
    /// Makes the sending side of a new publisher. If shared memory cannot be used, the announcement
    /// contains the reason.
    pub(crate) fn new(
        topic: &str,
        transports: TransportSet,
        type_name: &str,
        type_hash: Option<[u8; 32]>,
        options: &SharedMemoryOptions,
    ) -> Self {
        let id = random_id();
        let obstacle = availability::of(transports).err();
        let settings = HostPublisherSettings {
            type_hash,
            type_name: type_name.to_owned(),
            largest_depth: LONGEST_QUEUE,
            max_subscriptions: options.max_subscriptions,
            max_views: options.max_views,
            max_loans: options.max_loans,
            pool_limit_bytes: options.pool_limit_bytes,
            ..HostPublisherSettings::new(id.get())
        };
        let wanted = Announcement::of_this_process(id.get(), transports, obstacle);
        Self {
            id,
            topic: topic.to_owned(),
            announced: wanted.clone().into(),
            wanted,
            settings,
            memory: Memory::None,
            waited_for_acknowledgement: None,
        }
    }

    pub(crate) fn announced(&self) -> &Announced {
        &self.announced
    }

    /// The announcement as a string.
    pub(crate) fn announcement(&self) -> String {
        self.announced.feros().map_or_else(String::new, Announcement::encode)
    }

    pub(crate) fn id(&self) -> NonZeroU64 {
        self.id
    }

    pub(crate) fn memory(&self) -> Option<&Arc<HostPublisher>> {
        match &self.memory {
            Memory::Made(memory) => Some(memory),
            Memory::None | Memory::Failed { .. } => None,
        }
    }

    /// Whether this subscription could be served through shared memory if the publisher had shared
    /// memory.
    pub(crate) fn could_serve(&self, subscription: &Announced) -> bool {
        let could = Announced::Feros(self.wanted.clone());
        classify(&could, subscription).transport == Some(Transport::SharedMemory)
    }

    /// The settings for the shared memory, if it is time to make it or to try again.
    pub(crate) fn due(&self, now: Instant) -> Option<HostPublisherSettings> {
        let is_due = match self.memory {
            Memory::None => true,
            Memory::Made(_) => false,
            Memory::Failed { retry_at, .. } => retry_at <= now,
        };
        (is_due && self.wanted.shared_memory.is_ok()).then(|| self.settings.clone())
    }

    /// The time of the next attempt to make the shared memory.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        match self.memory {
            Memory::Failed { retry_at, .. } => Some(retry_at),
            Memory::None | Memory::Made(_) => None,
        }
    }

    /// Records the result of an attempt to make the shared memory. Returns the announcement if it
    /// has changed.
    pub(crate) fn note(
        &mut self,
        made: Result<Arc<HostPublisher>, Obstacle>,
        now: Instant,
    ) -> Option<String> {
        let mut announcement = self.wanted.clone();
        self.memory = match made {
            Ok(memory) => Memory::Made(memory),
            Err(why) => {
                announcement.shared_memory = Err(why);
                let patience = match self.memory {
                    Memory::Failed { patience, .. } => (patience * 2).min(LAST_RETRY),
                    Memory::None | Memory::Made(_) => FIRST_RETRY,
                };
                Memory::Failed { patience, retry_at: now + patience }
            }
        };
        let announced = Announced::Feros(announcement);
        let has_changed = announced != self.announced;
        self.announced = announced;
        has_changed.then(|| self.announcement())
    }

    /// Finds the route to a match on the shared-memory transport, and continues the handshake.
    ///
    /// # Errors
    /// The reason why the match must take the network transport.
    pub(crate) fn route(
        &mut self,
        found: &Match,
        former: Option<&SharedMemoryRoute>,
        engine: &dyn EnginePublisher,
        next_number: u64,
    ) -> Result<SharedMemoryRoute, Reason> {
        let memory = self.memory().cloned().ok_or(Reason::Pending)?;
        let mut route = match former {
            Some(former) => former.clone(),
            None => {
                let peer = open_peer(found)?;
                // The subscription could not open its connection before the memory was made. Now it
                // can.
                peer.report_ready();
                let traced = Endpoint::new(Kind::Subscription, found.gid.0, &self.topic);
                SharedMemoryRoute {
                    subscription: found.gid,
                    peer,
                    state: Handshake::Offered,
                    releases: 0,
                    traced,
                }
            }
        };
        self.advance(&mut route, found, engine, next_number, &memory)?;
        Ok(route)
    }

    /// Continues the handshake by as many steps as possible.
    fn advance(
        &mut self,
        route: &mut SharedMemoryRoute,
        found: &Match,
        engine: &dyn EnginePublisher,
        next_number: u64,
        memory: &HostPublisher,
    ) -> Result<(), Reason> {
        // This is first, so that `is_current` notices a release that happens after it.
        route.releases = route.peer.releases();
        if let Handshake::Established(established) = &route.state
            && !established.attachment.is_attached()
        {
            if !route.peer.exists() {
                return Err(Reason::SubscriptionGone);
            }
            // The subscription has given this publisher up. It will find the publisher again.
            route.state = Handshake::Offered;
        }
        if route.state.awaits_opening()
            && let Some(attachment) = route.peer.attachment(self.id)
        {
            route.state = Handshake::Attached(attachment);
        }
        if matches!(route.state, Handshake::Attached(_))
            && (found.qos.reliability != Reliability::Reliable
                || self.is_acknowledged(engine, &[found.gid]))
        {
            // The attachment is read again, because the subscription may have attached anew since
            // the acknowledgements were checked.
            let Some(attachment) = route.peer.attachment(self.id) else {
                route.state = Handshake::Offered;
                return Ok(());
            };
            memory.refresh();
            attachment.begin(next_number);
            let is_lossless =
                attachment.capacity() > 0 && engine.qos().reliability == Reliability::Reliable;
            let sent = AtomicU32::new(0);
            let established = Established { attachment, is_lossless, sent };
            route.state = Handshake::Established(Arc::new(established));
        }
        Ok(())
    }

    /// Whether these subscriptions have acknowledged all messages that the engine sent. Under a
    /// constant load, some message may be unacknowledged at any moment. So publishing sometimes
    /// waits for a short time.
    pub(crate) fn is_acknowledged(&mut self, engine: &dyn EnginePublisher, by: &[Gid]) -> bool {
        let is_acknowledged =
            |patience| by.iter().all(|gid| engine.is_acknowledged_by(*gid, patience));
        if is_acknowledged(Duration::ZERO) {
            return true;
        }
        let now = Instant::now();
        let last = *self.waited_for_acknowledgement.get_or_insert(now);
        if now.duration_since(last) < ACKNOWLEDGEMENT_INTERVAL {
            return false;
        }
        self.waited_for_acknowledgement = Some(now);
        is_acknowledged(ACKNOWLEDGEMENT_WAIT)
    }
}

fn open_peer(found: &Match) -> Result<PeerSubscription, Reason> {
    let unreadable = || Reason::UnreadableAnnouncement { side: Side::Subscription };
    let announced = Announced::read(found.announcement.as_deref());
    let subscription = announced.feros().ok_or_else(unreadable)?;
    let file = subscription
        .shared_memory
        .map_err(|why| Reason::SharedMemoryUnavailable { by: Side::Subscription, why })?;
    let token = NonZeroU64::new(subscription.token).ok_or_else(unreadable)?;
    let entry = EntryId::from_u64(subscription.endpoint).ok_or_else(unreadable)?;
    let peer = Peer::open(subscription.pid, file, token)
        .map_err(|error| error.reason(Side::Subscription))?;
    Ok(peer.subscription(entry))
}

/// Whether the operating system reports that the process of this subscription has ended. The
/// process is on this host.
pub(crate) fn has_ended(found: &Match) -> bool {
    match open_peer(found) {
        Ok(subscription) => !subscription.peer().is_alive(),
        Err(reason) => reason == Reason::SubscriptionGone,
    }
}

impl SharedMemoryRoute {
    /// The number of attachments that the subscription had released when the route was found.
    pub(crate) fn releases(&self) -> u32 {
        self.releases
    }

    /// Whether there is nothing to do for the handshake. It may be able to continue if the
    /// subscription has opened its connection, or if acknowledgements are still awaited. It must
    /// begin again if the subscription has given this publisher up.
    pub(crate) fn is_current(&self, publisher: NonZeroU64) -> bool {
        match self.state {
            Handshake::Offered | Handshake::Declined(_) => !self.peer.is_attached(publisher),
            Handshake::Attached(_) => false,
            Handshake::Established(_) => self.peer.releases() == self.releases,
        }
    }
}
