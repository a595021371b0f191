//! A writer and a reader of Fast DDS with their listeners and statuses: what publishers,
//! subscriptions, services and clients are made of.

use std::ffi::{CString, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use feros_fastdds_sys as sys;
use feros_rmw::dds::user_data::EndpointData;
use feros_rmw::{
    CreateEndpointError, FillAborted, Gid, History, Liveliness, Match, Notify, PublishError,
    QosProfile, Reliability, Stamp, TakeError,
};
use feros_rmw_dds::graph::IncompatibleType;
use feros_rmw_dds::status::{ReaderStatus, WriterStatus};
use feros_sync::Mutex;

use crate::liveness::{self, Liveness};
use crate::names::EndpointNames;
use crate::participant::Participant;
use crate::qos;
use crate::sample::{Buffer, Taken, late_stamp};

/// The smallest and the largest sample: DDS carries at most 2 GiB.
const SMALLEST_BYTES: usize = 4;
const LARGEST_BYTES: usize = i32::MAX as usize;
/// How long a write waits for room where nothing may be dropped, as in the other engine ...
const ROOM_WAIT: Duration = Duration::from_secs(1);
/// ... and where Fast DDS drops the oldest anyway (its default).
const LOCK_WAIT: Duration = Duration::from_millis(100);

/// How long after its last sample a writer stays for those who have not acknowledged it, as in the
/// other engine.
const LINGER: Duration = Duration::from_secs(1);

/// What the listener of an endpoint counts, and the notifications that it sends.
pub(crate) struct ListenerState<S> {
    pub(crate) status: Mutex<S>,
    /// Endpoints that match now.
    matched: Mutex<Vec<Gid>>,
    pub(crate) matched_count: AtomicUsize,
    /// Counts changes of the matches.
    match_generation: AtomicU64,
    notifications: Notifications,
    participant: Arc<Participant>,
    /// Readers with `on_sample` take in the listener, once this is known.
    reader: AtomicPtr<sys::reader>,
    refused: AtomicU64,
    /// Of a reader: its publishers.
    liveliness: Mutex<Liveness>,
    /// Of a reader: some publisher promised a lifespan.
    some_expire: AtomicBool,
    this: Weak<Self>,
}

/// What takes the samples of a reader, in the engine's thread. It owns no endpoint.
pub(crate) type OnSample = Arc<dyn Fn(Taken) + Send + Sync>;

/// The notifications that an endpoint sends.
#[derive(Clone, Default)]
pub(crate) struct Notifications {
    pub(crate) on_data: Option<Notify>,
    /// Is given each sample as it comes; nothing is left for [`Reader::take`] then.
    pub(crate) on_sample: Option<OnSample>,
    pub(crate) on_event: Option<Notify>,
    pub(crate) on_match: Option<Notify>,
    /// Of a reader that leaves out what its own session publishes.
    pub(crate) ignores_local: bool,
}

fn wake(notify: Option<&Notify>) {
    if let Some(notify) = notify {
        notify();
    }
}

/// What writers and readers count alike.
pub(crate) trait Status: Default + Send + 'static {
    const IS_READER: bool;
    fn set_liveliness(&mut self, alive: u32, not_alive: u32);
    fn matched(&mut self) -> &mut feros_rmw_dds::status::Matched;
    fn other(&mut self, status: &sys::status);
    fn incompatible_type(&mut self);
}

fn count(total: i32) -> u32 {
    u32::try_from(total).unwrap_or(0)
}

impl Status for WriterStatus {
    const IS_READER: bool = false;

    fn set_liveliness(&mut self, _: u32, _: u32) {}

    fn matched(&mut self) -> &mut feros_rmw_dds::status::Matched {
        &mut self.matched
    }

