//! A writer and a reader of the engine with their topics and listeners. Publishers, subscriptions,
//! services and clients are made of these.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use feros_cyclonedds_sys as sys;
use feros_dds::library::{self, Creation, EndpointBase, NotAcknowledged, RelatedIdentity};
use feros_dds::names::EndpointNames;
use feros_dds::status::{ReaderStatus, Status, WriterStatus};
use feros_engine::dds::user_data::EndpointData;
use feros_engine::{Created, Gid, Match, PublishError, Stamp, TakeError};
use feros_sync::Mutex;

use crate::dds::{Entity, ListMatched, MatchedEndpoint, ReadMatched, check, matched_handles};
use crate::listener::{self, ListenerState};
use crate::matches::{MatchCache, as_match, with_data};
use crate::participant::Participant;
use crate::qos::Qos;
use crate::sample::{SampleRef, Taken, take};
use crate::topic::{Topic, failed};

/// How long a write waits for room in a reader of this process. The intra-process transport waits
/// for the same time.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The interval between checks for room.
const ROOM_INTERVAL: Duration = Duration::from_millis(1);

/// The differences between writers and readers, and the parts that only one of them has.
pub(crate) trait Side: Send + Sync + 'static {
    /// The counters for its events.
    type Status: Status;

    /// Creating such an endpoint, as errors name it.
    const CREATING: &'static str;
    /// Lists the endpoints that match.
    const LIST_MATCHED: ListMatched;
    /// Reads the data of one of them.
    const READ_MATCHED: ReadMatched;
}

/// The part that only a writer has.
pub(crate) struct Writing {
    /// The number of the next sample. This lock is held while a sample is written; the engine, too,
    /// writes under a lock.
    next_sequence_number: Mutex<i64>,
    /// The number of messages that were published without the engine.
    skipped: AtomicU64,
}

impl Side for Writing {
    type Status = WriterStatus;

    const CREATING: &'static str = "creating the writer";
    const LIST_MATCHED: ListMatched = sys::dds_get_matched_subscriptions;
    const READ_MATCHED: ReadMatched = sys::dds_get_matched_subscription_data;
}

/// The part that only a reader has.
pub(crate) struct Reading;

impl Side for Reading {
    type Status = ReaderStatus;

    const CREATING: &'static str = "creating the reader";
    const LIST_MATCHED: ListMatched = sys::dds_get_matched_publications;
    const READ_MATCHED: ReadMatched = sys::dds_get_matched_publication_data;
}

/// A writer of the engine.
pub(crate) type Writer = Endpoint<Writing>;
/// A reader of the engine.
pub(crate) type Reader = Endpoint<Reading>;

/// A writer or reader of the engine.
pub(crate) struct Endpoint<S: Side> {
    // Dropping the endpoint first deletes the entity, which waits for its listeners, because they
    // use the listener's state.
    entity: Entity,
    base: EndpointBase<S::Status, Taken>,
    topic: Arc<Topic>,
    matches: MatchCache,
    own: S,
    participant: Arc<Participant>,
}

impl<S: Side> Endpoint<S> {
    /// Takes ownership of the entity that a creating function returned.
    fn of_created(
        created: sys::dds_entity_t,
        (participant, topic, names): (&Arc<Participant>, Arc<Topic>, EndpointNames),
        listener: Arc<ListenerState<S::Status>>,
        own: S,
    ) -> Created<Self> {
        let entity = Entity::new(created).map_err(failed(&names, S::CREATING))?;
        let gid = entity.gid().map_err(failed(&names, "reading the endpoint's GUID"))?;
        participant.endpoint_created();
        Ok(Self {
            entity,
            base: EndpointBase { gid, names, listener },
            topic,
            matches: MatchCache::default(),
            own,
            participant: participant.clone(),
        })
    }

    /// Returns the result of `read` for each endpoint that matches now.
    fn read_matches<T>(&self, read: impl Fn(&MatchedEndpoint) -> T) -> Vec<T> {
        matched_handles(&self.entity, S::LIST_MATCHED)
            .into_iter()
            .filter_map(|handle| MatchedEndpoint::read(&self.entity, handle, S::READ_MATCHED))
            .map(|endpoint| read(&endpoint))
            .collect()
    }
}

