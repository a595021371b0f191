//! A writer and a reader of the engine with their topics, listeners and statuses: what publishers,
//! subscriptions, services and clients are made of.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use feros_cyclonedds_sys as sys;
use feros_rmw::{
    CreateEndpointError, FailureCounter, FillAborted, Gid, Notify, PublishError, Stamp, TakeError,
};

use crate::dds::{Code, Entity, Listener, MatchedEndpoint, check, matched_handles};
use crate::participant::Participant;
use crate::qos::Qos;
use crate::reception;
use crate::sample::SampleRef;
use crate::topic::{EndpointNames, Topic};
use feros_rmw_dds::graph::IncompatibleType;
use feros_rmw_dds::status::{ReaderStatus, WriterStatus};
use feros_sync::Mutex;

/// How long a write waits for room in a reader of this process, as on the intra-process transport
/// ...
const MAX_WAIT: Duration = Duration::from_secs(1);
/// ... and how often it looks.
const ROOM_INTERVAL: Duration = Duration::from_millis(1);

/// What the listener of an endpoint counts, and the notifications that the listener sends.
pub(crate) struct ListenerState<S> {
    pub(crate) status: Mutex<S>,
    /// Endpoints that match now.
    pub(crate) matched: AtomicUsize,
    /// Counts changes of the matches; what was derived from older matches is stale.
    pub(crate) match_generation: AtomicU64,
    on_data: Option<Notify>,
    on_sample: Option<OnSample>,
    on_event: Option<Notify>,
    /// Called on each change of the matches, besides `on_event`.
    on_match: Option<Notify>,
    /// For trace points; only subscriptions have them.
    pub(crate) traced: OnceLock<feros_trace::Endpoint>,
}

/// What takes the samples of a reader, in the engine's thread. It owns no endpoint.
pub(crate) type OnSample = Arc<dyn Fn(SampleRef) + Send + Sync>;

/// The notifications that an endpoint sends.
#[derive(Clone, Default)]
pub(crate) struct Notifications {
    pub(crate) on_data: Option<Notify>,
    /// Is given each sample as it comes; nothing is left for [`Reader::take`] then.
    pub(crate) on_sample: Option<OnSample>,
    pub(crate) on_event: Option<Notify>,
    pub(crate) on_match: Option<Notify>,
}

