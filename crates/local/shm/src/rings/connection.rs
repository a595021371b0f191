//! Connections between a publisher's port and a subscription's port. iceoryx2 makes and ends the
//! connections. Their [`ring`](super::ring) is Feros's own code.
//!
//! iceoryx2 finds new and removed ports, names the files, and removes the files of killed
//! processes. The work per message is done without iceoryx2, by the ends of a connection
//! (`sending_end`, `receiving_end`). After a call that makes a port or looks for other ports, the
//! calling code takes over the ends that iceoryx2 has made on its thread. iceoryx2 itself sees
//! neither the messages in the rings nor those that come back.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use iceoryx2::prelude::{FileName, Path, ZeroCopySend};
use iceoryx2_bb_concurrency::atomic::AtomicU64;
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_bb_posix::access_mode::AccessMode;
use iceoryx2_cal::dynamic_storage::{
    DynamicStorage, DynamicStorageBuilder, DynamicStorageCreateError, DynamicStorageOpenError,
    DynamicStorageOpenOrCreateError,
};
use iceoryx2_cal::named_concept::{
    NamedConcept, NamedConceptBuilder, NamedConceptDoesExistError, NamedConceptListError,
    NamedConceptMgmt, NamedConceptPathHintRemoveError, NamedConceptRemoveError,
};
use iceoryx2_cal::zero_copy_connection::{
    BackpressureToReceiverAction, BackpressureToReceiverFn, CHANNEL_STATE_OPEN, ChannelId,
    ChannelState, PointerOffset, ZeroCopyConnection, ZeroCopyConnectionBuilder,
    ZeroCopyCreationError, ZeroCopyPortDetails, ZeroCopyPortRemoveError, ZeroCopyReceiveError,
    ZeroCopyReceiver, ZeroCopyReclaimError, ZeroCopyReleaseError, ZeroCopySendError,
    ZeroCopySender,
};

use super::ring::{Positions, Ring, Size};
use crate::mapped_file::MappedFile;
use crate::storage::{WholeStorage, take_sparse};

/// The beginning of a connection's file; the slots of the rings follow.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Shared {
    /// The sides that are present, as the bits [`SENDER`] and [`RECEIVER`]. [`ENDED`] means that
    /// the connection has ended forever.
    sides: AtomicU8,
    /// A word for messaging patterns of iceoryx2 that Feros does not use.
    channel: AtomicU64,
    positions: Positions,
}

// SAFETY: the type consists only of atomics, in the layout of C.
unsafe impl ZeroCopySend for Shared {}

const SENDER: u8 = 1;
const RECEIVER: u8 = 2;
const ENDED: u8 = 0x80;

type Storage = WholeStorage<Shared>;
type Configuration = <Storage as NamedConceptMgmt>::Configuration;
type StorageBuilder<'a> = <Storage as DynamicStorage<Shared>>::Builder<'a>;

/// Returns the approximate size of a connection's file.
pub(crate) fn size_bytes(depth: usize, views: usize) -> u64 {
    (size_of::<Shared>() + Size::new(depth, views).places() * size_of::<u64>()) as u64
}

/// One side of a connection. The side that leaves last removes the connection's file.
#[derive(Debug)]
pub(crate) struct Connected {
    storage: Storage,
    name: FileName,
    side: u8,
    size: Size,
    depth: usize,
    views: usize,
}

impl Connected {
    fn ring(&self) -> Ring<'_> {
        let positions = &self.storage.get().positions;
        Ring::new(positions, self.storage.words(), self.size).expect("checked when it was opened")
    }

    fn details(&self) -> &Shared {
        self.storage.get()
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        leave(&self.storage, self.side);
    }
}

/// The rings of one side, stored so that all fields that a message uses are close to each other.
#[derive(Debug)]
pub(crate) struct Rings {
    rings: Ring<'static>,
    connected: Arc<Connected>,
}

impl Rings {
    pub(crate) fn new(connected: Arc<Connected>) -> Self {
        let rings = connected.ring();
        // SAFETY: the rings lie in memory that stays mapped as long as `connected` lives, which is
        // stored in the same struct; the rings are lent only while `self` is borrowed.
        let rings = unsafe { std::mem::transmute::<Ring<'_>, Ring<'static>>(rings) };
        Self { rings, connected }
    }

