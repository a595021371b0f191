//! A writer and a reader of Fast DDS with their listeners and statuses. Publishers, subscriptions,
//! services and clients are made of these.

use std::ffi::CString;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use feros_dds::graph::IncompatibleType;
use feros_dds::library::{self, Creation, NotAcknowledged, RelatedIdentity, Taken as _};
use feros_dds::names::EndpointNames;
use feros_dds::status::{ReaderStatus, WriterStatus};
use feros_engine::dds::user_data::EndpointData;
use feros_engine::{
    CreateEndpointError, FillAborted, Gid, History, Liveliness, Match, PublishError,
    PublisherEvent, QosProfile, Reliability, Stamp, SubscriptionEvent, TakeError,
};
use feros_fastdds_sys as sys;
use feros_sync::Mutex;

use crate::listener::{ListenerState, Status, on_status};
use crate::participant::Participant;
use crate::qos;
use crate::sample::{Buffer, Taken, late_stamp};

/// The size limits of a sample, in bytes. DDS can send at most 2 GiB.
const SMALLEST_BYTES: usize = 4;
const LARGEST_BYTES: usize = i32::MAX as usize;
/// How long a write waits for room if no sample may be dropped. The engine on Cyclone DDS waits for
/// the same time.
const ROOM_WAIT: Duration = Duration::from_secs(1);
/// How long a write waits if Fast DDS may drop the oldest sample. The value is the default of Fast
/// DDS.
const LOCK_WAIT: Duration = Duration::from_millis(100);

/// How long a writer remains after its last sample, so that readers that do not have the sample
/// can still get it. In the engine on Cyclone DDS, a writer remains for the same time.
const LINGER: Duration = Duration::from_secs(1);

fn max_wait(qos: &QosProfile) -> Duration {
    let keeps_all = qos.history == History::KeepAll && qos.reliability != Reliability::BestEffort;
    if keeps_all { ROOM_WAIT } else { LOCK_WAIT }
}

/// The entries that this engine adds to the USER_DATA of an endpoint. They are empty if the
/// endpoint has no USER_DATA.
fn extras(creation: &Creation<'_, Taken>) -> String {
    match creation.data {
        Some(_) => qos::extras(creation.qos, creation.ignores_local),
        None => String::new(),
    }
}

/// Calls `new` with the options in the shim's format, and returns the result of `new`.
fn make<S: Status, T>(
    creation: &Creation<'_, Taken>,
    participant: &Participant,
    state: &Arc<ListenerState<S>>,
    new: impl FnOnce(*const sys::endpoint_options, *mut i32) -> *mut T,
) -> Result<NonNull<T>, i32> {
    let (topic, type_name) = (
        CString::new(creation.names.topic.as_str()).unwrap_or_default(),
        CString::new(creation.names.type_name.as_str()).unwrap_or_default(),
    );
    let user_data = creation.data.map(EndpointData::encode).unwrap_or_default() + &extras(creation);
    let options = sys::endpoint_options {
        topic: topic.as_ptr(),
        type_name: type_name.as_ptr(),
        qos: qos::to_shim(creation.qos),
        user_data: user_data.as_ptr(),
        user_data_bytes: user_data.len(),
        publish_mode: participant.settings.mode_number(),
        max_blocking: i64::try_from(max_wait(creation.qos).as_nanos()).unwrap_or(sys::INFINITE),
        context: Arc::as_ptr(state).cast_mut().cast(),
        on_status: on_status::<S>,
    };
    let mut code = 0;
    NonNull::new(new(&raw const options, &raw mut code)).ok_or(code)
}

fn failed(
    names: &EndpointNames,
    operation: &'static str,
) -> impl FnOnce(i32) -> CreateEndpointError {
    let name = names.ros.clone();
    move |code| match code {
        sys::RETCODE_INCONSISTENT_POLICY => CreateEndpointError::Qos {
            name,
            reason: "the engine says that its policies contradict each other".into(),
        },
        _ => CreateEndpointError::Engine { name, operation, code: code.to_string() },
    }
}

