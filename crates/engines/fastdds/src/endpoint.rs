//! A writer and a reader of Fast DDS with their listeners and statuses. Publishers, subscriptions,
//! services and clients are made of these.

use std::ffi::CString;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use feros_dds::library::{
    self, Creation, EndpointBase, NotAcknowledged, RelatedIdentity, Taken as _,
};
use feros_dds::status::{ReaderStatus, WriterStatus};
use feros_engine::dds::user_data::EndpointData;
use feros_engine::{
    Created, Gid, History, Liveliness, Match, PublishError, QosProfile, Reliability, Stamp,
    TakeError,
};
use feros_fastdds_sys as sys;
use feros_sync::Mutex;

use crate::listener::{Listener, LivelinessStatus, on_status};
use crate::participant::Participant;
use crate::qos;
use crate::sample::{Buffer, Taken, late_stamp};

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

/// The functions of the shim for one kind of endpoint.
pub(crate) struct Functions<R> {
    new: unsafe extern "C" fn(
        *mut sys::participant,
        *const sys::endpoint_options,
        *mut i32,
    ) -> *mut R,
    delete: unsafe extern "C" fn(*mut R),
    guid: unsafe extern "C" fn(*const R, *mut [u8; 16]),
    set_user_data: unsafe extern "C" fn(*mut R, *const u8, usize) -> i32,
}

/// The differences between writers and readers, and the parts that only one of them has.
pub(crate) trait Side: Sized + Send + Sync + 'static {
    /// The type of the shim.
    type Raw;
    /// The counters for its events.
    type Status: LivelinessStatus;

    /// Creating such an endpoint, as errors name it.
    const CREATING: &'static str;

    /// The functions of the shim.
    fn functions(shim: &sys::Shim) -> Functions<Self::Raw>;

    /// Completes the creation of an endpoint.
    fn begin(
        raw: NonNull<Self::Raw>,
        listener: &Listener<Self::Status>,
        creation: &Creation<'_, Taken>,
    ) -> Self;

    /// Called before the endpoint is deleted.
    fn end(_: &Endpoint<Self>) {}
}

/// The last sample of a writer.
#[derive(Default)]
struct LastWrite {
    number: i64,
    at: Option<Instant>,
}

/// The part that only a writer has.
pub(crate) struct Writing {
    max_wait: Duration,
    /// Held while a sample is written.
    last: Mutex<LastWrite>,
    /// The number of messages that were published without the engine.
    skipped: AtomicU64,
}

impl Side for Writing {
    type Raw = sys::writer;
    type Status = WriterStatus;

    const CREATING: &'static str = "creating the writer";

    fn functions(shim: &sys::Shim) -> Functions<sys::writer> {
        Functions {
            new: shim.writer_new,
            delete: shim.writer_delete,
            guid: shim.writer_guid,
            set_user_data: shim.writer_set_user_data,
        }
    }

    fn begin(
        raw: NonNull<sys::writer>,
        listener: &Listener<WriterStatus>,
        creation: &Creation<'_, Taken>,
    ) -> Self {
        if creation.qos.liveliness == Liveliness::ManualByTopic {
            // Fast DDS starts the lease when a writer first asserts its liveliness, so the writer
            // does that as soon as it is created. SAFETY: the writer is alive.
            unsafe { (listener.shim().assert_liveliness)(raw.as_ptr()) };
        }
        let max_wait = max_wait(creation.qos);
        Self { max_wait, last: Mutex::default(), skipped: AtomicU64::new(0) }
    }

    fn end(writer: &Writer) {
        // Deleting a writer discards the samples that have not arrived, so the writer waits first.
        let since = writer.own.last.lock().at.map(|at| at.elapsed());
        if let Some(left) = since.and_then(|since| LINGER.checked_sub(since))
            && writer.listener.state.matched_count() > 0
        {
            let _ = writer.wait_for_acknowledgments(left); // an unresponsive reader misses the rest
        }
    }
}

/// The part that only a reader has.
pub(crate) struct Reading {
    /// Whether the reader ignores samples from its own session. Fast DDS delivers them
    /// nevertheless.
    ignores_local: bool,
}

impl Side for Reading {
    type Raw = sys::reader;
    type Status = ReaderStatus;

    const CREATING: &'static str = "creating the reader";