    fn other(&mut self, status: &sys::status) {
        match status.kind {
            sys::INCOMPATIBLE_QOS => {
                self.incompatible_qos.set(count(status.total), count(status.change));
            }
            sys::DEADLINE => self.deadline_missed.total = count(status.total),
            sys::LIVELINESS_LOST => self.liveliness_lost.total = count(status.total),
            _ => {}
        }
    }

    fn incompatible_type(&mut self) {
        self.incompatible_type.total += 1;
    }
}

impl Status for ReaderStatus {
    const IS_READER: bool = true;

    fn set_liveliness(&mut self, alive: u32, not_alive: u32) {
        self.liveliness.set(alive, not_alive);
    }

    fn matched(&mut self) -> &mut feros_rmw_dds::status::Matched {
        &mut self.matched
    }

    fn other(&mut self, status: &sys::status) {
        match status.kind {
            sys::INCOMPATIBLE_QOS => {
                self.incompatible_qos.set(count(status.total), count(status.change));
            }
            sys::DEADLINE => self.deadline_missed.total = count(status.total),
            _ => {}
        }
    }

    fn incompatible_type(&mut self) {
        self.incompatible_type.total += 1;
    }
}

impl<S: Status> ListenerState<S> {
    fn new(participant: &Arc<Participant>, notifications: Notifications) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            status: Mutex::default(),
            matched: Mutex::default(),
            matched_count: AtomicUsize::new(0),
            match_generation: AtomicU64::new(0),
            notifications,
            participant: participant.clone(),
            reader: AtomicPtr::new(std::ptr::null_mut()),
            refused: AtomicU64::new(0),
            liveliness: Mutex::default(),
            some_expire: AtomicBool::new(false),
            this: this.clone(),
        })
    }

    /// Changes the status, then notifies without the lock.
    pub(crate) fn change(&self, change: impl FnOnce(&mut S)) {
        change(&mut self.status.lock());
        wake(self.notifications.on_event.as_ref());
    }

    fn matches_changed(&self, other: Gid, change: i32) {
        let discovered = &self.participant.discovered;
        {
            let mut matched = self.matched.lock();
            // A reader that leaves out its own session matches nothing of it.
            if change > 0 {
                let is_ignored = discovered.is_own(other)
                    && (self.notifications.ignores_local || discovered.is_ignoring(other));
                if is_ignored || matched.contains(&other) {
                    return;
                }
                matched.push(other);
                self.status.lock().matched().add();
            } else {
                let Some(at) = matched.iter().position(|gid| *gid == other) else { return };
                matched.remove(at);
                self.status.lock().matched().remove();
            }
            self.matched_count.store(matched.len(), Ordering::Release);
            self.match_generation.fetch_add(1, Ordering::Release);
        }
        if S::IS_READER {
            self.publisher_changed(other, change > 0);
        }
        wake(self.notifications.on_event.as_ref());
        wake(self.notifications.on_match.as_ref());
    }

    /// A publisher came or left.
    fn publisher_changed(&self, publisher: Gid, is_there: bool) {
        if !is_there {
            return self.change_liveliness(|all| all.left(publisher));
        }
        let endpoint = self.participant.discovered.graph.endpoint(publisher);
        let qos = endpoint.map(|endpoint| endpoint.qos);
        if qos.is_some_and(|qos| qos.lifespan.finite().is_some()) {
            self.some_expire.store(true, Ordering::Relaxed);
        }
        let lease = qos
            .filter(|qos| qos.liveliness == Liveliness::ManualByTopic)
            .and_then(|qos| qos.liveliness_lease_duration.finite());
        self.change_liveliness(|all| all.came(publisher, lease.is_some()));
        if let Some(lease) = lease {
            let state = self.this.clone();
            liveness::after(lease, move || {
                if let Some(state) = state.upgrade() {
                    state.change_liveliness(|all| all.never_shown(publisher));
                    wake(state.notifications.on_event.as_ref());
                }
            });
        }
    }

    fn change_liveliness(&self, change: impl FnOnce(&mut Liveness)) {
        let mut liveliness = self.liveliness.lock();
        change(&mut liveliness);
        let (alive, not_alive) = liveliness.counts();
        self.status.lock().set_liveliness(alive, not_alive);
    }

    /// Whether a sample is older than its publisher promised. Fast DDS removes such ones, but a
    /// busy machine may be late.
    pub(crate) fn is_expired(&self, publisher: Gid, stamp: Option<SystemTime>) -> bool {
        if !self.some_expire.load(Ordering::Relaxed) {
            return false;
        }
        let endpoint = self.participant.discovered.graph.endpoint(publisher);
        let lifespan = endpoint.and_then(|endpoint| endpoint.qos.lifespan.finite());
        let age = stamp.and_then(|stamp| stamp.elapsed().ok());
        lifespan.zip(age).is_some_and(|(lifespan, age)| age > lifespan)
    }

    /// Gids of those that match now.
    pub(crate) fn matched_gids(&self) -> Vec<Gid> {
        self.matched.lock().clone()
    }

    /// Differs from what it was before the matches changed.
    pub(crate) fn match_generation(&self) -> u64 {
        self.match_generation.load(Ordering::Acquire)
    }

    pub(crate) fn is_matched(&self, gid: Gid) -> bool {
        self.matched.lock().contains(&gid)
    }

    /// Those that match now, as users see them.
    pub(crate) fn matches(&self) -> Vec<Match> {
        let graph = &self.participant.discovered.graph;
        let known = self.matched_gids().into_iter().filter_map(|gid| graph.endpoint(gid));
        known.map(|e| Match { gid: e.gid, announcement: e.data.announcement, qos: e.qos }).collect()
    }

    /// Those that match now, with what they say in their USER_DATA.
    pub(crate) fn matched_data(&self) -> Vec<(Gid, EndpointData)> {
        let graph = &self.participant.discovered.graph;
        let known = self.matched_gids().into_iter().filter_map(|gid| graph.endpoint(gid));
        known.map(|endpoint| (endpoint.gid, endpoint.data)).collect()
    }

    /// Takes the oldest sample of a reader, which is alive; malformed ones are counted.
    fn take(&self, reader: *mut sys::reader) -> Result<Option<Taken>, i32> {
        loop {
            let mut sample = std::mem::MaybeUninit::uninit();
            // SAFETY: the reader is alive; on 1 the shim has filled the sample.
            let taken = unsafe {
                match (self.participant.shim.take)(reader, sample.as_mut_ptr()) {
                    1 => Taken::from_shim(sample.assume_init_ref()),
                    0 => return Ok(None),
                    code => return Err(-code),
                }
            };
            match taken {
                Some(taken) => return Ok(Some(taken)),
                None => self.refused.fetch_add(1, Ordering::Relaxed),
            };
        }
    }

    /// Gives each sample that is there to who takes them.
    fn hand_over(&self) {
        let reader = self.reader.load(Ordering::Acquire);
        let Some(on_sample) = &self.notifications.on_sample else { return };
        if reader.is_null() {
            return;
        }
        loop {
            match self.take(reader) {
                Ok(Some(sample)) => on_sample(sample),
                Ok(None) => return,
                Err(code) => return tracing::error!("what was received cannot be taken: {code}"),
            }
        }
    }
}

