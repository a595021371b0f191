//! The memory of a publisher's messages, which consists of chunks of one size, and a record of
//! which pages are present.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iceoryx2::port::DegradationAction;
use iceoryx2::port::update_connections::{ConnectionFailure, UpdateConnections};
use iceoryx2::prelude::{AllocationStrategy, BackpressureStrategy};
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use rustix::io::Errno;

use crate::error::{LoanError, UnavailableError};
use crate::ipc::Ipc;
use crate::ipc::service::{HEAD_BYTES, MAX_MESSAGE_BYTES, Service, WireHeader};
use crate::limits::check_file_size;
use crate::mapped_file::MappedFile;
use crate::node::{check_space, refused};
use crate::page::page_bytes;
use crate::rings::chunks::Chunks;
use crate::rings::connection;
use crate::rings::sending_end::{SendingEnd, Stride};
use crate::storage::populate::{Pages, free_bytes, make_present, small_files_bytes};
use crate::storage::{self, take_sparse};

type Port = iceoryx2::port::publisher::Publisher<Ipc, [u8], ()>;
type Chunk = SampleMutUninit<Ipc, [MaybeUninit<u8>], ()>;

/// The number of bytes that are reserved before a message. iceoryx2 uses fewer bytes.
const PORT_HEAD_BYTES: usize = 256;

/// The size of the smallest chunk, whatever the size of a page is. If a page is larger, several
/// chunks share it, so that small messages do not take a whole page each.
const SMALLEST_CHUNK_BYTES: usize = 4096;

/// The name of a pool in error messages.
const A_POOL: &str = "a publisher's pool";

/// The error when iceoryx2's records of a pool, which lie in shared memory, are wrong.
const SCRIBBLED: &str = "memory outside of the pool is lent; another process of this user writes \
                         into shared memory, or iceoryx2 lays out messages in another way";

/// The error if no chunk is free, although the pool has room for all messages that can be in use.
const ALL_IN_USE: &str = "all of the pool's memory is in use, more than its subscriptions can have";

/// The numbers of messages for which a pool is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolLimits {
    /// The number of messages that can be in use at the same time: in queues, as views (samples
    /// that subscriptions hold) and as loans.
    pub(crate) max_messages: usize,
    /// The number of messages that may be lent but not sent yet.
    pub(crate) max_loans: usize,
}

impl PoolLimits {
    /// Checks whether iceoryx2's records of a pool fit into `/dev/shm`. The room for the messages
    /// is checked each time a message is lent.
    pub(crate) fn check_free(self) -> Result<(), UnavailableError> {
        let free = free_bytes().map_err(|cause| UnavailableError::Refused {
            what: "reading the free space of /dev/shm",
            cause: cause.to_string(),
        })?;
        check_space(self.max_messages as u64 * 8 + small_files_bytes(page_bytes()), free)
    }
}

/// A segment of memory, and the port that makes it known to subscriptions. iceoryx2 makes and
/// removes the segment and the port. The pool itself records which chunks are in use, and by which
/// subscriptions.
#[repr(C)] // the fields that each message needs are next to each other
pub(crate) struct Pool {
    memory: Arc<MappedFile>,
    stride: Stride,
    /// The size of the largest message that fits.
    message_bytes: usize,
    ends: Vec<SendingEnd>,
    chunks: Chunks,
    pages: Pages,
    port: Port,
    /// Whether a pool for larger messages has replaced this pool.
    is_retired: bool,
}

impl Pool {
    pub(crate) fn new(
        service: &Service,
        limits: PoolLimits,
        message_bytes: usize,
        failed_connections: &Arc<AtomicU64>,
    ) -> Result<Self, UnavailableError> {
        limits.check_free()?;
        let chunk_bytes = chunk_bytes(message_bytes);
        let message_bytes = (chunk_bytes - PORT_HEAD_BYTES).min(MAX_MESSAGE_BYTES);
        check_file_size((limits.max_messages as u64).saturating_mul(chunk_bytes as u64))?;
        let made = create_port(service, limits, message_bytes, failed_connections)?;
        let Made { port, memory, ends } = made;
        let stride = find_stride(&port, &memory, message_bytes)?;
        let end = limits.max_messages.checked_mul(stride.bytes).map(|bytes| stride.first + bytes);
        if end.is_none_or(|end| end > memory.size_bytes()) {
            return Err(refused(A_POOL, SCRIBBLED));
        }
        Ok(Self {
            port,
            memory,
            stride,
            chunks: Chunks::new(limits.max_messages),
            pages: Pages::default(),
            ends,
            message_bytes,
            is_retired: false,
        })
    }

