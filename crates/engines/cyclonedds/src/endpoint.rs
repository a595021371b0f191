//! A writer and a reader of the engine with their topics, listeners and statuses. Publishers,
//! subscriptions, services and clients are made of these.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use feros_cyclonedds_sys as sys;
use feros_dds::graph::IncompatibleType;
use feros_dds::library::{
    self, Creation, NotAcknowledged, Notifications, OnSample, RelatedIdentity,
};
use feros_dds::names::EndpointNames;
use feros_dds::status::{ReaderStatus, WriterStatus};
use feros_engine::dds::user_data::EndpointData;
use feros_engine::{
    CreateEndpointError, FailureCounter, FillAborted, Gid, Match, Notify, PublishError,
    PublisherEvent, Stamp, SubscriptionEvent, TakeError,
};
use feros_sync::Mutex;

use crate::dds::{Code, Entity, Listener, MatchedEndpoint, check, matched_handles};
use crate::matches::{MatchCache, as_match, with_data};
use crate::participant::Participant;
use crate::qos::Qos;
use crate::reception;
use crate::sample::{SampleRef, Taken};
use crate::topic::{Topic, failed};

/// How long a write waits for room in a reader of this process. The intra-process transport waits
/// for the same time.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The interval between checks for room.
const ROOM_INTERVAL: Duration = Duration::from_millis(1);

/// The counters of an endpoint's listener, and the notifications that it calls.
pub(crate) struct ListenerState<S> {
    status: Mutex<S>,
    /// The number of endpoints that match now.
    matched: AtomicUsize,
    /// This is incremented with each change of the matches, so that values that were derived from
    /// older matches are recognized as outdated.
    match_generation: AtomicU64,
    on_data: Option<Notify>,
    on_sample: Option<OnSample<Taken>>,
    on_event: Option<Notify>,
    /// This function is called on each change of the matches, in addition to `on_event`.
    on_match: Option<Notify>,
    /// The endpoint for trace points. It is set only for subscriptions.
    traced: OnceLock<feros_trace::Endpoint>,
}

impl<S: Default> ListenerState<S> {
    fn new(notifications: Notifications<Taken>) -> Arc<Self> {
        Arc::new(Self {
            status: Mutex::default(),
            matched: AtomicUsize::new(0),
            match_generation: AtomicU64::new(0),
            on_data: notifications.on_data,
            on_sample: notifications.on_sample,
            on_event: notifications.on_event,
            on_match: notifications.on_match,
            traced: OnceLock::new(),
        })
    }

    /// Changes the status, releases the lock, and then calls the notification.
    fn change(&self, change: impl FnOnce(&mut S)) {
        change(&mut self.status.lock());
        wake(self.on_event.as_ref());
    }

    fn matches_changed(&self, current: u32, change: impl FnOnce(&mut S)) {
        self.matched.store(current as usize, Ordering::Release);
        self.match_generation.fetch_add(1, Ordering::Release);
        self.change(change);
        wake(self.on_match.as_ref());
    }
}

fn wake(notify: Option<&Notify>) {
    if let Some(notify) = notify {
        notify();
    }
}

/// Returns the `ListenerState` that the listener was created with.
///
/// # Safety
/// `arg` must be a pointer from `Arc::as_ptr` of a `ListenerState<S>` that exists during the call.
/// This is true because the endpoint owns the state and drops its entity first, which waits for
/// running listeners.
unsafe fn listener_state<'a, S>(arg: *mut c_void) -> &'a ListenerState<S> {
    // SAFETY: the caller guarantees this.
    unsafe { &*arg.cast::<ListenerState<S>>() }
}

/// A writer of the engine.
pub(crate) struct Writer {
    // The entity is the first field, so it is dropped first. Dropping it waits for its listeners,
    // which use `listener_state`.
    entity: Entity,
    listener_state: Arc<ListenerState<WriterStatus>>,
    topic: Arc<Topic>,
    gid: Gid,
    names: EndpointNames,
    matches: MatchCache,
    /// The number of the next sample. This lock is held while a sample is written. The engine also
    /// writes under a lock.
    next_sequence_number: Mutex<i64>,
    /// The number of messages that were published without the engine.
    skipped: AtomicU64,
    _participant: Arc<Participant>,
}