impl<S: Status> IncompatibleType for ListenerState<S> {
    fn incompatible_type(&self) {
        self.change(S::incompatible_type);
    }
}

unsafe extern "C" fn on_status<S: Status>(context: *mut c_void, status: *const sys::status) {
    // SAFETY: the context is the `ListenerState` of the endpoint, which keeps it until its end,
    // which waits for callbacks; the status lives during the call.
    let (state, status) = unsafe { (&*context.cast::<ListenerState<S>>(), &*status) };
    match status.kind {
        sys::DATA => {
            state.hand_over();
            wake(state.notifications.on_data.as_ref());
        }
        sys::MATCHED => state.matches_changed(Gid(status.guid), status.change),
        sys::LIVELINESS => {
            let (publisher, is_alive) = (Gid(status.guid), status.total > 0);
            if is_alive || status.change > 0 {
                state.change_liveliness(|all| all.reported(publisher, is_alive));
                wake(state.notifications.on_event.as_ref());
            }
        }
        _ => state.change(|all| all.other(status)),
    }
}

/// What an endpoint is created with.
pub(crate) struct Creation<'a> {
    pub(crate) names: &'a EndpointNames,
    pub(crate) qos: &'a QosProfile,
    pub(crate) user_data: &'a str,
    pub(crate) notifications: Notifications,
}