    fn functions(shim: &sys::Shim) -> Functions<sys::reader> {
        Functions {
            new: shim.reader_new,
            delete: shim.reader_delete,
            guid: shim.reader_guid,
            set_user_data: shim.reader_set_user_data,
        }
    }

    fn begin(
        raw: NonNull<sys::reader>,
        listener: &Listener<ReaderStatus>,
        creation: &Creation<'_, Taken>,
    ) -> Self {
        // Samples that arrived before this store are passed on by the next call.
        listener.reader.store(raw.as_ptr(), Ordering::Release);
        listener.hand_over();
        Self { ignores_local: creation.ignores_local }
    }
}

/// A writer of Fast DDS.
pub(crate) type Writer = Endpoint<Writing>;
/// A reader of Fast DDS.
pub(crate) type Reader = Endpoint<Reading>;

/// A writer or reader of Fast DDS.
pub(crate) struct Endpoint<S: Side> {
    raw: NonNull<S::Raw>,
    listener: Arc<Listener<S::Status>>,
    base: EndpointBase<S::Status, Taken>,
    /// The entries that this engine adds to the USER_DATA; empty if there is no USER_DATA.
    extras: String,
    own: S,
    participant: Arc<Participant>,
}

// SAFETY: Fast DDS may be called from any thread, except for writing, which happens under a lock.
unsafe impl<S: Side> Send for Endpoint<S> {}
// SAFETY: see above.
unsafe impl<S: Side> Sync for Endpoint<S> {}

impl<S: Side> Endpoint<S> {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        creation: &Creation<'_, Taken>,
    ) -> Created<Self> {
        let new = |participant: &Arc<Participant>| Self::new_in(participant, creation);
        participant.place(new).map_err(|code| {
            let is_contradiction = code == sys::RETCODE_INCONSISTENT_POLICY;
            creation.names.failed(S::CREATING, code, is_contradiction)
        })
    }

    /// Creates the endpoint in this participant of the session.
    fn new_in(participant: &Arc<Participant>, creation: &Creation<'_, Taken>) -> Result<Self, i32> {
        let (notifications, names) = (creation.notifications.clone(), creation.names.clone());
        let listener = Listener::new(participant, notifications, creation.ignores_local);
        let topic = CString::new(names.topic.as_str()).unwrap_or_default();
        let type_name = CString::new(names.type_name.as_str()).unwrap_or_default();
        let extras = creation.data.map(|_| qos::extras(creation.qos, creation.ignores_local));
        let extras = extras.unwrap_or_default();
        let user_data = creation.data.map(EndpointData::encode).unwrap_or_default() + &extras;
        let options = sys::endpoint_options {
            topic: topic.as_ptr(),
            type_name: type_name.as_ptr(),
            qos: qos::to_shim(creation.qos),
            user_data: user_data.as_ptr(),
            user_data_bytes: user_data.len(),
            publish_mode: participant.settings.mode_number(),
            max_blocking: i64::try_from(max_wait(creation.qos).as_nanos()).unwrap_or(sys::INFINITE),
            context: Arc::as_ptr(&listener).cast_mut().cast(),
            on_status: on_status::<S::Status>,
        };
        let (functions, mut code) = (S::functions(participant.shim), 0);
        // SAFETY: the participant and the options are alive; the listener outlives the endpoint.
        let raw =
            unsafe { (functions.new)(participant.as_ptr(), &raw const options, &raw mut code) };
        let raw = NonNull::new(raw).ok_or(code)?;
        let mut gid = Gid::default();
        // SAFETY: the endpoint is alive; the out parameter is valid.
        unsafe { (functions.guid)(raw.as_ptr(), &raw mut gid.0) };
        let own = S::begin(raw, &listener, creation);
        let base = EndpointBase { gid, names, listener: listener.state.clone() };
        Ok(Self { raw, listener, base, extras, own, participant: participant.clone() })
    }
}

impl<S: Side> Drop for Endpoint<S> {
    fn drop(&mut self) {
        S::end(self);
        // SAFETY: nothing else uses the endpoint; no callbacks run after the call.
        unsafe { (S::functions(self.participant.shim).delete)(self.raw.as_ptr()) }
    }
}

impl<S: Side> library::Endpoint for Endpoint<S> {
    type Status = S::Status;
    type Taken = Taken;

