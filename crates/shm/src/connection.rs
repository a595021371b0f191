//! The way back of a publisher's chunks, bounded: iceoryx2's own connection, but for a sender that
//! stops to listen to a receiver that returns nonsense.
//!
//! Who takes chunks back goes on until the queue is empty, and the positions of the queue lie in
//! shared memory: scribbled over, the queue holds 2^60 chunks, and each is an error that is told in
//! a text. So the first nonsense, or more chunks than there are, ends the connection for good.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use iceoryx2::prelude::{FileName, Path};
use iceoryx2_bb_concurrency::atomic::AtomicU64;
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_cal::named_concept::{
    NamedConcept, NamedConceptBuilder, NamedConceptDoesExistError, NamedConceptListError,
    NamedConceptMgmt, NamedConceptPathHintRemoveError, NamedConceptRemoveError,
};
use iceoryx2_cal::zero_copy_connection::common::details;
use iceoryx2_cal::zero_copy_connection::{
    BackpressureToReceiverAction, BackpressureToReceiverFn, ChannelId, ChannelState, PointerOffset,
    ZeroCopyConnection, ZeroCopyConnectionBuilder, ZeroCopyCreationError, ZeroCopyPortDetails,
    ZeroCopyPortRemoveError, ZeroCopyReclaimError, ZeroCopySendError, ZeroCopySender,
};

use crate::storage::WholeStorage;

type Storage = WholeStorage<details::SharedManagementData>;
type Inner = details::Connection<Storage>;
type InnerSender = details::Sender<Storage>;

/// Two queues between a publisher and a subscription.
#[derive(Debug)]
pub(crate) struct Connection;

/// Makes an end of a connection.
#[derive(Debug)]
pub(crate) struct Builder {
    inner: details::Builder<Storage>,
    chunks: usize,
}

/// The publisher's end.
#[derive(Debug)]
pub(crate) struct Sender {
    inner: InnerSender,
    /// How many chunks the publisher has: more cannot come back without a message in between.
    chunks: usize,
    returned: AtomicUsize,
    is_broken: AtomicBool,
}

impl Sender {
    fn break_off(&self) {
        if !self.is_broken.swap(true, Ordering::Relaxed) {
            tracing::error!(
                target: "feros::shm",
                "a subscription gets no more messages by shared memory: what it returns is \
                 nonsense; find the process that writes into the shared memory of this user, and \
                 start both sides again"
            );
        }
    }

    fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}

impl ZeroCopySender for Sender {
    fn try_send(
        &self,
        chunk: PointerOffset,
        sample_bytes: usize,
        channel: ChannelId,
    ) -> Result<Option<PointerOffset>, ZeroCopySendError> {
        if self.is_broken() {
            return Err(ZeroCopySendError::ConnectionCorrupted);
        }
        self.returned.store(0, Ordering::Relaxed);
        self.inner.try_send(chunk, sample_bytes, channel)
    }

    fn blocking_send<F: BackpressureToReceiverFn>(
        &self,
        chunk: PointerOffset,
        sample_bytes: usize,
        channel: ChannelId,
        handler: F,
        action: BackpressureToReceiverAction,
    ) -> Result<Option<PointerOffset>, ZeroCopySendError> {
        if self.is_broken() {
            return Err(ZeroCopySendError::ConnectionCorrupted);
        }
        self.returned.store(0, Ordering::Relaxed);
        self.inner.blocking_send(chunk, sample_bytes, channel, handler, action)
    }

    fn reclaim(&self, channel: ChannelId) -> Result<Option<PointerOffset>, ZeroCopyReclaimError> {
        if self.is_broken() {
            return Ok(None);
        }
        match self.inner.reclaim(channel) {
            Ok(Some(_)) if self.returned.fetch_add(1, Ordering::Relaxed) >= self.chunks => {
                self.break_off();
                Ok(None)
            }
            Err(_) => {
                self.break_off();
                Ok(None)
            }
            returned => returned,
        }
    }

    unsafe fn acquire_used_offsets<F: FnMut(PointerOffset)>(&self, callback: F) {
        // SAFETY: asks the same of the caller.
        unsafe { self.inner.acquire_used_offsets(callback) };
    }
}

impl ZeroCopyPortDetails for Sender {
    fn number_of_channels(&self) -> usize {
        self.inner.number_of_channels()
    }

    fn buffer_size(&self) -> usize {
        self.inner.buffer_size()
    }

    fn has_enabled_safe_overflow(&self) -> bool {
        self.inner.has_enabled_safe_overflow()
    }