impl Creation<'_> {
    fn max_wait(&self) -> Duration {
        let keeps_all =
            self.qos.history == History::KeepAll && self.qos.reliability != Reliability::BestEffort;
        if keeps_all { ROOM_WAIT } else { LOCK_WAIT }
    }

    /// Calls `new` with the options as the shim has them.
    fn make<S: Status, T>(
        &self,
        participant: &Participant,
        state: &Arc<ListenerState<S>>,
        new: impl FnOnce(*const sys::endpoint_options, *mut i32) -> *mut T,
    ) -> Result<NonNull<T>, i32> {
        let (topic, type_name) = (
            CString::new(self.names.topic.as_str()).unwrap_or_default(),
            CString::new(self.names.type_name.as_str()).unwrap_or_default(),
        );
        let options = sys::endpoint_options {
            topic: topic.as_ptr(),
            type_name: type_name.as_ptr(),
            qos: qos::to_shim(self.qos),
            user_data: self.user_data.as_ptr(),
            user_data_bytes: self.user_data.len(),
            publish_mode: participant.settings.mode_number(),
            max_blocking: i64::try_from(self.max_wait().as_nanos()).unwrap_or(sys::INFINITE),
            context: Arc::as_ptr(state).cast_mut().cast(),
            on_status: on_status::<S>,
        };
        let mut code = 0;
        NonNull::new(new(&raw const options, &raw mut code)).ok_or(code)
    }

    fn failed(&self, operation: &'static str) -> impl FnOnce(i32) -> CreateEndpointError {
        let name = self.names.ros.clone();
        move |code| match code {
            sys::RETCODE_INCONSISTENT_POLICY => CreateEndpointError::Qos {
                name,
                reason: "the engine says that its policies contradict each other".into(),
            },
            _ => CreateEndpointError::Engine { name, operation, code: code.to_string() },
        }
    }
}

/// The last sample of a writer.
#[derive(Default)]
struct LastWrite {
    number: i64,
    at: Option<Instant>,
}

/// A writer of Fast DDS.
pub(crate) struct Writer {
    raw: NonNull<sys::writer>,
    pub(crate) listener_state: Arc<ListenerState<WriterStatus>>,
    pub(crate) gid: Gid,
    pub(crate) names: EndpointNames,
    max_wait: Duration,
    /// Writing happens under this lock.
    last: Mutex<LastWrite>,
    /// Messages that were published without the engine.
    pub(crate) skipped: AtomicU64,
    participant: Arc<Participant>,
}

// SAFETY: Fast DDS may be called from any thread; writing, which may not, has a lock.
unsafe impl Send for Writer {}
// SAFETY: as above.
unsafe impl Sync for Writer {}