/// Implements the methods that writers and readers have in common.
macro_rules! endpoint_members {
    ($set_user_data:ident) => {
        const KNOWS_WHO_READ_ANNOUNCEMENTS: bool = false;

        fn gid(&self) -> Gid {
            self.gid
        }

        fn names(&self) -> &EndpointNames {
            &self.names
        }

        fn matched_count(&self) -> usize {
            self.listener_state.matched_count.load(Ordering::Acquire)
        }

        fn match_generation(&self) -> u64 {
            self.listener_state.match_generation()
        }

        fn matches(&self) -> Vec<Match> {
            self.listener_state.matches()
        }

        fn matched_gids(&self) -> Vec<Gid> {
            self.listener_state.matched_gids()
        }

        fn matches_any(&self, is_wanted: impl Fn(Gid) -> bool) -> bool {
            self.listener_state.matches_any(is_wanted)
        }

        fn matched_data(&self) -> Arc<[(Gid, EndpointData)]> {
            self.listener_state.matched_data().into()
        }

        fn data_of(&self, other: Gid) -> Option<EndpointData> {
            Some(self.participant.discovered.graph.endpoint(other)?.data)
        }

        fn set_data(&self, data: &EndpointData) -> Result<(), String> {
            let data = data.encode() + &self.extras;
            // SAFETY: the endpoint and the data are alive.
            let code = unsafe {
                (self.participant.shim.$set_user_data)(self.raw.as_ptr(), data.as_ptr(), data.len())
            };
            if code == 0 { Ok(()) } else { Err(code.to_string()) }
        }

        fn is_announced_to(&self, _: Gid, _: Duration) -> bool {
            true
        }

        fn forget_participant_of(&self, other: Gid) {
            self.participant.forget(other);
        }

        fn type_watcher(&self) -> Weak<dyn IncompatibleType> {
            Arc::downgrade(&self.listener_state) as Weak<dyn IncompatibleType>
        }
    };
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
    listener_state: Arc<ListenerState<WriterStatus>>,
    gid: Gid,
    names: EndpointNames,
    extras: String,
    max_wait: Duration,
    /// This is locked while a sample is written.
    last: Mutex<LastWrite>,
    /// The number of messages that were published without the engine.
    skipped: AtomicU64,
    participant: Arc<Participant>,
}

// SAFETY: Fast DDS may be called on any thread, except for writing, which happens under a lock.
unsafe impl Send for Writer {}
// SAFETY: see above.
unsafe impl Sync for Writer {}

impl Writer {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: &Creation<'_, Taken>,
    ) -> Result<Self, CreateEndpointError> {
        let new = |participant: &Arc<Participant>| {
            let state = ListenerState::<WriterStatus>::new(
                participant,
                creation.notifications.clone(),
                false,
            );
            // SAFETY: the participant and the options are alive, and the state exists longer than
            // the writer.
            let raw = make(creation, participant, &state, |options, code| unsafe {
                (participant.shim.writer_new)(participant.as_ptr(), options, code)
            })?;
            let mut gid = Gid::default();
            // SAFETY: the writer is alive, and the out parameter is valid.
            unsafe { (participant.shim.writer_guid)(raw.as_ptr(), &raw mut gid.0) };
            if creation.qos.liveliness == Liveliness::ManualByTopic {
                // Fast DDS starts the lease when a writer first asserts its liveliness, so the
                // writer does this as soon as it is created. SAFETY: the writer is alive.
                unsafe { (participant.shim.assert_liveliness)(raw.as_ptr()) };
            }
            Ok(Self {
                raw,
                listener_state: state,
                gid,
                names: creation.names.clone(),
                extras: extras(creation),
                max_wait: max_wait(creation.qos),
                last: Mutex::default(),
                skipped: AtomicU64::new(0),
                participant: participant.clone(),
            })
        };
        participant.place(new).map_err(failed(&creation.names, "creating the writer"))
    }

    /// Waits until all reliable readers have acknowledged all written samples. With a timeout of
    /// zero, checks once.
    ///
    /// # Errors
    /// Returns the return code of Fast DDS.
    fn wait_for_acknowledgments(&self, timeout: Duration) -> Result<(), i32> {
        let nanos = i64::try_from(timeout.as_nanos()).unwrap_or(sys::INFINITE);
        // SAFETY: the writer is alive.
        match unsafe { (self.participant.shim.wait_for_acknowledgments)(self.raw.as_ptr(), nanos) }
        {
            0 => Ok(()),
            code => Err(code),
        }
    }
}

impl library::Endpoint for Writer {
    endpoint_members!(writer_set_user_data);
}

impl library::Buffer for Buffer {
    fn bytes_mut(&mut self) -> &mut [u8] {
        Buffer::bytes_mut(self)
    }
}

impl library::Writer for Writer {
    type Buffer = Buffer;