    const KNOWS_WHO_READ_ANNOUNCEMENTS: bool = false;

    fn base(&self) -> &EndpointBase<S::Status, Taken> {
        &self.base
    }

    fn matches(&self) -> Vec<Match> {
        self.listener.matches()
    }

    fn matched_gids(&self) -> Vec<Gid> {
        self.listener.matched_gids()
    }

    fn matches_any(&self, is_wanted: impl Fn(Gid) -> bool) -> bool {
        self.listener.matches_any(is_wanted)
    }

    fn matched_data(&self) -> Arc<[(Gid, EndpointData)]> {
        self.listener.matched_data().into()
    }

    fn data_of(&self, other: Gid) -> Option<EndpointData> {
        Some(self.participant.discovered.graph.endpoint(other)?.data)
    }

    fn set_data(&self, data: &EndpointData) -> Result<(), String> {
        let (data, functions) = (data.encode() + &self.extras, S::functions(self.participant.shim));
        // SAFETY: the endpoint and the data are alive.
        let code =
            unsafe { (functions.set_user_data)(self.raw.as_ptr(), data.as_ptr(), data.len()) };
        if code == 0 { Ok(()) } else { Err(code.to_string()) }
    }

    fn is_announced_to(&self, _: Gid, _: Duration) -> bool {
        true
    }

    fn forget_participant_of(&self, other: Gid) {
        self.participant.forget(other);
    }
}

impl Writer {
    /// Waits until all reliable readers have acknowledged all written samples. A timeout of zero
    /// checks once.
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

impl library::Buffer for Buffer {
    fn bytes_mut(&mut self) -> &mut [u8] {
        Buffer::bytes_mut(self)
    }
}

impl library::Writer for Writer {
    type Buffer = Buffer;

    const SIZES_BYTES: (usize, usize) = (4, i32::MAX as usize); // DDS carries at most 2 GiB

    fn allocate(&self, size_bytes: usize) -> Option<Buffer> {
        Buffer::new(size_bytes)
    }

    /// Writes a sample. A stamp that Fast DDS does not accept is also sent in a related identity.
    fn write(
        &self,
        buffer: Buffer,
        stamp: Stamp,
        related: Option<RelatedIdentity>,
    ) -> Result<i64, PublishError> {
        let mut last = self.own.last.lock();
        let skipped = self.own.skipped.load(Ordering::Relaxed);
        let published = (last.number + 1).saturating_add_unsigned(skipped);
        let own = late_stamp(stamp).or((skipped > 0).then_some(self.base.gid.0));
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
            sys::RETCODE_TIMEOUT => Err(PublishError::Timeout {
                topic: self.base.names.ros.clone(),
                waited: self.own.max_wait,
            }),
            sys::RETCODE_OUT_OF_RESOURCES => Err(PublishError::OutOfMemory {
                topic: self.base.names.ros.clone(),
                size_bytes: buffer.bytes().len(),
            }),
            code => Err(PublishError::Engine {
                topic: self.base.names.ros.clone(),
                code: code.to_string(),
            }),
        }
    }

    fn skip(&self, messages: u64) {
        self.own.skipped.fetch_add(messages, Ordering::Relaxed);
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
        !self.listener.is_matched(reader) || self.wait_for_acknowledgments(timeout).is_ok()
    }

    fn assert_liveliness(&self) -> Result<(), String> {
        // SAFETY: the writer is alive.
        match unsafe { (self.participant.shim.assert_liveliness)(self.raw.as_ptr()) } {
            0 => Ok(()),
            code => Err(code.to_string()),
        }
    }
}

impl library::Reader for Reader {
    fn take(&self) -> Result<Option<Taken>, TakeError> {
        self.listener.take(self.raw.as_ptr()).map_err(|code| TakeError::Engine {
            topic: self.base.names.ros.clone(),
            code: code.to_string(),
        })
    }

    fn is_ignored(&self, taken: &Taken) -> bool {
        self.own.ignores_local && self.participant.discovered.is_own(taken.writer())
    }

    fn is_expired(&self, taken: &Taken) -> bool {
        self.listener.is_expired(taken)
    }

    fn refused_samples(&self) -> u64 {
        self.listener.refused.load(Ordering::Relaxed)
    }
}