    pub(crate) fn get(&self) -> &Ring<'_> {
        &self.rings
    }

    /// Whether iceoryx2 has ended the connection.
    pub(crate) fn have_ended(&self) -> bool {
        Arc::strong_count(&self.connected) == 1
    }
}

/// Records that a side is now present.
fn enter(shared: &Shared, side: u8) -> Result<(), ZeroCopyCreationError> {
    let entered = |sides: u8| (sides & (side | ENDED) == 0).then_some(sides | side);
    match shared.sides.fetch_update(Ordering::AcqRel, Ordering::Acquire, entered) {
        Ok(_) => Ok(()),
        Err(sides) if sides & ENDED != 0 => Err(ZeroCopyCreationError::IsBeingCleanedUp),
        Err(_) => Err(ZeroCopyCreationError::AnotherInstanceIsAlreadyConnected),
    }
}

/// Records that a side has left. If it was the last side, its storage removes the file.
fn leave(storage: &Storage, side: u8) {
    if side == RECEIVER {
        storage.get().positions.leave();
    }
    let left = |sides: u8| match sides & !side {
        0 => ENDED,
        others => others,
    };
    let sides = &storage.get().sides;
    let before = sides.fetch_update(Ordering::AcqRel, Ordering::Acquire, |sides| Some(left(sides)));
    if before.is_ok_and(|before| left(before) == ENDED) {
        storage.acquire_ownership();
    }
}

/// A subscription's side, and the memory of the publisher's messages if it could be mapped.
pub(crate) struct NewReceiver {
    pub(crate) connected: Arc<Connected>,
    pub(crate) memory: Option<Arc<MappedFile>>,
}

thread_local! {
    static HAVE_CHANGED: Cell<bool> = const { Cell::new(false) };
    static SENDERS: RefCell<Vec<Arc<Connected>>> = const { RefCell::new(Vec::new()) };
    static RECEIVERS: RefCell<Vec<NewReceiver>> = const { RefCell::new(Vec::new()) };
}

/// Whether iceoryx2 has made or ended connections on this thread since the last call.
pub(crate) fn have_changed() -> bool {
    HAVE_CHANGED.get() && HAVE_CHANGED.replace(false)
}

/// Returns the publishers' sides that iceoryx2 has made on this thread since the last call.
pub(crate) fn take_senders() -> Vec<Arc<Connected>> {
    SENDERS.take()
}

/// Returns the subscriptions' sides that iceoryx2 has made on this thread since the last call.
pub(crate) fn take_receivers() -> Vec<NewReceiver> {
    let mut receivers = RECEIVERS.take();
    complete_last(&mut receivers);
    receivers
}

/// Adds the publisher's memory to the last receiver. iceoryx2 opens this memory right after the
/// connection.
fn complete_last(receivers: &mut [NewReceiver]) {
    let opened = take_sparse();
    if let Some(last) = receivers.last_mut() {
        last.memory = last.memory.take().or(opened);
    }
}

/// The type through which iceoryx2 makes Feros's connections.
#[derive(Debug)]
pub(crate) struct IceoryxConnection;

/// Makes a side of a connection.
#[derive(Debug)]
pub(crate) struct Builder {
    name: FileName,
    config: Configuration,
    depth: usize,
    views: usize,
    channels: usize,
    makes_room: bool,
    initial_channel: ChannelState,
}

impl Builder {
    fn connect(self, side: u8) -> Result<Arc<Connected>, ZeroCopyCreationError> {
        if self.channels != 1 {
            return Err(ZeroCopyCreationError::IncompatibleNumberOfChannels);
        }
        if !self.makes_room {
            return Err(ZeroCopyCreationError::IncompatibleOverflowSetting);
        }
        let size = Size::new(self.depth, self.views);
        let storage = self.open_or_create(size)?;
        enter(storage.get(), side)?;
        if storage.has_ownership() {
            storage.release_ownership(); // the side that leaves last removes the file
        }
        let connected = Connected {
            storage,
            name: self.name,
            side,
            size,
            depth: self.depth,
            views: self.views,
        };
        if connected.storage.words().len() != size.places() {
            return Err(ZeroCopyCreationError::IncompatibleBufferSize);
        }
        HAVE_CHANGED.set(true);
        Ok(Arc::new(connected))
    }