    fn max_borrowed_chunks(&self) -> usize {
        self.inner.max_borrowed_chunks()
    }

    fn max_supported_shared_memory_segments(&self) -> u8 {
        self.inner.max_supported_shared_memory_segments()
    }

    fn is_connected(&self) -> bool {
        self.inner.is_connected()
    }

    fn __internal_get_channel_state(&self, channel: ChannelId) -> &AtomicU64 {
        self.inner.__internal_get_channel_state(channel)
    }
}

impl NamedConcept for Sender {
    fn name(&self) -> &FileName {
        self.inner.name()
    }
}

impl Abandonable for Sender {
    unsafe fn abandon_in_place(mut this: NonNull<Self>) {
        // SAFETY: the caller hands over a value of its own, which nobody uses afterwards.
        unsafe { InnerSender::abandon_in_place(NonNull::from_mut(&mut this.as_mut().inner)) };
    }
}

impl NamedConceptBuilder<Connection> for Builder {
    fn new(name: &FileName) -> Self {
        Self { inner: details::Builder::new(name), chunks: 0 }
    }

    fn config(mut self, config: &<Connection as NamedConceptMgmt>::Configuration) -> Self {
        self.inner = self.inner.config(config);
        self
    }
}

impl ZeroCopyConnectionBuilder<Connection> for Builder {
    fn buffer_size(mut self, value: usize) -> Self {
        self.inner = self.inner.buffer_size(value);
        self
    }

    fn enable_safe_overflow(mut self, value: bool) -> Self {
        self.inner = self.inner.enable_safe_overflow(value);
        self
    }

    fn receiver_max_borrowed_chunks_per_channel(mut self, value: usize) -> Self {
        self.inner = self.inner.receiver_max_borrowed_chunks_per_channel(value);
        self
    }

    fn max_supported_shared_memory_segments(mut self, value: u8) -> Self {
        self.inner = self.inner.max_supported_shared_memory_segments(value);
        self
    }

    fn number_of_chunks_per_segment(mut self, value: usize) -> Self {
        self.inner = self.inner.number_of_chunks_per_segment(value);
        self.chunks = value; // a pool is one segment
        self
    }

    fn number_of_channels(mut self, value: usize) -> Self {
        self.inner = self.inner.number_of_channels(value);
        self
    }

    fn initial_channel_state(mut self, value: ChannelState) -> Self {
        self.inner = self.inner.initial_channel_state(value);
        self
    }

    fn timeout(mut self, value: Duration) -> Self {
        self.inner = self.inner.timeout(value);
        self
    }

    fn create_sender(self) -> Result<Sender, ZeroCopyCreationError> {
        let inner = self.inner.create_sender()?;
        let (returned, is_broken) = (AtomicUsize::new(0), AtomicBool::new(false));
        Ok(Sender { inner, chunks: self.chunks, returned, is_broken })
    }

    fn create_receiver(self) -> Result<details::Receiver<Storage>, ZeroCopyCreationError> {
        self.inner.create_receiver()
    }
}

impl ZeroCopyConnection for Connection {
    type Sender = Sender;
    type Receiver = details::Receiver<Storage>;
    type Builder = Builder;

    unsafe fn remove_sender(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<(), ZeroCopyPortRemoveError> {
        // SAFETY: asks the same of the caller.
        unsafe { Inner::remove_sender(name, config) }
    }

    unsafe fn remove_receiver(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<(), ZeroCopyPortRemoveError> {
        // SAFETY: asks the same of the caller.
        unsafe { Inner::remove_receiver(name, config) }
    }

    fn does_support_safe_overflow() -> bool {
        Inner::does_support_safe_overflow()
    }

    fn has_configurable_buffer_size() -> bool {
        Inner::has_configurable_buffer_size()
    }
}

impl NamedConceptMgmt for Connection {
    type Configuration = <Inner as NamedConceptMgmt>::Configuration;

    unsafe fn remove_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptRemoveError> {
        // SAFETY: asks the same of the caller.
        unsafe { Inner::remove_cfg(name, config) }
    }

    fn does_exist_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptDoesExistError> {
        Inner::does_exist_cfg(name, config)
    }

    fn list_cfg(config: &Self::Configuration) -> Result<Vec<FileName>, NamedConceptListError> {
        Inner::list_cfg(config)
    }

    fn remove_path_hint(path: &Path) -> Result<(), NamedConceptPathHintRemoveError> {
        Inner::remove_path_hint(path)
    }
}