impl Writer {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: &Creation<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let failed = creation.failed("creating the writer");
        let make = |participant: &Arc<Participant>| {
            let state =
                ListenerState::<WriterStatus>::new(participant, creation.notifications.clone());
            // SAFETY: the participant and the options are alive; the state outlives the writer.
            let raw = creation.make(participant, &state, |options, code| unsafe {
                (participant.shim.writer_new)(participant.as_ptr(), options, code)
            })?;
            let mut gid = Gid::default();
            // SAFETY: the writer is alive; the out parameter is valid.
            unsafe { (participant.shim.writer_guid)(raw.as_ptr(), &raw mut gid.0) };
            if creation.qos.liveliness == Liveliness::ManualByTopic {
                // Fast DDS counts the lease from the first time that a writer shows that it is
                // alive; a publisher does so by its creation.
                // SAFETY: the writer is alive.
                unsafe { (participant.shim.assert_liveliness)(raw.as_ptr()) };
            }
            Ok(Self {
                raw,
                listener_state: state,
                gid,
                names: creation.names.clone(),
                max_wait: creation.max_wait(),
                last: Mutex::default(),
                skipped: AtomicU64::new(0),
                participant: participant.clone(),
            })
        };
        participant.place(make).map_err(failed)
    }

    /// A buffer for a sample of `size_bytes`, filled by `fill`, which sees the part from `offset`
    /// on.
    pub(crate) fn fill(
        &self,
        size_bytes: usize,
        offset: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), FillAborted>,
    ) -> Result<Buffer, PublishError> {
        let largest_bytes = LARGEST_BYTES - offset;
        if !(SMALLEST_BYTES..=largest_bytes).contains(&size_bytes) {
            return Err(PublishError::Size {
                topic: self.names.ros.clone(),
                size_bytes,
                largest_bytes,
            });
        }
        let mut buffer = Buffer::new(size_bytes + offset).ok_or_else(|| {
            PublishError::OutOfMemory { topic: self.names.ros.clone(), size_bytes }
        })?;
        fill(&mut buffer.bytes_mut()[offset..]).map_err(|FillAborted| PublishError::FillAborted)?;
        Ok(buffer)
    }

    /// Writes a buffer with its time of publication, and with a related identity if it has one;
    /// returns its number.
    ///
    /// Numbers of Fast DDS have no gap for what was skipped: the sample then carries its
    /// publication number, as a related identity of its own writer. A stamp that Fast DDS does not
    /// take travels in such an identity as well.
    pub(crate) fn write(
        &self,
        buffer: &Buffer,
        stamp: Stamp,
        related: Option<([u8; 16], i64)>,
    ) -> Result<i64, PublishError> {
        let mut last = self.last.lock();
        let skipped = self.skipped.load(Ordering::Relaxed);
        let published = (last.number + 1).saturating_add_unsigned(skipped);
        let own = late_stamp(stamp).or((skipped > 0).then_some(self.gid.0));
        let related = related.or(own.map(|identity| (identity, published)));
        let (guid, related_number) = related.unwrap_or_default();
        let guid = if related.is_some() { &raw const guid } else { std::ptr::null() };
        let mut number = 0;
        // SAFETY: writer, buffer and identity live during the call; the lock keeps other threads
        // out.
        let code = unsafe {
            (self.participant.shim.write)(
                self.raw.as_ptr(),
                buffer.as_ptr(),
                stamp.0,
                guid,
                related_number,
                &raw mut number,
            )
        };
        match code {
            0 => {
                *last = LastWrite { number, at: Some(Instant::now()) };
                Ok(number)
            }
            sys::RETCODE_TIMEOUT => {
                Err(PublishError::Timeout { topic: self.names.ros.clone(), waited: self.max_wait })
            }
            sys::RETCODE_OUT_OF_RESOURCES => Err(PublishError::OutOfMemory {
                topic: self.names.ros.clone(),
                size_bytes: buffer.bytes().len(),
            }),
            code => {
                Err(PublishError::Engine { topic: self.names.ros.clone(), code: code.to_string() })
            }
        }
    }

    /// Waits until all reliable readers acknowledged all that was written; zero looks once.
    ///
    /// # Errors
    /// The return code.
    pub(crate) fn wait_for_acknowledgments(&self, timeout: Duration) -> Result<(), i32> {
        let nanos = i64::try_from(timeout.as_nanos()).unwrap_or(sys::INFINITE);
        // SAFETY: the writer is alive.
        match unsafe { (self.participant.shim.wait_for_acknowledgments)(self.raw.as_ptr(), nanos) }
        {
            0 => Ok(()),
            code => Err(code),
        }
    }

    /// Returns the code of Fast DDS.
    pub(crate) fn assert_liveliness(&self) -> i32 {
        // SAFETY: the writer is alive.
        unsafe { (self.participant.shim.assert_liveliness)(self.raw.as_ptr()) }
    }

    /// Announces other USER_DATA; returns the code of Fast DDS.
    pub(crate) fn set_user_data(&self, data: &str) -> i32 {
        // SAFETY: the writer and the data are alive.
        unsafe {
            (self.participant.shim.writer_set_user_data)(
                self.raw.as_ptr(),
                data.as_ptr(),
                data.len(),
            )
        }
    }

    /// Has Fast DDS forget the participant of an endpoint.
    pub(crate) fn forget_participant_of(&self, endpoint: Gid) {
        self.participant.forget(endpoint);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Fast DDS drops what is still under way.
        let since = self.last.lock().at.map(|at| at.elapsed());
        if let Some(left) = since.and_then(|since| LINGER.checked_sub(since))
            && self.listener_state.matched_count.load(Ordering::Acquire) > 0
        {
            let _ = self.wait_for_acknowledgments(left); // who does not answer misses the rest
        }
        // SAFETY: nobody else has the writer; afterwards there are no callbacks.
        unsafe { (self.participant.shim.writer_delete)(self.raw.as_ptr()) }
    }
}

