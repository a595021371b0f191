//! A subscription's connection to one publisher. It takes the publisher's messages from shared
//! memory and checks them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use iceoryx2::port::DegradationAction;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::CallbackProgression;
use iceoryx2::service::builder::publish_subscribe::PublishSubscribeOpenError;
use iceoryx2::service::port_factory::PortFactory;

use feros_sync::Mutex;

use crate::connection;
use crate::error::{OpenError, Refused, UnavailableError};
use crate::ipc::Ipc;
use crate::limits::{check_file_size, check_open_files};
use crate::node::{HostNode, check_space, refused};
use crate::populate::free_bytes;
use crate::port::Port;
use crate::process_handle::ProcessHandle;
use crate::receiving_end::{NotTaken, ReceivingEnds, Taken};
use crate::sample::{HostSample, Message};
use crate::service::{self, HEAD_BYTES, HEADER_VERSION, Service, WireHeader};
use crate::space::SpaceLock;
use crate::storage;

/// The settings for opening a [`Link`].
#[derive(Debug, Clone, Copy)]
pub struct LinkSettings {
    /// The length of the queue, which the publisher may limit further. If the queue is full, each
    /// new message replaces the oldest message.
    pub depth: usize,
    /// The expected hash of the message type. The hash is not checked if one side has no hash.
    pub type_hash: Option<[u8; 32]>,
}

/// The result of [`Link::take`].
#[derive(Debug)]
pub enum TakeOutcome {
    /// The oldest message in the queue.
    Sample(HostSample),
    /// The queue is empty.
    Empty,
    /// Messages may be waiting, but this subscription already holds the largest number of messages
    /// that it may hold. Drop a message and take again. This is counted in
    /// [`LinkCounts::views_exhausted`].
    ViewsExhausted {
        /// The number of messages that the publisher allows each subscription to hold.
        max_views: usize,
    },
    /// A sample was malformed and has been returned to the publisher. Take again. This is counted
    /// in [`LinkCounts::refused`].
    Refused(Refused),
}

/// The counters of a connection since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// The number of samples taken.
    pub taken: u64,
    /// The number of messages that are missing between the taken messages because a full queue
    /// dropped them.
    pub lost: u64,
    /// The number of samples refused.
    pub refused: u64,
    /// How many times no sample could be taken because the subscription held too many samples
    /// (views).
    pub views_exhausted: u64,
    /// How many times a pool of the publisher could not be mapped, so that its messages were
    /// missed.
    pub failed_connections: u64,
}

/// The connection of one subscription to one publisher's shared memory.
#[repr(C)] // the fields that each message needs are next to each other
pub struct Link {
    port: Arc<Port>,
    type_hash: u64,
    /// The number of the last sample that was taken, or 0 before the first sample.
    sequence: u64,
    /// The number of the receiving end through which that sample arrived.
    origin: u32,
    /// The number of the receiving end, and the number of the sample, for the last sample that was
    /// received, no matter whether it was taken.
    received: (u32, u64),
    /// A sample from a larger pool that was received before the last samples from the pool that the
    /// larger pool has replaced. This happens because the pools are checked one after the other,
    /// beginning with the oldest pool, and messages may arrive in both pools in the meantime.
    early: Option<Box<HostSample>>,
    counts: LinkCounts,
    id: u64,
    depth: usize,
    max_views: usize,
}

