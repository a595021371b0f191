//! A writer and a reader of Fast DDS with their listeners and statuses: what publishers,
//! subscriptions, services and clients are made of.

use std::ffi::CString;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use feros_fastdds_sys as sys;
use feros_rmw::{
    CreateEndpointError, FillAborted, Gid, History, Liveliness, PublishError, QosProfile,
    Reliability, Stamp, TakeError,
};
use feros_rmw_dds::status::{ReaderStatus, WriterStatus};
use feros_sync::Mutex;

use crate::listener::{ListenerState, Notifications, Status, on_status};
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
