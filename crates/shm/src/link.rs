//! A subscription's link to one publisher: taking its messages from shared memory, checked.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use iceoryx2::port::{DegradationAction, ReceiveError};
use iceoryx2::prelude::{CallbackProgression, PayloadHeader};
use iceoryx2::service::builder::publish_subscribe::PublishSubscribeOpenError;
use iceoryx2::service::port_factory::PortFactory;

use crate::error::{OpenError, Refused, UnavailableError};
use crate::held_samples::{HeldSamples, IceoryxSample};
use crate::limits::{check_file_size, check_open_files};
use crate::mapping::Mappings;
use crate::node::{HostNode, check_space, refused};
use crate::populate::free_bytes;
use crate::port::Port;
use crate::sample::{Checked, HostSample};
use crate::service::{self, FORMAT_VERSION, LEADING_BYTES, WireHeader};
use crate::storage;

/// What a [`Link`] is opened with.
#[derive(Debug, Clone, Copy)]
pub struct LinkSettings {
    /// The queue's length; when it is full, the oldest message makes room. At most what the
    /// publisher allows.
    pub depth: usize,
    /// The hash of the message type that is expected; not checked where one side knows none.
    pub type_hash: Option<[u8; 32]>,
}

/// What [`Link::take`] found.
#[derive(Debug)]
pub enum TakeOutcome {
    /// The oldest message in the queue.
    Sample(HostSample),
    /// The queue is empty.
    Empty,
    /// There may be messages, but this subscription already holds as many as it may: drop one and
    /// take again. Counted in [`LinkCounts::views_exhausted`].
    ViewsExhausted {
        /// What the publisher allows each subscription.
        max_views: usize,
    },
    /// A sample that is not what it should be; it has gone back. Take again. Counted in
    /// [`LinkCounts::refused`].
    Refused(Refused),
}

/// What happened on a link since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Samples taken.
    pub taken: u64,
    /// Messages missing between those taken: the queue was full.
    pub lost: u64,
    /// Samples refused.
    pub refused: u64,
    /// How often nothing could be taken because of views held.
    pub views_exhausted: u64,
    /// How often a pool of the publisher could not be mapped; its messages are missed.
    pub failed_connections: u64,
}

/// The link of one subscription to one publisher's shared memory.
pub struct Link {
    port: Arc<Port>,
    id: u64,
    depth: usize,
    max_views: usize,
    type_hash: u64,
    counts: LinkCounts,
    /// The number of the last sample taken; 0 before the first.
    sequence: u64,
    /// The port that it came from.
    origin: u64,
    /// Port and number of the last sample received, taken or not.
    received: (u64, u64),
    mappings: Mappings,
    /// A sample of a larger pool that was seen before the last ones of the pool that it replaced:
    /// iceoryx2 looks through the pools from the oldest on, and both may get messages meanwhile.
    early: Option<HostSample>,
}

impl Link {
    /// Links to the publisher `id`. Messages that it sends from now on arrive here.
    ///
    /// # Errors
    /// [`OpenError::NotYet`] while the publisher has not made its shared memory,
    /// [`OpenError::NotMapped`] also when it goes or grows just now.
    pub fn open(node: &Arc<HostNode>, id: u64, settings: LinkSettings) -> Result<Self, OpenError> {
        check_open_files()?;
        let lock = node.exclusive()?;
        storage::forget_failure();
        let service =
            service::builder(node.iceoryx(), id).open().map_err(|cause| open_error(id, cause))?;
        if service.dynamic_config().number_of_publishers() == 0 {
            return Err(OpenError::NotYet { id });
        }
        let limits = service.static_config();
        let depth = settings.depth.clamp(1, limits.subscriber_max_buffer_size());
        let max_views = limits.subscriber_max_borrowed_samples();
        let max_subscriptions = limits.max_subscribers();
        let failed_connections = Arc::new(AtomicU64::new(0));
        let create = || {
            let failed = Arc::clone(&failed_connections);
            service
                .subscriber_builder()
                .buffer_size(depth)
                .set_degradation_handler(move |_, _| {
                    failed.fetch_add(1, Ordering::Relaxed);
                    DegradationAction::Ignore
                })
                .create()
        };
        let free = free_bytes().map_err(|cause| UnavailableError::Refused {
            what: "a look at /dev/shm",
            cause: cause.to_string(),
        })?;
        let needed = connection_bytes(
            depth,
            max_views,
            max_subscriptions,
            limits.subscriber_max_buffer_size(),
        );
        check_space(needed, free)?;
        check_file_size(needed)?;
        use iceoryx2::port::subscriber::SubscriberCreateError::ExceedsMaxSupportedSubscribers;
        let subscriber = match create() {
            Err(ExceedsMaxSupportedSubscribers) => {
                node.clean_up_locked(&lock);
                create()
            }
            other => other,
        }
        .map_err(|cause| match cause {
            ExceedsMaxSupportedSubscribers => OpenError::TooMany { id, max_subscriptions },
            other => refused("a subscription's port", other).into(),
        })?;
        if failed_connections.load(Ordering::Relaxed) > 0 {
            return Err(match refused("a connection", "not made") {
                full @ UnavailableError::Full { .. } => full.into(),
                _ => OpenError::NotMapped { id },
            });
        }
        lock.finish();
        Ok(Self {
            port: Arc::new(Port {
                subscriber,
                service,
                held: HeldSamples::new(max_views),
                failed_connections,
                is_crowded: AtomicBool::new(false),
                on_room: OnceLock::new(),
                node: Arc::clone(node),
            }),
            id,
            depth,
            max_views,
            type_hash: service::hash_prefix(settings.type_hash),
            counts: LinkCounts::default(),
            sequence: 0,
            origin: 0,
            received: (0, 0),
            mappings: Mappings::default(),
            early: None,
        })
    }