impl Link {
    /// Connects to the publisher with this `id`. Messages that the publisher sends from now on
    /// arrive here.
    ///
    /// # Errors
    /// See [`OpenError`]. For example, the error is [`OpenError::NotYet`] until the publisher has
    /// made its shared memory, and [`OpenError::NotMapped`] while the publisher leaves or its
    /// memory grows.
    pub fn open(node: &Arc<HostNode>, id: u64, settings: LinkSettings) -> Result<Self, OpenError> {
        check_open_files()?;
        let lock = node.exclusive()?;
        let service = match open_service(node, &lock, id) {
            Err(error @ (OpenError::NotYet { .. } | OpenError::TooMany { .. })) => {
                lock.finish(); // there is no unfinished work
                return Err(error);
            }
            opened => opened?,
        };
        let limits = service.static_config();
        let depth = settings.depth.clamp(1, limits.subscriber_max_buffer_size());
        let max_views = limits.subscriber_max_borrowed_samples();
        let failed_connections = Arc::new(AtomicU64::new(0));
        let free = free_bytes().map_err(|cause| UnavailableError::Refused {
            what: "a look at /dev/shm",
            cause: cause.to_string(),
        })?;
        let needed = connection::size_bytes(depth, max_views);
        check_space(needed, free)?;
        check_file_size(needed)?;
        connection::take_receivers(); // discards ends that earlier failures have left
        let failed = Arc::clone(&failed_connections);
        let created = service
            .subscriber_builder()
            .buffer_size(depth)
            .set_degradation_handler(move |_, _| {
                failed.fetch_add(1, Ordering::Relaxed);
                DegradationAction::Ignore
            })
            .create();
        let ends = connection::take_receivers();
        let subscriber = created.map_err(|cause| refused("a subscription's port", cause))?;
        if failed_connections.load(Ordering::Relaxed) > 0 {
            return Err(match refused("a connection", "not made") {
                full @ UnavailableError::Full { .. } => full.into(),
                _ => OpenError::NotMapped { id },
            });
        }
        let mut receiving = ReceivingEnds::new(max_views);
        if receiving.update(ends) > 0 {
            return Err(OpenError::NotMapped { id });
        }
        lock.finish();
        Ok(Self {
            port: Arc::new(Port {
                ends: Mutex::new(receiving),
                is_crowded: AtomicBool::new(false),
                subscriber,
                service,
                failed_connections,
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

    /// The number of samples that this subscription may hold at the same time.
    #[must_use]
    pub fn max_views(&self) -> usize {
        self.max_views
    }

    /// Sets the function that is called when a sample is returned after
    /// [`TakeOutcome::ViewsExhausted`]. It may be called on any thread and must not block. Only the
    /// first call of this method has an effect.
    pub fn on_room(&self, on_room: impl Fn() + Send + Sync + 'static) {
        let _ = self.port.on_room.set(Box::new(on_room));
    }

    /// Takes the oldest message from the queue. Never blocks. Allocates nothing unless the
    /// publisher's pool has grown.
    pub fn take(&mut self) -> TakeOutcome {
        if let Some(early) = self.early.take() {
            return self.take_beside(*early);
        }
        match self.receive() {
            // There is a gap after the pool has been replaced, so the missing messages may still be
            // in the old pool.
            TakeOutcome::Sample(sample)
                if sample.origin != self.origin
                    && missing_between(self.sequence, sample.sequence) > 0 =>
            {
                self.early = Some(Box::new(sample));
                self.take()
            }
            TakeOutcome::Sample(sample) => self.deliver(sample),
            TakeOutcome::Refused(refused) => self.refuse(refused),
            TakeOutcome::ViewsExhausted { max_views } => self.note_crowd(max_views),
            TakeOutcome::Empty => TakeOutcome::Empty,
        }
    }

    /// Receives the next sample. Delivers the older one of that sample and `early`, and keeps the
    /// other sample.
    #[cold]
    fn take_beside(&mut self, early: HostSample) -> TakeOutcome {
        match self.receive() {
            TakeOutcome::Sample(sample) if sample.sequence < early.sequence => {
                self.early = Some(Box::new(early));
                self.deliver(sample)
            }
            TakeOutcome::Sample(later) => {
                self.early = Some(Box::new(later));
                self.deliver(early)
            }
            TakeOutcome::Refused(refused) => {
                self.early = Some(Box::new(early));
                self.refuse(refused)
            }
            TakeOutcome::Empty | TakeOutcome::ViewsExhausted { .. } => self.deliver(early),
        }
    }

    #[cold]
    fn note_crowd(&mut self, max_views: usize) -> TakeOutcome {
        // From now on, a sample that is returned calls `on_room`. A sample that was returned
        // earlier has already made room, so this function tries once more at the first call.
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

    /// Whether there may be a message to take. After a ring, this function sees the message for
    /// which the publisher rang. So a caller that calls it before it sleeps misses no message.
    #[must_use]
    pub fn has_message(&self) -> bool {
        self.early.is_some() || self.port.ends.lock().have_message()
    }

    fn receive(&mut self) -> TakeOutcome {
        let mut ends = self.port.ends.lock();
        let mut taken = ends.take();
        if taken.as_ref().is_err_and(|why| *why == NotTaken::Empty) {
            if !self.look_for_pools(&mut ends) {
                return TakeOutcome::Refused(Refused::NotMapped);
            }
            taken = ends.take();
        }
        drop(ends);
        match taken {
            Ok(taken) => match self.check(&taken) {
                Ok(sample) => TakeOutcome::Sample(sample),
                Err(refused) => TakeOutcome::Refused(refused),
            },
            Err(NotTaken::Empty) => TakeOutcome::Empty,
            Err(NotTaken::Crowded) => TakeOutcome::ViewsExhausted { max_views: self.max_views },
            Err(NotTaken::Nonsense) => TakeOutcome::Refused(Refused::Place),
        }
    }

    /// Connects to pools that the publisher has made since the last call, and disconnects from
    /// removed pools. Returns false if a pool cannot be mapped.
    #[cold]
    fn look_for_pools(&self, ends: &mut ReceivingEnds) -> bool {
        ends.begin_update();
        let is_complete = self.port.subscriber.update_connections().is_ok();
        if connection::have_changed() {
            ends.update(connection::take_receivers()); // failures have already been counted
        }
        is_complete
    }

    /// Checks the sample. Reads no byte of the sample until it is known that the location of the
    /// sample is mapped.
    fn check(&mut self, taken: &Taken) -> Result<HostSample, Refused> {
        let message = Message::new(&self.port, taken);
        let place = usize::try_from(taken.place).map_err(|_| Refused::Place)?;
        let left =
            taken.size_bytes.checked_sub(place).and_then(|left| left.checked_sub(HEAD_BYTES));
        let left = left.filter(|_| place.is_multiple_of(align_of::<WireHeader>()));
        let left = left.ok_or(Refused::Place)? as u64;
        // SAFETY: the mapping contains `place` and at least `HEAD_BYTES` bytes after it.
        let (start, cdr) = unsafe { (taken.start.add(place), taken.start.add(place + HEAD_BYTES)) };
        // SAFETY: the header is in mapped, readable memory, and is aligned. A concurrent write by a
        // hostile publisher changes only numbers.
        let header = unsafe { start.cast::<WireHeader>().read_volatile() };
        if header.version != HEADER_VERSION {
            return Err(Refused::Version { found: header.version, expected: HEADER_VERSION });
        }
        if self.type_hash != 0 && header.type_hash != 0 && header.type_hash != self.type_hash {
            return Err(Refused::TypeHash { found: header.type_hash, expected: self.type_hash });
        }
        let available_bytes = left.min(u64::from(header.room_bytes));
        let claimed_bytes = u64::from(header.cdr_bytes);
        if claimed_bytes > available_bytes {
            return Err(Refused::Length { claimed_bytes, available_bytes });
        }
        self.check_order(taken.end, header.sequence)?;
        Ok(HostSample::new(message, &header, cdr.as_ptr()))
    }

    /// Refuses a sample that is not newer than the last sample from the same end. This is necessary
    /// because a queue whose positions have been overwritten may return the same samples again and
    /// again.
    fn check_order(&mut self, end: u32, sequence: u64) -> Result<(), Refused> {
        let (origin, last) = self.received;
        if origin == end && sequence <= last {
            return Err(Refused::Repeated { found: sequence, last });
        }
        self.received = (end, sequence);
        Ok(())
    }

    /// The counters since the connection was opened.
    #[must_use]
    pub fn counts(&self) -> LinkCounts {
        LinkCounts {
            failed_connections: self.port.failed_connections.load(Ordering::Relaxed),
            ..self.counts
        }
    }

    /// The number of messages that are known to have been dropped from the full queue. It becomes
    /// known only when a later message is taken that messages have been dropped.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.counts.lost
    }

    /// Whether the publisher still has its shared memory. A killed publisher still has it until a
    /// process of this user calls [`HostNode::clean_up`]. Even after that, messages in the queue
    /// can be taken. The check looks for one small file.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        let mut connected = false;
        self.port.service.dynamic_config().list_publishers(|publisher| {
            // The list of publishers is not enough: if a process is killed while it removes a
            // killed publisher, iceoryx2 never removes that publisher from the list.
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

/// Opens the service of a publisher, if it has room for one more subscription.
fn open_service(node: &HostNode, lock: &SpaceLock, id: u64) -> Result<Service, OpenError> {
    storage::forget_failure();
    let opened = service::builder(node.iceoryx(), id).open();
    let service = opened.map_err(|cause| open_error(id, cause))?;
    if service.dynamic_config().number_of_publishers() == 0 {
        return Err(OpenError::NotYet { id });
    }
    let max_subscriptions = service.static_config().max_subscribers();
    let has_room = || service.dynamic_config().number_of_subscribers() < max_subscriptions;
    if !has_room() && has_place_of_dead(&service) {
        node.clean_up_locked(lock); // killed processes keep their slots until the clean-up
    }
    if has_room() { Ok(service) } else { Err(OpenError::TooMany { id, max_subscriptions }) }
}

/// Whether a process that has ended still has a slot at the publisher. This check avoids
/// unnecessary clean-ups: a clean-up checks every process of this user. Without this check, each
/// subscription without a slot would start a clean-up, and there may be hundreds of such
/// subscriptions.
fn has_place_of_dead(service: &Service) -> bool {
    let mut nodes = BTreeSet::new();
    service.dynamic_config().list_subscribers(|subscription| {
        nodes.insert(subscription.node_id);
        CallbackProgression::Continue
    });
    nodes.iter().any(|node| {
        let pid = node.pid::<Ipc>().map(|pid| pid.value().cast_unsigned());
        // If the process id is unknown, as for another container, the clean-up decides.
        !pid.is_ok_and(|pid| ProcessHandle::open(pid).is_ok_and(|process| process.is_alive()))
    })
}

fn open_error(id: u64, cause: PublishSubscribeOpenError) -> OpenError {
    use PublishSubscribeOpenError as Cause;
    match cause {
        // The service does not exist yet, has been removed, or is incomplete because a process was
        // killed while it made the service. In the last case, the clean-up will remove it.
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

/// Returns how many numbers are between `last` and `next`. Returns 0 for the first sample, for
/// which `last` is 0.
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