    fn open_or_create(&self, size: Size) -> Result<Storage, ZeroCopyCreationError> {
        let initial = self.initial_channel.value();
        let builder = <StorageBuilder<'_> as NamedConceptBuilder<Storage>>::new(&self.name);
        let opened = builder
            .config(&self.config)
            .supplementary_size(size.places() * size_of::<u64>())
            .initializer(move |value, _| {
                value.write(Shared {
                    sides: AtomicU8::new(0),
                    channel: AtomicU64::new(initial),
                    positions: Positions::new(),
                });
                true
            })
            .open_or_create();
        use DynamicStorageOpenOrCreateError as Cause;
        opened.map_err(|cause| match cause {
            Cause::DynamicStorageCreateError(
                DynamicStorageCreateError::InsufficientPermissions,
            ) => ZeroCopyCreationError::InsufficientPermissions,
            Cause::DynamicStorageOpenError(DynamicStorageOpenError::VersionMismatch) => {
                ZeroCopyCreationError::VersionMismatch
            }
            Cause::DynamicStorageOpenError(
                DynamicStorageOpenError::InitializationNotYetFinalized,
            ) => ZeroCopyCreationError::InitializationNotYetFinalized,
            _ => ZeroCopyCreationError::InternalError,
        })
    }
}

/// The handle through which iceoryx2 sees one side.
#[derive(Debug)]
pub(crate) struct Handle(Arc<Connected>);

impl Drop for Handle {
    fn drop(&mut self) {
        HAVE_CHANGED.set(true);
    }
}

impl NamedConcept for Handle {
    fn name(&self) -> &FileName {
        &self.0.name
    }
}

impl Abandonable for Handle {
    unsafe fn abandon_in_place(_: NonNull<Self>) {} // does the same as the death of the process
}

impl ZeroCopyPortDetails for Handle {
    fn number_of_channels(&self) -> usize {
        1
    }

    fn buffer_size(&self) -> usize {
        self.0.depth
    }

    fn has_enabled_safe_overflow(&self) -> bool {
        true
    }

    fn max_borrowed_chunks(&self) -> usize {
        self.0.views
    }

    fn max_supported_shared_memory_segments(&self) -> u8 {
        1
    }

    fn is_connected(&self) -> bool {
        self.0.details().sides.load(Ordering::Relaxed) == SENDER | RECEIVER
    }

    fn __internal_get_channel_state(&self, _: ChannelId) -> &AtomicU64 {
        &self.0.details().channel
    }
}

impl ZeroCopySender for Handle {
    fn try_send(
        &self,
        _: PointerOffset,
        _: usize,
        _: ChannelId,
    ) -> Result<Option<PointerOffset>, ZeroCopySendError> {
        Err(ZeroCopySendError::InternalError) // no messages are sent through iceoryx2
    }

    fn blocking_send<F: BackpressureToReceiverFn>(
        &self,
        chunk: PointerOffset,
        sample_bytes: usize,
        channel: ChannelId,
        _: F,
        _: BackpressureToReceiverAction,
    ) -> Result<Option<PointerOffset>, ZeroCopySendError> {
        self.try_send(chunk, sample_bytes, channel)
    }

    fn reclaim(&self, _: ChannelId) -> Result<Option<PointerOffset>, ZeroCopyReclaimError> {
        Ok(None)
    }

    unsafe fn acquire_used_offsets<F: FnMut(PointerOffset)>(&self, _: F) {}
}

impl ZeroCopyReceiver for Handle {
    fn has_data(&self, _: ChannelId) -> bool {
        false
    }

    fn receive(&self, _: ChannelId) -> Result<Option<PointerOffset>, ZeroCopyReceiveError> {
        Ok(None)
    }

    fn release(&self, _: PointerOffset, _: ChannelId) -> Result<(), ZeroCopyReleaseError> {
        Ok(())
    }

    fn borrow_count(&self, _: ChannelId) -> usize {
        0
    }
}

impl NamedConceptBuilder<IceoryxConnection> for Builder {
    fn new(name: &FileName) -> Self {
        Self {
            name: *name,
            config: Configuration::default(),
            depth: 1,
            views: 1,
            channels: 1,
            makes_room: false,
            initial_channel: CHANNEL_STATE_OPEN,
        }
    }