    /// The publisher's id.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The queue's length.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How many samples this subscription may hold at once.
    #[must_use]
    pub fn max_views(&self) -> usize {
        self.max_views
    }

    /// Calls `on_room`, on whichever thread it happens, when after [`TakeOutcome::ViewsExhausted`]
    /// a sample goes back. It must not block. Only the first one that is set counts.
    pub fn on_room(&self, on_room: impl Fn() + Send + Sync + 'static) {
        let _ = self.port.on_room.set(Box::new(on_room));
    }

    /// Takes the oldest message from the queue. Never blocks; allocates nothing unless the
    /// publisher's pool has grown.
    pub fn take(&mut self) -> TakeOutcome {
        if let Some(early) = self.early.take() {
            return self.take_beside(early);
        }
        match self.receive() {
            // A gap where the pool has been replaced: what is missing may still lie in the old one.
            TakeOutcome::Sample(sample)
                if sample.origin != self.origin
                    && missing_between(self.sequence, sample.sequence) > 0 =>
            {
                self.early = Some(sample);
                self.take()
            }
            TakeOutcome::Sample(sample) => self.deliver(sample),
            TakeOutcome::Refused(refused) => self.refuse(refused),
            TakeOutcome::ViewsExhausted { max_views } => self.note_crowd(max_views),
            TakeOutcome::Empty => TakeOutcome::Empty,
        }
    }

    /// The older one of a sample that came early and the next one.
    #[cold]
    fn take_beside(&mut self, early: HostSample) -> TakeOutcome {
        match self.receive() {
            TakeOutcome::Sample(sample) if sample.sequence < early.sequence => {
                self.early = Some(early);
                self.deliver(sample)
            }
            TakeOutcome::Sample(later) => {
                self.early = Some(later);
                self.deliver(early)
            }
            TakeOutcome::Refused(refused) => {
                self.early = Some(early);
                self.refuse(refused)
            }
            TakeOutcome::Empty | TakeOutcome::ViewsExhausted { .. } => self.deliver(early),
        }
    }

    #[cold]
    fn note_crowd(&mut self, max_views: usize) -> TakeOutcome {
        // A sample that goes back from here on calls `on_room`; one that went just before has made
        // room.
        if !self.port.is_crowded.swap(true, Ordering::AcqRel) {
            return self.take();
        }
        self.counts.views_exhausted += 1;
        TakeOutcome::ViewsExhausted { max_views }
    }

    fn deliver(&mut self, sample: HostSample) -> TakeOutcome {
        self.counts.taken += 1;
        let missing = missing_between(self.sequence, sample.sequence);
        self.counts.lost = self.counts.lost.saturating_add(missing);
        self.sequence = self.sequence.max(sample.sequence);
        self.origin = sample.origin;
        TakeOutcome::Sample(sample)
    }

    #[cold]
    fn refuse(&mut self, refused: Refused) -> TakeOutcome {
        self.counts.refused += 1;
        TakeOutcome::Refused(refused)
    }

    fn receive(&mut self) -> TakeOutcome {
        match self.port.subscriber.receive() {
            Ok(Some(sample)) => match self.check(&sample) {
                Ok(checked) => {
                    let Some(sample) = HostSample::new(sample, checked, &self.port) else {
                        return TakeOutcome::ViewsExhausted { max_views: self.max_views };
                    };
                    match self.check_order(&sample) {
                        Ok(()) => TakeOutcome::Sample(sample),
                        Err(refused) => TakeOutcome::Refused(refused),
                    }
                }
                Err(refused) => TakeOutcome::Refused(refused),
            },
            Ok(None) => TakeOutcome::Empty,
            Err(ReceiveError::ExceedsMaxBorrows) => {
                TakeOutcome::ViewsExhausted { max_views: self.max_views }
            }
            Err(ReceiveError::ConnectionFailure(_)) => TakeOutcome::Refused(Refused::NotMapped),
        }
    }