    pub(crate) fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// The memory that the messages have taken from the system.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.pages.total_bytes()
    }

    /// The largest number of messages that have been in use at the same time.
    pub(crate) fn peak_messages(&self) -> usize {
        self.chunks.seen()
    }

    /// The mapping of the memory, for loans that exist longer than the port.
    pub(crate) fn memory(&self) -> &Arc<MappedFile> {
        &self.memory
    }

    /// Lends a chunk for a message, whose size must fit, and makes its pages present.
    /// `others_bytes` is other memory that counts towards the limit.
    pub(crate) fn lend(
        &mut self,
        size_bytes: usize,
        limit_bytes: Option<u64>,
        others_bytes: u64,
    ) -> Result<usize, LoanError> {
        let lent = self.chunks.lend().or_else(|| self.lend_returned());
        let chunk = lent.ok_or_else(|| LoanError::Refused { cause: ALL_IN_USE.to_owned() })?;
        let length = HEAD_BYTES + size_bytes;
        if self.pages.missing_bytes(chunk, length) == 0 {
            return Ok(chunk);
        }
        match self.provide(chunk, length, limit_bytes, others_bytes) {
            Ok(()) => Ok(chunk),
            Err(error) => {
                self.chunks.put_last(chunk);
                self.lend_present(length).ok_or(error)
            }
        }
    }

    /// Takes back the chunks that have been returned since the last message, and lends one of them.
    /// This is called if all other chunks are in use.
    #[cold]
    fn lend_returned(&mut self) -> Option<usize> {
        self.reclaim();
        self.chunks.lend()
    }

    /// Lends a chunk whose memory is already present. This is called if no further memory is
    /// available.
    #[cold]
    fn lend_present(&mut self, length: usize) -> Option<usize> {
        self.reclaim();
        self.chunks.lend_where(|chunk| self.pages.missing_bytes(chunk, length) == 0)
    }

    fn reclaim(&mut self) {
        for end in &mut self.ends {
            end.reclaim(self.stride, &mut self.chunks);
        }
    }

    #[cold]
    fn provide(
        &mut self,
        chunk: usize,
        length: usize,
        limit_bytes: Option<u64>,
        others_bytes: u64,
    ) -> Result<(), LoanError> {
        let needed_bytes = self.pages.missing_bytes(chunk, length);
        let used_bytes = others_bytes + self.used_bytes();
        if let Some(limit_bytes) = limit_bytes
            && used_bytes + needed_bytes > limit_bytes
        {
            return Err(LoanError::Exhausted { needed_bytes, used_bytes, limit_bytes });
        }
        let address = self.chunk(chunk).as_ptr().expose_provenance();
        self.pages.provide(chunk, address, length).map_err(|_| LoanError::SharedMemoryFull {
            needed_bytes: length as u64,
            free_bytes: free_bytes().unwrap_or(0),
        })
    }

    /// The start of a chunk.
    fn chunk(&self, chunk: usize) -> NonNull<u8> {
        let place = self.stride.place_of(chunk);
        debug_assert!(place + self.stride.bytes <= self.memory.size_bytes());
        // SAFETY: all chunks are within the mapping, which was checked when the pool was made.
        unsafe { self.memory.start().add(place) }
    }

    /// The start of the message in a chunk. Byte 4 of the message is aligned to 8.
    pub(crate) fn message(&self, chunk: usize) -> NonNull<u8> {
        // SAFETY: a chunk is larger than the head before its message.
        unsafe { self.chunk(chunk).add(HEAD_BYTES) }
    }

    /// Takes back a chunk that was lent but not sent.
    pub(crate) fn put_back(&mut self, chunk: usize) {
        self.chunks.settle(chunk, 0);
    }

    /// Sends a lent chunk to all connected subscriptions. Returns their number.
    pub(crate) fn send(
        &mut self,
        chunk: usize,
        header: WireHeader,
    ) -> Result<usize, ConnectionFailure> {
        // SAFETY: the chunk is lent, so no other code reads or writes it. Its pages are present,
        // and chunks are aligned to 8 bytes.
        unsafe { self.chunk(chunk).cast::<WireHeader>().write(header) };
        let (stride, chunks) = (self.stride, &mut self.chunks);
        let (mut sent, mut have_left) = (0, false);
        for end in &mut self.ends {
            sent += u32::from(end.send(chunk, stride, chunks));
            have_left |= end.is_left();
        }
        self.chunks.settle(chunk, sent);
        if have_left {
            self.refresh()?;
        }
        Ok(sent as usize)
    }

    /// Connects to new subscriptions, and takes back the chunks of subscriptions that have left.
    #[cold]
    pub(crate) fn refresh(&mut self) -> Result<(), ConnectionFailure> {
        let updated = self.port.update_connections();
        if connection::have_changed() {
            self.take_over_ends();
        }
        updated
    }

    #[cold]
    fn take_over_ends(&mut self) {
        let ended = self.ends.extract_if(.., |end| end.has_ended());
        ended.for_each(|end| end.end(&mut self.chunks));
        self.ends.extend(connection::take_senders().into_iter().map(SendingEnd::new));
        if self.is_retired {
            self.ends.iter().for_each(SendingEnd::replace);
        }
    }

    /// Tells the subscriptions that a pool for larger messages has replaced this pool. Call this
    /// when the other pool exists, before a message is sent from it.
    pub(crate) fn retire(&mut self) {
        self.is_retired = true;
        self.ends.iter().for_each(SendingEnd::replace);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // The ends are dropped before the port, because the port's own handles must be the last
        // handles, so that iceoryx2 removes its files in its own order.
        self.ends.clear();
    }
}