impl<S: Side> Drop for Endpoint<S> {
    fn drop(&mut self) {
        self.participant.delete_endpoint(&self.entity);
    }
}

/// Returns the text of an endpoint's USER_DATA.
fn user_data(data: Option<&EndpointData>) -> String {
    data.map(EndpointData::encode).unwrap_or_default()
}

/// Converts a timeout to nanoseconds, limited to the largest value that the engine accepts.
fn nanos(timeout: Duration) -> i64 {
    i64::try_from(timeout.as_nanos()).unwrap_or(sys::DDS_INFINITY)
}

impl<S: Side> library::Endpoint for Endpoint<S> {
    type Status = S::Status;
    type Taken = Taken;

    const KNOWS_WHO_READ_ANNOUNCEMENTS: bool = true;

    fn base(&self) -> &EndpointBase<S::Status, Taken> {
        &self.base
    }

    fn matches(&self) -> Vec<Match> {
        self.read_matches(as_match)
    }

    fn matched_gids(&self) -> Vec<Gid> {
        self.matched_data().iter().map(|(gid, _)| *gid).collect()
    }

    fn matches_any(&self, is_wanted: impl Fn(Gid) -> bool) -> bool {
        self.matched_data().iter().any(|(gid, _)| is_wanted(*gid))
    }

    fn matched_data(&self) -> Arc<[(Gid, EndpointData)]> {
        self.matches.get(self.match_generation(), || self.read_matches(with_data))
    }

    fn data_of(&self, other: Gid) -> Option<EndpointData> {
        let found =
            self.read_matches(|endpoint| (endpoint.gid() == other).then(|| with_data(endpoint).1));
        found.into_iter().flatten().next()
    }

    fn set_data(&self, data: &EndpointData) -> Result<(), String> {
        self.entity.set_user_data(&data.encode()).map_err(|code| code.to_string())
    }

    /// Returns true for an endpoint of the same process, too, since it needs no announcement over
    /// the network.
    fn is_announced_to(&self, other: Gid, patience: Duration) -> bool {
        let own = self.participant.gid;
        let neighbours = self.participant.domain.neighbours.as_ref();
        if let Some(is_announced) =
            neighbours.and_then(|neighbours| neighbours.is_announced_to(own, other, patience))
        {
            return is_announced;
        }
        // SAFETY: the entity is alive; the engine only compares the GUID.
        let code = unsafe {
            sys::feros_wait_until_announced(
                self.entity.handle(),
                &raw const other.0,
                nanos(patience),
            )
        };
        code != sys::DDS_RETCODE_TIMEOUT
    }

    fn forget_participant_of(&self, other: Gid) {
        // SAFETY: the entity is alive; the engine only compares the GUID.
        let code =
            unsafe { sys::feros_forget_participant_of(self.entity.handle(), &raw const other.0) };
        if let Err(code) = check(code) {
            tracing::debug!(endpoint = %other, %code, "the participant of an ended process was \
                                                       already forgotten");
        }
    }
}

impl Writer {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: Creation<'_, Taken>,
    ) -> Created<Self> {
        let Creation { names, qos, data, notifications, .. } = creation;
        let qos = Qos::writer(qos, &user_data(data));
        let topic = participant.topic_of_writer(&names)?;
        let state = ListenerState::new(notifications);
        let listener = listener::of_writer(&state);
        // SAFETY: the participant, the topic, the QoS and the listener are alive; the listener's
        // argument outlives the entity.
        let writer = unsafe {
            sys::dds_create_writer(
                participant.publisher.handle(),
                topic.entity.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        };
        let own = Writing { next_sequence_number: Mutex::new(1), skipped: AtomicU64::new(0) };
        Self::of_created(writer, (participant, topic, names), state, own)
    }
}

impl library::Buffer for SampleRef {
    fn bytes_mut(&mut self) -> &mut [u8] {
        SampleRef::bytes_mut(self).expect("a sample that was not written has one reference")
    }
}

impl library::Writer for Writer {
    type Buffer = SampleRef;

    const SIZES_BYTES: (usize, usize) = (sys::FEROS_SAMPLE_MIN_BYTES, sys::FEROS_SAMPLE_MAX_BYTES);

    fn allocate(&self, size_bytes: usize) -> Option<SampleRef> {
        // SAFETY: the sertype lives as long as the topic; the result is null or a reference that we
        // own.
        unsafe { SampleRef::from_owned(sys::feros_sample_new(self.topic.sertype, size_bytes)) }
    }