    /// A queue whose positions were scribbled over brings the same samples again and again.
    fn check_order(&mut self, sample: &HostSample) -> Result<(), Refused> {
        let (origin, last) = self.received;
        if origin == sample.origin && sample.sequence <= last {
            return Err(Refused::Repeated { found: sample.sequence, last });
        }
        self.received = (sample.origin, sample.sequence);
        Ok(())
    }

    /// Whether the sample is what it should be. Nothing of it is read before its place is known to
    /// be mapped.
    fn check(&mut self, sample: &IceoryxSample) -> Result<Checked, Refused> {
        let start = std::ptr::from_ref(sample.header()).addr();
        let header = std::ptr::from_ref(sample.user_header());
        let room = self.mappings.room_from(start, self.port.node.prefix()).ok_or(Refused::Place)?;
        let head_bytes = header.addr() - start + size_of::<WireHeader>();
        let payload_offset = head_bytes; // bytes need no alignment
        if room < payload_offset + LEADING_BYTES {
            return Err(Refused::Place);
        }
        // SAFETY: the header lies in mapped, readable memory; a racing write by a hostile publisher
        // changes numbers only.
        let header = unsafe { header.read_volatile() };
        if header.version != FORMAT_VERSION {
            return Err(Refused::Version { found: header.version, expected: FORMAT_VERSION });
        }
        if self.type_hash != 0 && header.type_hash != 0 && header.type_hash != self.type_hash {
            return Err(Refused::TypeHash { found: header.type_hash, expected: self.type_hash });
        }
        let elements = sample.header().number_of_elements();
        let available =
            elements.min((room - payload_offset) as u64).saturating_sub(LEADING_BYTES as u64);
        if header.cdr_bytes > available {
            return Err(Refused::Length {
                claimed_bytes: header.cdr_bytes,
                available_bytes: available,
            });
        }
        let cdr = std::ptr::from_ref(sample.header())
            .cast::<u8>()
            .wrapping_add(payload_offset + LEADING_BYTES);
        Ok(Checked { header, cdr })
    }

    /// What happened since the link was opened.
    #[must_use]
    pub fn counts(&self) -> LinkCounts {
        LinkCounts {
            failed_connections: self.port.failed_connections.load(Ordering::Relaxed),
            ..self.counts
        }
    }

    /// Messages that were dropped from the full queue, as far as known: counted when a later one is
    /// taken.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.counts.lost
    }

    /// Whether the publisher still has its shared memory. A killed publisher has it until somebody
    /// of this user calls [`HostNode::clean_up`]. What is in the queue can be taken even
    /// afterwards. Looks at one small file.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        let mut connected = false;
        self.port.service.dynamic_config().list_publishers(|publisher| {
            // The list alone would do, but for who is killed while it strikes a killed publisher
            // off: iceoryx2 never finishes that.
            connected = self.port.node.knows(publisher.node_id.value());
            if connected { CallbackProgression::Stop } else { CallbackProgression::Continue }
        });
        connected
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link")
            .field("id", &self.id)
            .field("depth", &self.depth)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

/// What iceoryx2 makes for a connection, roughly: two queues and a flag for each chunk.
fn connection_bytes(
    depth: usize,
    max_views: usize,
    max_subscriptions: usize,
    largest_depth: usize,
) -> u64 {
    let chunks = max_subscriptions.saturating_mul(largest_depth.saturating_add(max_views));
    (depth.saturating_add(max_views).saturating_mul(32))
        .saturating_add(chunks)
        .saturating_add(16 * 1024) as u64
}

fn open_error(id: u64, cause: PublishSubscribeOpenError) -> OpenError {
    use PublishSubscribeOpenError as Cause;
    match cause {
        // Made, unmade, or left half-made by a killed process until the clean-up.
        Cause::DoesNotExist | Cause::HangsInCreation | Cause::IsMarkedForDestruction => {
            OpenError::NotYet { id }
        }
        Cause::IncompatibleTypes
        | Cause::IncompatibleMessagingPattern
        | Cause::IncompatibleAttributes
        | Cause::IncompatibleOverflowBehavior
        | Cause::VersionMismatch => OpenError::Incompatible { id, cause: format!("{cause:?}") },
        other => refused("a publisher's service", other).into(),
    }
}

/// How many numbers lie between two; none before the first sample, whose `last` is 0.
fn missing_between(last: u64, next: u64) -> u64 {
    if last == 0 { 0 } else { next.saturating_sub(last).saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_a_publisher_overflows() {
        let table = [(0, 9, 0), (1, 2, 0), (1, 4, 2), (4, 4, 0), (4, 1, 0)];
        let absurd = [(u64::MAX, 7, 0), (u64::MAX, u64::MAX, 0), (1, u64::MAX, u64::MAX - 2)];
        for (last, next, missing) in table.into_iter().chain(absurd) {
            assert_eq!(missing_between(last, next), missing, "{last} {next}");
        }
    }
}