/// The size of the chunks of a pool for messages of this size. The chunks leave room for messages
/// of varying size, because address space costs nothing.
fn chunk_bytes(message_bytes: usize) -> usize {
    (message_bytes.max(1) + PORT_HEAD_BYTES).next_power_of_two().max(SMALLEST_CHUNK_BYTES)
}

/// The parts that iceoryx2 makes for a pool.
struct Made {
    port: Port,
    /// The memory of the pool's messages.
    memory: Arc<MappedFile>,
    ends: Vec<SendingEnd>,
}

/// Makes a port that is connected to all subscriptions. Fails if a subscription cannot be
/// connected, because that subscription would lose messages without being noticed.
fn create_port(
    service: &Service,
    limits: PoolLimits,
    message_bytes: usize,
    failed_connections: &Arc<AtomicU64>,
) -> Result<Made, UnavailableError> {
    let failed = Arc::clone(failed_connections);
    let failed_before = failed.load(Ordering::Relaxed);
    storage::forget_failure();
    let port = service
        .publisher_builder()
        .max_loaned_samples(limits.max_loans)
        .override_sample_preallocation(move |_| limits.max_messages)
        .initial_max_slice_len(HEAD_BYTES + message_bytes)
        .allocation_strategy(AllocationStrategy::Static)
        .backpressure_strategy(BackpressureStrategy::DiscardData)
        .set_degradation_handler(move |_, _| {
            failed.fetch_add(1, Ordering::Relaxed);
            DegradationAction::Ignore
        })
        .create();
    let (memory, ends) = (take_sparse(), connection::take_senders());
    let port = port.map_err(|cause| refused(A_POOL, cause))?;
    if failed_connections.load(Ordering::Relaxed) != failed_before {
        return Err(refused(A_POOL, "a subscription could not be connected"));
    }
    let memory = memory.ok_or_else(|| refused(A_POOL, SCRIBBLED))?;
    Ok(Made { port, memory, ends: ends.into_iter().map(SendingEnd::new).collect() })
}

/// Finds the positions of the chunks. For this, iceoryx2 lends two chunks (and never lends any
/// chunk later). Their addresses show the first offset and the distance between chunks. The head of
/// the first chunk is present from the start. The head of the second chunk is after the first
/// message, so its pages are made present here.
fn find_stride(
    port: &Port,
    memory: &MappedFile,
    message_bytes: usize,
) -> Result<Stride, UnavailableError> {
    let lend = || port.loan_slice_uninit(1).map_err(|cause| refused(A_POOL, cause));
    let address_of = |chunk: &Chunk| std::ptr::from_ref(chunk.header()).expose_provenance();
    let one = lend()?;
    let base = address_of(&one);
    make_present(base + message_bytes, 2 * PORT_HEAD_BYTES).map_err(lacking)?;
    let other = lend()?;
    let bytes = address_of(&other).wrapping_sub(base);
    let first = base.checked_sub(memory.start().addr().get());
    let fits = (HEAD_BYTES + message_bytes..=message_bytes + PORT_HEAD_BYTES).contains(&bytes);
    match first {
        Some(first) if fits && bytes.is_multiple_of(8) && base.is_multiple_of(8) => {
            Ok(Stride { first, bytes })
        }
        _ => Err(refused(A_POOL, SCRIBBLED)),
    }
}

/// The error if no page is available for the head of a message.
fn lacking(cause: Errno) -> UnavailableError {
    match cause {
        Errno::NOSPC | Errno::FAULT => UnavailableError::Full {
            needed_bytes: PORT_HEAD_BYTES as u64,
            free_bytes: free_bytes().unwrap_or(0),
        },
        other => UnavailableError::Refused { what: A_POOL, cause: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_room_for_larger_messages_than_the_expected() {
        for (message, chunk) in [(0, 4096), (3840, 4096), (3841, 8192), (1 << 20, 2 << 20)] {
            assert_eq!(chunk_bytes(message), chunk, "{message}");
        }
    }
}