impl<S: Default> ListenerState<S> {
    fn new(notifications: Notifications) -> Arc<Self> {
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

    /// Changes the status, then notifies without the lock.
    pub(crate) fn change(&self, change: impl FnOnce(&mut S)) {
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

/// The `ListenerState` that a listener was created with.
///
/// # Safety
/// `arg` comes from `Arc::as_ptr` of a `ListenerState<S>` that lives during the call: the endpoint
/// owns it and drops its entity, which waits for running listeners, first.
unsafe fn listener_state<'a, S>(arg: *mut c_void) -> &'a ListenerState<S> {
    // SAFETY: by contract.
    unsafe { &*arg.cast::<ListenerState<S>>() }
}

/// A writer of the engine.
pub(crate) struct Writer {
    // Declared in the order of dropping: the entity's end waits for its listeners, which use
    // `listener_state`.
    pub(crate) entity: Entity,
    pub(crate) listener_state: Arc<ListenerState<WriterStatus>>,
    topic: Arc<Topic>,
    pub(crate) gid: Gid,
    pub(crate) names: EndpointNames,
    /// The number of the next sample; writing happens under this lock, as it does under the
    /// engine's own.
    next_sequence_number: Mutex<i64>,
    /// Messages that were published without the engine.
    pub(crate) skipped: AtomicU64,
    _participant: Arc<Participant>,
}

impl Writer {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        names: EndpointNames,
        qos: &Qos,
        notifications: Notifications,
    ) -> Result<Self, CreateEndpointError> {
        let topic = participant.topic_of_writer(&names)?;
        let listener_state = ListenerState::<WriterStatus>::new(notifications);
        let listener = writer_listener(&listener_state);
        // SAFETY: participant, topic, QoS and listener are alive; what the listener points to
        // outlives the entity.
        let writer = unsafe {
            sys::dds_create_writer(
                participant.publisher.handle(),
                topic.entity.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        };
        let entity = Entity::new(writer).map_err(names.failed("creating the writer"))?;
        let gid = entity.gid().map_err(names.failed("reading the writer's GUID"))?;
        let next_sequence_number = Mutex::new(1);
        let skipped = AtomicU64::new(0);
        let _participant = participant.clone();
        Ok(Self {
            entity,
            listener_state,
            topic,
            gid,
            names,
            next_sequence_number,
            skipped,
            _participant,
        })
    }

    /// Memory for a sample of `size_bytes`, filled by `fill`, which sees the part from `offset` on.
    pub(crate) fn fill(
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
        // SAFETY: the sertype lives as long as the topic; the result is null or a reference of
        // ours.
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

    /// Writes a sample that `fill` made, with the time of its publication; returns its sequence
    /// number.
    ///
    /// Numbers of the engine have no gap for what was skipped: the sample then carries its
    /// publication number, as a related identity of its own writer.
    pub(crate) fn write(&self, mut sample: SampleRef, stamp: Stamp) -> Result<i64, PublishError> {
        let mut next = self.next_sequence_number.lock();
        let number = *next;
        let skipped = self.skipped.load(Ordering::Relaxed);
        if skipped > 0 {
            let sequence_number = number.saturating_add_unsigned(skipped);
            sample.set_related(&sys::feros_identity { guid: self.gid.0, sequence_number });
        }
        // SAFETY: the writer is alive; the call consumes the reference.
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

    /// Waits until the reliable readers of this process have room: the engine delivers to them
    /// while it writes, and asks none of them.
    pub(crate) fn wait_for_local_room(&self) -> Result<(), PublishError> {
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

    /// Waits until all reliable readers acknowledged all that was written.
    pub(crate) fn wait_for_acks(&self, timeout: Duration) -> Result<(), Code> {
        let nanos = i64::try_from(timeout.as_nanos()).unwrap_or(sys::DDS_INFINITY);
        // SAFETY: the writer is alive.
        check(unsafe { sys::dds_wait_for_acks(self.entity.handle(), nanos) }).map(|_| ())
    }

    /// Waits until this reader, if it is a reliable one that matches, acknowledged all that was
    /// written; zero looks once.
    pub(crate) fn wait_for_acks_of(&self, reader: Gid, timeout: Duration) -> Result<(), Code> {
        let nanos = i64::try_from(timeout.as_nanos()).unwrap_or(sys::DDS_INFINITY);
        // SAFETY: the writer is alive; the engine only compares the GUID.
        let code = unsafe {
            sys::feros_wait_for_acks_of(self.entity.handle(), &raw const reader.0, nanos)
        };
        check(code).map(|_| ())
    }

    /// Has the engine forget the participant of an endpoint, as if its lease had ended; one that
    /// the engine does not know stays unknown.
    pub(crate) fn forget_participant_of(&self, endpoint: Gid) {
        // SAFETY: the writer is alive; the engine only compares the GUID.
        let code = unsafe {
            sys::feros_forget_participant_of(self.entity.handle(), &raw const endpoint.0)
        };
        if let Err(code) = check(code) {
            tracing::debug!(%endpoint, %code, "an ended process was forgotten before");
        }
    }

    /// What `read` finds in each subscription that matches now.
    pub(crate) fn matched<T>(&self, read: impl Fn(&MatchedEndpoint) -> T) -> Vec<T> {
        matched_handles(&self.entity, sys::dds_get_matched_subscriptions)
            .into_iter()
            .filter_map(|handle| MatchedEndpoint::subscription(&self.entity, handle))
            .map(|endpoint| read(&endpoint))
            .collect()
    }
}

/// A reader of the engine.
pub(crate) struct Reader {
    // Declared in the order of dropping, as in `Writer`.
    pub(crate) entity: Entity,
    pub(crate) listener_state: Arc<ListenerState<ReaderStatus>>,
    topic: Topic,
    pub(crate) gid: Gid,
    pub(crate) names: EndpointNames,
    pub(crate) participant: Arc<Participant>,
}

impl Reader {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        names: EndpointNames,
        qos: &Qos,
        notifications: Notifications,
    ) -> Result<Self, CreateEndpointError> {
        let topic = participant.create_topic(&names)?;
        let listener_state = ListenerState::<ReaderStatus>::new(notifications);
        let listener = reader_listener(&listener_state);
        // SAFETY: participant, topic, QoS and listener are alive; what the listener points to
        // outlives the entity.
        let reader = unsafe {
            sys::dds_create_reader(
                participant.subscriber.handle(),
                topic.entity.handle(),
                qos.as_ptr(),
                listener.as_ptr(),
            )
        };
        let entity = Entity::new(reader).map_err(names.failed("creating the reader"))?;
        let gid = entity.gid().map_err(names.failed("reading the reader's GUID"))?;
        Ok(Self { entity, listener_state, topic, gid, names, participant: participant.clone() })
    }

    /// Takes the oldest sample and the handle of the publication that it came from.
    pub(crate) fn take(
        &self,
    ) -> Result<Option<(SampleRef, sys::dds_instance_handle_t)>, TakeError> {
        take(self.entity.handle()).map_err(|code| TakeError::Engine {
            topic: self.names.ros.clone(),
            code: code.to_string(),
        })
    }

    pub(crate) fn refused_samples(&self) -> u64 {
        // SAFETY: the sertype lives as long as the topic.
        unsafe { sys::feros_refused_samples(self.topic.sertype) }
    }

    /// What `read` finds in each publication that matches now.
    pub(crate) fn matched<T>(&self, read: impl Fn(&MatchedEndpoint) -> T) -> Vec<T> {
        matched_handles(&self.entity, sys::dds_get_matched_publications)
            .into_iter()
            .filter_map(|handle| MatchedEndpoint::publication(&self.entity, handle))
            .map(|endpoint| read(&endpoint))
            .collect()
    }
}

/// Waits until the participant of this endpoint, if it is in another process, acknowledged that the
/// reader or writer `entity` was announced; zero looks once.
pub(crate) fn wait_until_announced(
    entity: &Entity,
    endpoint: Gid,
    timeout: Duration,
) -> Result<(), Code> {
    let nanos = i64::try_from(timeout.as_nanos()).unwrap_or(sys::DDS_INFINITY);
    // SAFETY: the entity is alive; the engine only compares the GUID.
    let code =
        unsafe { sys::feros_wait_until_announced(entity.handle(), &raw const endpoint.0, nanos) };
    check(code).map(|_| ())
}

/// Takes the oldest sample of a reader, which is alive, and the handle of its publication.
fn take(
    reader: sys::dds_entity_t,
) -> Result<Option<(SampleRef, sys::dds_instance_handle_t)>, Code> {
    let (mut sample, mut publication) = (std::ptr::null_mut(), 0);
    // SAFETY: out parameters are valid; on 1 a reference is ours.
    let sample = unsafe {
        check(sys::feros_take(reader, &raw mut sample, &raw mut publication))?;
        SampleRef::from_owned(sample)
    };
    Ok(sample.map(|sample| (sample, publication)))
}

/// Gives each sample that is there to who takes them.
fn hand_over(reader: sys::dds_entity_t, on_sample: &OnSample) {
    loop {
        match take(reader) {
            Ok(Some((sample, _))) => on_sample(sample),
            Ok(None) => return,
            Err(code) => {
                static UNTAKEN: FailureCounter = FailureCounter::new();
                if let Some(so_far) = UNTAKEN.so_far() {
                    tracing::error!("what was received cannot be taken: {code}{so_far}");
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
        // SAFETY: the listener was made with this argument.
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
        // SAFETY: the listener was made with this argument.
        let listener_state = unsafe { listener_state::<WriterStatus>(arg) };
        listener_state
            .change(|all| all.incompatible_qos.set(status.total_count, status.last_policy_id));
    }
    unsafe extern "C" fn deadline(
        _: sys::dds_entity_t,
        status: sys::deadline_missed_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was made with this argument.
        unsafe { listener_state::<WriterStatus>(arg) }
            .change(|all| all.deadline_missed.total = status.total_count);
    }
    unsafe extern "C" fn liveliness(
        _: sys::dds_entity_t,
        status: sys::dds_liveliness_lost_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was made with this argument.
        unsafe { listener_state::<WriterStatus>(arg) }
            .change(|all| all.liveliness_lost.total = status.total_count);
    }
    let listener = Listener::new(Arc::as_ptr(watched_by).cast());
    // SAFETY: the listener is alive, and the functions expect the argument that it was made with.
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
        // SAFETY: the listener was made with this argument.
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
        // SAFETY: the listener was made with this argument.
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
        // SAFETY: the listener was made with this argument.
        let listener_state = unsafe { listener_state::<ReaderStatus>(arg) };
        listener_state
            .change(|all| all.incompatible_qos.set(status.total_count, status.last_policy_id));
    }
    unsafe extern "C" fn deadline(
        _: sys::dds_entity_t,
        status: sys::deadline_missed_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was made with this argument.
        unsafe { listener_state::<ReaderStatus>(arg) }
            .change(|all| all.deadline_missed.total = status.total_count);
    }
    unsafe extern "C" fn liveliness(
        _: sys::dds_entity_t,
        status: sys::dds_liveliness_changed_status_t,
        arg: *mut c_void,
    ) {
        // SAFETY: the listener was made with this argument.
        let listener_state = unsafe { listener_state::<ReaderStatus>(arg) };
        listener_state.change(|all| all.liveliness.set(status.alive_count, status.not_alive_count));
    }
    let listener = Listener::new(Arc::as_ptr(watched_by).cast());
    // SAFETY: the listener is alive, and the functions expect the argument that it was made with.
    unsafe {
        sys::dds_lset_data_available(listener.as_ptr(), Some(data));
        sys::dds_lset_subscription_matched(listener.as_ptr(), Some(matched));
        sys::dds_lset_requested_incompatible_qos(listener.as_ptr(), Some(incompatible));
        sys::dds_lset_requested_deadline_missed(listener.as_ptr(), Some(deadline));
        sys::dds_lset_liveliness_changed(listener.as_ptr(), Some(liveliness));
    }
    listener
}