    fn config(mut self, config: &Configuration) -> Self {
        self.config = config.clone();
        self
    }
}

impl ZeroCopyConnectionBuilder<IceoryxConnection> for Builder {
    fn buffer_size(mut self, value: usize) -> Self {
        self.depth = value.max(1);
        self
    }

    fn enable_safe_overflow(mut self, value: bool) -> Self {
        self.makes_room = value;
        self
    }

    fn receiver_max_borrowed_chunks_per_channel(mut self, value: usize) -> Self {
        self.views = value.max(1);
        self
    }

    fn max_supported_shared_memory_segments(self, _: u8) -> Self {
        self // ignored, since a pool has only one segment
    }

    fn number_of_chunks_per_segment(self, _: usize) -> Self {
        self
    }

    fn number_of_channels(mut self, value: usize) -> Self {
        self.channels = value;
        self
    }

    fn initial_channel_state(mut self, value: ChannelState) -> Self {
        self.initial_channel = value;
        self
    }

    /// Ignored, since making a connection never waits.
    fn timeout(self, _: Duration) -> Self {
        self
    }

    fn create_sender(self) -> Result<Handle, ZeroCopyCreationError> {
        let connected = self.connect(SENDER)?;
        SENDERS.with_borrow_mut(|senders| senders.push(Arc::clone(&connected)));
        Ok(Handle(connected))
    }

    fn create_receiver(self) -> Result<Handle, ZeroCopyCreationError> {
        let connected = self.connect(RECEIVER)?;
        RECEIVERS.with_borrow_mut(|receivers| {
            complete_last(receivers);
            receivers.push(NewReceiver { connected: Arc::clone(&connected), memory: None });
        });
        Ok(Handle(connected))
    }
}

impl IceoryxConnection {
    /// Removes a side whose process was killed.
    fn remove(
        name: &FileName,
        config: &Configuration,
        side: u8,
    ) -> Result<(), ZeroCopyPortRemoveError> {
        let builder = <StorageBuilder<'_> as NamedConceptBuilder<Storage>>::new(name);
        use DynamicStorageOpenError as Cause;
        match builder.config(config).open(AccessMode::ReadWrite) {
            Ok(storage) => {
                leave(&storage, side);
                Ok(())
            }
            Err(Cause::DoesNotExist) => Err(ZeroCopyPortRemoveError::DoesNotExist),
            Err(Cause::VersionMismatch) => Err(ZeroCopyPortRemoveError::VersionMismatch),
            Err(_) => Err(ZeroCopyPortRemoveError::InternalError),
        }
    }
}

impl ZeroCopyConnection for IceoryxConnection {
    type Sender = Handle;
    type Receiver = Handle;
    type Builder = Builder;

    unsafe fn remove_sender(
        name: &FileName,
        config: &Configuration,
    ) -> Result<(), ZeroCopyPortRemoveError> {
        Self::remove(name, config, SENDER)
    }

    unsafe fn remove_receiver(
        name: &FileName,
        config: &Configuration,
    ) -> Result<(), ZeroCopyPortRemoveError> {
        Self::remove(name, config, RECEIVER)
    }

    fn does_support_safe_overflow() -> bool {
        true
    }

    fn has_configurable_buffer_size() -> bool {
        true
    }
}

impl NamedConceptMgmt for IceoryxConnection {
    type Configuration = Configuration;

    unsafe fn remove_cfg(
        name: &FileName,
        config: &Configuration,
    ) -> Result<bool, NamedConceptRemoveError> {
        // SAFETY: the caller gives the same guarantees.
        unsafe { Storage::remove_cfg(name, config) }
    }

    fn does_exist_cfg(
        name: &FileName,
        config: &Configuration,
    ) -> Result<bool, NamedConceptDoesExistError> {
        Storage::does_exist_cfg(name, config)
    }

    fn list_cfg(config: &Configuration) -> Result<Vec<FileName>, NamedConceptListError> {
        Storage::list_cfg(config)
    }

    fn remove_path_hint(path: &Path) -> Result<(), NamedConceptPathHintRemoveError> {
        Storage::remove_path_hint(path)
    }
}