    fn fill(
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

    /// Writes a sample. A stamp that Fast DDS does not accept is also sent in a related identity.
    fn write(
        &self,
        buffer: Buffer,
        stamp: Stamp,
        related: Option<RelatedIdentity>,
    ) -> Result<i64, PublishError> {
        let mut last = self.last.lock();
        let skipped = self.skipped.load(Ordering::Relaxed);
        let published = (last.number + 1).saturating_add_unsigned(skipped);
        let own = late_stamp(stamp).or((skipped > 0).then_some(self.gid.0));
        let related = related.or(own.map(|identity| (identity, published)));
        let (guid, related_number) = related.unwrap_or_default();
        let guid = if related.is_some() { &raw const guid } else { std::ptr::null() };
        let mut number = 0;
        // SAFETY: the writer, the buffer and the identity exist during the call, and the lock
        // prevents writes by other threads.
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

    fn skip(&self, messages: u64) {
        self.skipped.fetch_add(messages, Ordering::Relaxed);
    }

    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<(), NotAcknowledged> {
        self.wait_for_acknowledgments(timeout).map_err(|code| match code {
            sys::RETCODE_TIMEOUT => NotAcknowledged::TimedOut,
            code => NotAcknowledged::Failed(code.to_string()),
        })
    }

    /// This waits for all readers, because Fast DDS does not report acknowledgements of a single
    /// reader.
    fn is_acknowledged_by(&self, reader: Gid, timeout: Duration) -> bool {
        !self.listener_state.is_matched(reader) || self.wait_for_acknowledgments(timeout).is_ok()
    }

    fn assert_liveliness(&self) -> Result<(), String> {
        // SAFETY: the writer is alive.
        match unsafe { (self.participant.shim.assert_liveliness)(self.raw.as_ptr()) } {
            0 => Ok(()),
            code => Err(code.to_string()),
        }
    }

    fn take_event(&self) -> Option<PublisherEvent> {
        self.listener_state.status.lock().take()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Deleting a writer discards the samples that have not arrived. So the writer waits first.
        let since = self.last.lock().at.map(|at| at.elapsed());
        if let Some(left) = since.and_then(|since| LINGER.checked_sub(since))
            && self.listener_state.matched_count.load(Ordering::Acquire) > 0
        {
            let _ = self.wait_for_acknowledgments(left); // a reader that does not respond misses these samples
        }
        // SAFETY: nothing else uses the writer, and no callbacks run after the call.
        unsafe { (self.participant.shim.writer_delete)(self.raw.as_ptr()) }
    }
}

/// A reader of Fast DDS.
pub(crate) struct Reader {
    raw: NonNull<sys::reader>,
    listener_state: Arc<ListenerState<ReaderStatus>>,
    gid: Gid,
    names: EndpointNames,
    extras: String,
    /// Whether the reader ignores samples from its own session. Fast DDS still delivers such
    /// samples.
    ignores_local: bool,
    participant: Arc<Participant>,
}

// SAFETY: Fast DDS may be called on any thread.
unsafe impl Send for Reader {}
// SAFETY: see above.
unsafe impl Sync for Reader {}

impl Reader {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: &Creation<'_, Taken>,
    ) -> Result<Self, CreateEndpointError> {
        let new = |participant: &Arc<Participant>| {
            let state = ListenerState::<ReaderStatus>::new(
                participant,
                creation.notifications.clone(),
                creation.ignores_local,
            );
            // SAFETY: the participant and the options are alive, and the state exists longer than
            // the reader.
            let raw = make(creation, participant, &state, |options, code| unsafe {
                (participant.shim.reader_new)(participant.as_ptr(), options, code)
            })?;
            let mut gid = Gid::default();
            // SAFETY: the reader is alive, and the out parameter is valid.
            unsafe { (participant.shim.reader_guid)(raw.as_ptr(), &raw mut gid.0) };
            // The next call passes on the samples that arrived before this store.
            state.reader.store(raw.as_ptr(), Ordering::Release);
            state.hand_over();
            Ok(Self {
                raw,
                listener_state: state,
                gid,
                names: creation.names.clone(),
                extras: extras(creation),
                ignores_local: creation.ignores_local,
                participant: participant.clone(),
            })
        };
        participant.place(new).map_err(failed(&creation.names, "creating the reader"))
    }
}

impl library::Endpoint for Reader {
    endpoint_members!(reader_set_user_data);
}

impl library::Reader for Reader {
    type Taken = Taken;

    fn take(&self) -> Result<Option<Taken>, TakeError> {
        self.listener_state.take(self.raw.as_ptr()).map_err(|code| TakeError::Engine {
            topic: self.names.ros.clone(),
            code: code.to_string(),
        })
    }

    fn is_ignored(&self, taken: &Taken) -> bool {
        self.ignores_local && self.participant.discovered.is_own(taken.writer())
    }

    fn is_expired(&self, taken: &Taken) -> bool {
        self.listener_state.is_expired(taken)
    }

    fn count_lost(&self, messages: u64) {
        self.listener_state.change(|status| status.lost.add(messages));
    }

    fn take_event(&self) -> Option<SubscriptionEvent> {
        self.listener_state.status.lock().take()
    }

    fn refused_samples(&self) -> u64 {
        self.listener_state.refused.load(Ordering::Relaxed)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: nothing else uses the reader, and no callbacks run after the call.
        unsafe { (self.participant.shim.reader_delete)(self.raw.as_ptr()) }
    }
}