    fn write(
        &self,
        mut sample: SampleRef,
        stamp: Stamp,
        related: Option<RelatedIdentity>,
    ) -> Result<i64, PublishError> {
        let mut next = self.own.next_sequence_number.lock();
        let number = *next;
        let skipped = self.own.skipped.load(Ordering::Relaxed);
        let own = || (self.base.gid.0, number.saturating_add_unsigned(skipped));
        if let Some((guid, sequence_number)) = related.or_else(|| (skipped > 0).then(own)) {
            sample.set_related(&sys::feros_identity { guid, sequence_number });
        }
        // SAFETY: the writer is alive. The call consumes the reference.
        let code = unsafe {
            let gid = &raw const self.base.gid.0;
            sys::feros_write(self.entity.handle(), sample.into_raw(), gid, number, stamp.0)
        };
        check(code).map_err(|code| PublishError::Engine {
            topic: self.base.names.ros.clone(),
            code: code.to_string(),
        })?;
        *next += 1;
        Ok(number)
    }

    fn skip(&self, messages: u64) {
        self.own.skipped.fetch_add(messages, Ordering::Relaxed);
    }

    /// While the engine writes, it delivers to readers of this process without checking whether
    /// they have room. Therefore this function waits for room first.
    fn wait_for_local_room(&self) -> Result<(), PublishError> {
        let started = Instant::now();
        // SAFETY: the writer is alive.
        while unsafe { sys::feros_local_readers_have_room(self.entity.handle()) } == 0 {
            if started.elapsed() >= MAX_WAIT {
                let topic = self.base.names.ros.clone();
                return Err(PublishError::Timeout { topic, waited: MAX_WAIT });
            }
            std::thread::sleep(ROOM_INTERVAL);
        }
        Ok(())
    }

    fn end_waiting_writes(&self) {
        self.entity.delete();
    }

    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<(), NotAcknowledged> {
        // SAFETY: the writer is alive.
        match unsafe { sys::dds_wait_for_acks(self.entity.handle(), nanos(timeout)) } {
            sys::DDS_RETCODE_TIMEOUT => Err(NotAcknowledged::TimedOut),
            code => match check(code) {
                Ok(_) => Ok(()),
                Err(code) => Err(NotAcknowledged::Failed(code.to_string())),
            },
        }
    }

    fn is_acknowledged_by(&self, reader: Gid, timeout: Duration) -> bool {
        // SAFETY: the writer is alive, and the engine only compares the GUID.
        let code = unsafe {
            sys::feros_wait_for_acks_of(self.entity.handle(), &raw const reader.0, nanos(timeout))
        };
        check(code).is_ok()
    }

    fn assert_liveliness(&self) -> Result<(), String> {
        // SAFETY: the writer is alive.
        let code = unsafe { sys::dds_assert_liveliness(self.entity.handle()) };
        check(code).map(|_| ()).map_err(|code| code.to_string())
    }
}

impl Reader {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: Creation<'_, Taken>,
    ) -> Created<Self> {
        let Creation { names, qos, data, ignores_local, notifications } = creation;
        let qos = Qos::reader(qos, &user_data(data), ignores_local);
        let topic = Arc::new(participant.create_topic(&names)?);
        let state = ListenerState::new(notifications);
        let listener = listener::of_reader(&state);
        // SAFETY: the participant, the topic, the QoS and the listener are alive; the listener's
        // argument outlives the entity.
        let reader = unsafe {
            sys::dds_create_reader(
                participant.subscriber.handle(),
                topic.entity.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        };
        Self::of_created(reader, (participant, topic, names), state, Reading)
    }
}

impl library::Reader for Reader {
    fn take(&self) -> Result<Option<Taken>, TakeError> {
        take(self.entity.handle()).map_err(|code| TakeError::Engine {
            topic: self.base.names.ros.clone(),
            code: code.to_string(),
        })
    }

    fn trace_as(&self, endpoint: feros_trace::Endpoint) {
        self.base.listener.traced.get_or_init(|| endpoint);
    }

    fn refused_samples(&self) -> u64 {
        // SAFETY: the sertype exists while the topic exists.
        unsafe { sys::feros_refused_samples(self.topic.sertype) }
    }
}