/// A reader of Fast DDS.
pub(crate) struct Reader {
    raw: NonNull<sys::reader>,
    pub(crate) listener_state: Arc<ListenerState<ReaderStatus>>,
    pub(crate) gid: Gid,
    pub(crate) names: EndpointNames,
    pub(crate) participant: Arc<Participant>,
}

// SAFETY: Fast DDS may be called from any thread.
unsafe impl Send for Reader {}
// SAFETY: as above.
unsafe impl Sync for Reader {}

impl Reader {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: &Creation<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let failed = creation.failed("creating the reader");
        let make = |participant: &Arc<Participant>| {
            let state =
                ListenerState::<ReaderStatus>::new(participant, creation.notifications.clone());
            // SAFETY: the participant and the options are alive; the state outlives the reader.
            let raw = creation.make(participant, &state, |options, code| unsafe {
                (participant.shim.reader_new)(participant.as_ptr(), options, code)
            })?;
            let mut gid = Gid::default();
            // SAFETY: the reader is alive; the out parameter is valid.
            unsafe { (participant.shim.reader_guid)(raw.as_ptr(), &raw mut gid.0) };
            // What came before this is handed over with the next, or now.
            state.reader.store(raw.as_ptr(), Ordering::Release);
            state.hand_over();
            let names = creation.names.clone();
            Ok(Self { raw, listener_state: state, gid, names, participant: participant.clone() })
        };
        participant.place(make).map_err(failed)
    }

    /// Takes the oldest sample.
    pub(crate) fn take(&self) -> Result<Option<Taken>, TakeError> {
        self.listener_state.take(self.raw.as_ptr()).map_err(|code| TakeError::Engine {
            topic: self.names.ros.clone(),
            code: code.to_string(),
        })
    }

    pub(crate) fn refused_samples(&self) -> u64 {
        self.listener_state.refused.load(Ordering::Relaxed)
    }

    /// Announces other USER_DATA; returns the code of Fast DDS.
    pub(crate) fn set_user_data(&self, data: &str) -> i32 {
        // SAFETY: the reader and the data are alive.
        unsafe {
            (self.participant.shim.reader_set_user_data)(
                self.raw.as_ptr(),
                data.as_ptr(),
                data.len(),
            )
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: nobody else has the reader; afterwards there are no callbacks.
        unsafe { (self.participant.shim.reader_delete)(self.raw.as_ptr()) }
    }
}