impl Writer {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: Creation<'_, Taken>,
    ) -> Result<Self, CreateEndpointError> {
        let Creation { names, qos, data, notifications, .. } = creation;
        let qos = Qos::writer(qos, &user_data(data));
        let topic = participant.topic_of_writer(&names)?;
        let listener_state = ListenerState::<WriterStatus>::new(notifications);
        let listener = writer_listener(&listener_state);
        // SAFETY: the participant, the topic, the QoS and the listener are alive, and the argument
        // of the listener exists longer than the entity.
        let writer = unsafe {
            sys::dds_create_writer(
                participant.publisher.handle(),
                topic.entity.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        };
        let entity = Entity::new(writer).map_err(failed(&names, "creating the writer"))?;
        let gid = entity.gid().map_err(failed(&names, "reading the writer's GUID"))?;
        Ok(Self {
            entity,
            listener_state,
            topic,
            gid,
            names,
            matches: MatchCache::default(),
            next_sequence_number: Mutex::new(1),
            skipped: AtomicU64::new(0),
            _participant: participant.clone(),
        })
    }

    /// Returns the results of `read` for all subscriptions that match now.
    fn read_matches<T>(&self, read: impl Fn(&MatchedEndpoint) -> T) -> Vec<T> {
        matched_handles(&self.entity, sys::dds_get_matched_subscriptions)
            .into_iter()
            .filter_map(|handle| MatchedEndpoint::subscription(&self.entity, handle))
            .map(|endpoint| read(&endpoint))
            .collect()
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

/// Implements the methods that writers and readers have in common.
macro_rules! endpoint_members {
    () => {
        const KNOWS_WHO_READ_ANNOUNCEMENTS: bool = true;

        fn gid(&self) -> Gid {
            self.gid
        }

        fn names(&self) -> &EndpointNames {
            &self.names
        }

        fn matched_count(&self) -> usize {
            self.listener_state.matched.load(Ordering::Acquire)
        }

        fn match_generation(&self) -> u64 {
            self.listener_state.match_generation.load(Ordering::Acquire)
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
            self.matches
                .get(&self.listener_state.match_generation, || self.read_matches(with_data))
        }

        fn data_of(&self, other: Gid) -> Option<EndpointData> {
            let found = self.read_matches(|endpoint| {
                (endpoint.gid() == other).then(|| with_data(endpoint).1)
            });
            found.into_iter().flatten().next()
        }

        fn set_data(&self, data: &EndpointData) -> Result<(), String> {
            self.entity.set_user_data(&data.encode()).map_err(|code| code.to_string())
        }

        /// Also returns true for an endpoint of the same process, because such an endpoint needs no
        /// announcement over the network.
        fn is_announced_to(&self, other: Gid, patience: Duration) -> bool {
            // SAFETY: the entity is alive, and the engine only compares the GUID.
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
            // SAFETY: the entity is alive, and the engine only compares the GUID.
            let code = unsafe {
                sys::feros_forget_participant_of(self.entity.handle(), &raw const other.0)
            };
            if let Err(code) = check(code) {
                tracing::debug!(endpoint = %other, %code, "an ended process was forgotten before");
            }
        }

        fn type_watcher(&self) -> Weak<dyn IncompatibleType> {
            Arc::downgrade(&self.listener_state) as Weak<dyn IncompatibleType>
        }
    };
}

impl library::Endpoint for Writer {
    endpoint_members!();
}

impl library::Buffer for SampleRef {
    fn bytes_mut(&mut self) -> &mut [u8] {
        SampleRef::bytes_mut(self).expect("a sample that was not written has one reference")
    }
}

impl library::Writer for Writer {
    type Buffer = SampleRef;

    fn fill(
        &self,
        size_bytes: usize,
        offset: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), FillAborted>,
    ) -> Result<SampleRef, PublishError> {
        let largest_bytes = sys::FEROS_SAMPLE_MAX_BYTES - offset;
        if !(sys::FEROS_SAMPLE_MIN_BYTES..=largest_bytes).contains(&size_bytes) {
            return Err(PublishError::Size {
                topic: self.names.ros.clone(),
                size_bytes,
                largest_bytes,
            });
        }
        // SAFETY: the sertype exists while the topic exists. The result is null or a reference that
        // we own.
        let sample = unsafe {
            SampleRef::from_owned(sys::feros_sample_new(self.topic.sertype, size_bytes + offset))
        };
        let mut sample = sample.ok_or_else(|| PublishError::OutOfMemory {
            topic: self.names.ros.clone(),
            size_bytes,
        })?;
        let bytes = sample.bytes_mut().expect("a new sample has one reference");
        fill(&mut bytes[offset..]).map_err(|FillAborted| PublishError::FillAborted)?;
        Ok(sample)
    }

    fn write(
        &self,
        mut sample: SampleRef,
        stamp: Stamp,
        related: Option<RelatedIdentity>,
    ) -> Result<i64, PublishError> {
        let mut next = self.next_sequence_number.lock();
        let number = *next;
        let skipped = self.skipped.load(Ordering::Relaxed);
        let own = || (self.gid.0, number.saturating_add_unsigned(skipped));
        if let Some((guid, sequence_number)) = related.or_else(|| (skipped > 0).then(own)) {
            sample.set_related(&sys::feros_identity { guid, sequence_number });
        }
        // SAFETY: the writer is alive. The call consumes the reference.
        let code = unsafe {
            let gid = &raw const self.gid.0;
            sys::feros_write(self.entity.handle(), sample.into_raw(), gid, number, stamp.0)
        };
        check(code).map_err(|code| PublishError::Engine {
            topic: self.names.ros.clone(),
            code: code.to_string(),
        })?;
        *next += 1;
        Ok(number)
    }

    fn skip(&self, messages: u64) {
        self.skipped.fetch_add(messages, Ordering::Relaxed);
    }

    /// While the engine writes, it delivers to readers of this process without checking whether
    /// they have room. Therefore this function waits for room first.
    fn wait_for_local_room(&self) -> Result<(), PublishError> {
        let started = Instant::now();
        // SAFETY: the writer is alive.
        while unsafe { sys::feros_local_readers_have_room(self.entity.handle()) } == 0 {
            if started.elapsed() >= MAX_WAIT {
                let topic = self.names.ros.clone();
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

    fn take_event(&self) -> Option<PublisherEvent> {
        self.listener_state.status.lock().take()
    }
}

/// A reader of the engine.
pub(crate) struct Reader {
    // The entity is the first field, so it is dropped first, as in `Writer`.
    entity: Entity,
    listener_state: Arc<ListenerState<ReaderStatus>>,
    topic: Topic,
    gid: Gid,
    names: EndpointNames,
    matches: MatchCache,
    _participant: Arc<Participant>,
}

impl Reader {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: Creation<'_, Taken>,
    ) -> Result<Self, CreateEndpointError> {
        let Creation { names, qos, data, ignores_local, notifications } = creation;
        let qos = Qos::reader(qos, &user_data(data), ignores_local);
        let topic = participant.create_topic(&names)?;
        let listener_state = ListenerState::<ReaderStatus>::new(notifications);
        let listener = reader_listener(&listener_state);
        // SAFETY: the participant, the topic, the QoS and the listener are alive, and the argument
        // of the listener exists longer than the entity.
        let reader = unsafe {
            sys::dds_create_reader(
                participant.subscriber.handle(),
                topic.entity.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        };
        let entity = Entity::new(reader).map_err(failed(&names, "creating the reader"))?;
        let gid = entity.gid().map_err(failed(&names, "reading the reader's GUID"))?;
        let (matches, _participant) = (MatchCache::default(), participant.clone());
        Ok(Self { entity, listener_state, topic, gid, names, matches, _participant })
    }

    /// Returns the results of `read` for all publications that match now.
    fn read_matches<T>(&self, read: impl Fn(&MatchedEndpoint) -> T) -> Vec<T> {
        matched_handles(&self.entity, sys::dds_get_matched_publications)
            .into_iter()
            .filter_map(|handle| MatchedEndpoint::publication(&self.entity, handle))
            .map(|endpoint| read(&endpoint))
            .collect()
    }
}

impl library::Endpoint for Reader {
    endpoint_members!();
}

impl library::Reader for Reader {
    type Taken = Taken;

    fn take(&self) -> Result<Option<Taken>, TakeError> {
        take(self.entity.handle()).map_err(|code| TakeError::Engine {
            topic: self.names.ros.clone(),
            code: code.to_string(),
        })
    }

    fn count_lost(&self, messages: u64) {
        self.listener_state.change(|status| status.lost.add(messages));
    }

    fn trace_as(&self, endpoint: feros_trace::Endpoint) {
        self.listener_state.traced.get_or_init(|| endpoint);
    }

    fn take_event(&self) -> Option<SubscriptionEvent> {
        self.listener_state.status.lock().take()
    }

    fn refused_samples(&self) -> u64 {
        // SAFETY: the sertype exists while the topic exists.
        unsafe { sys::feros_refused_samples(self.topic.sertype) }
    }
}

/// Takes the oldest sample of a reader. The reader must be alive.
pub(crate) fn take(reader: sys::dds_entity_t) -> Result<Option<Taken>, Code> {
    let (mut sample, mut publication) = (std::ptr::null_mut(), 0);
    // SAFETY: the out parameters are valid. If the result is 1, this function owns the returned
    // reference.
    let sample = unsafe {
        check(sys::feros_take(reader, &raw mut sample, &raw mut publication))?;
        SampleRef::from_owned(sample)
    };
    Ok(sample.map(Taken::new))
}

/// Passes each sample that can be taken to `on_sample`.
fn hand_over(reader: sys::dds_entity_t, on_sample: &OnSample<Taken>) {
    loop {
        match take(reader) {
            Ok(Some(taken)) => on_sample(taken),
            Ok(None) => return,
            Err(code) => {
                static UNTAKEN: FailureCounter = FailureCounter::new();
                if let Some(so_far) = UNTAKEN.so_far() {
                    tracing::error!("received samples cannot be taken: {code}{so_far}");
                }
                return;
            }
        }
    }
}

impl IncompatibleType for ListenerState<WriterStatus> {
    fn incompatible_type(&self) {
        self.change(|all| all.incompatible_type.total += 1);
    }
}

impl IncompatibleType for ListenerState<ReaderStatus> {
    fn incompatible_type(&self) {
        self.change(|all| all.incompatible_type.total += 1);
    }
}

fn writer_listener(watched_by: &Arc<ListenerState<WriterStatus>>) -> Listener {
    unsafe extern "C" fn matched(
        _: sys::dds_entity_t,
        status: sys::matched_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        let listener_state = unsafe { listener_state::<WriterStatus>(arg) };
        listener_state.matches_changed(status.current_count, |all| {
            all.matched.set(status.total_count, status.current_count)
        });
    }
    unsafe extern "C" fn incompatible(
        _: sys::dds_entity_t,
        status: sys::incompatible_qos_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        let listener_state = unsafe { listener_state::<WriterStatus>(arg) };
        listener_state
            .change(|all| all.incompatible_qos.set(status.total_count, status.last_policy_id));
    }
    unsafe extern "C" fn deadline(
        _: sys::dds_entity_t,
        status: sys::deadline_missed_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        unsafe { listener_state::<WriterStatus>(arg) }
            .change(|all| all.deadline_missed.total = status.total_count);
    }
    unsafe extern "C" fn liveliness(
        _: sys::dds_entity_t,
        status: sys::dds_liveliness_lost_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        unsafe { listener_state::<WriterStatus>(arg) }
            .change(|all| all.liveliness_lost.total = status.total_count);
    }
    let listener = Listener::new(Arc::as_ptr(watched_by).cast());
    // SAFETY: the listener is alive, and the functions expect the argument that it was created
    // with.
    unsafe {
        sys::dds_lset_publication_matched(listener.as_ptr(), Some(matched));
        sys::dds_lset_offered_incompatible_qos(listener.as_ptr(), Some(incompatible));
        sys::dds_lset_offered_deadline_missed(listener.as_ptr(), Some(deadline));
        sys::dds_lset_liveliness_lost(listener.as_ptr(), Some(liveliness));
    }
    listener
}

fn reader_listener(watched_by: &Arc<ListenerState<ReaderStatus>>) -> Listener {
    unsafe extern "C" fn data(reader: sys::dds_entity_t, arg: *mut c_void) {
        // SAFETY: the listener was created with this argument.
        let listener_state = unsafe { listener_state::<ReaderStatus>(arg) };
        if feros_trace::is_on()
            && let Some(subscription) = listener_state.traced.get()
        {
            reception::trace_latest(subscription);
        }
        if let Some(on_sample) = &listener_state.on_sample {
            hand_over(reader, on_sample);
        }
        wake(listener_state.on_data.as_ref());
    }
    unsafe extern "C" fn matched(
        _: sys::dds_entity_t,
        status: sys::matched_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        let listener_state = unsafe { listener_state::<ReaderStatus>(arg) };
        listener_state.matches_changed(status.current_count, |all| {
            all.matched.set(status.total_count, status.current_count)
        });
    }
    unsafe extern "C" fn incompatible(
        _: sys::dds_entity_t,
        status: sys::incompatible_qos_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        let listener_state = unsafe { listener_state::<ReaderStatus>(arg) };
        listener_state
            .change(|all| all.incompatible_qos.set(status.total_count, status.last_policy_id));
    }
    unsafe extern "C" fn deadline(
        _: sys::dds_entity_t,
        status: sys::deadline_missed_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        unsafe { listener_state::<ReaderStatus>(arg) }
            .change(|all| all.deadline_missed.total = status.total_count);
    }
    unsafe extern "C" fn liveliness(
        _: sys::dds_entity_t,
        status: sys::dds_liveliness_changed_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was created with this argument.
        let listener_state = unsafe { listener_state::<ReaderStatus>(arg) };
        listener_state.change(|all| all.liveliness.set(status.alive_count, status.not_alive_count));
    }
    let listener = Listener::new(Arc::as_ptr(watched_by).cast());
    // SAFETY: the listener is alive, and the functions expect the argument that it was created
    // with.
    unsafe {
        sys::dds_lset_data_available(listener.as_ptr(), Some(data));
        sys::dds_lset_subscription_matched(listener.as_ptr(), Some(matched));
        sys::dds_lset_requested_incompatible_qos(listener.as_ptr(), Some(incompatible));
        sys::dds_lset_requested_deadline_missed(listener.as_ptr(), Some(deadline));
        sys::dds_lset_liveliness_changed(listener.as_ptr(), Some(liveliness));
    }
    listener
}
