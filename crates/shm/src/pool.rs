//! The memory of a publisher's messages: chunks of one size, and which of their pages are there.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iceoryx2::port::DegradationAction;
use iceoryx2::prelude::{AllocationStrategy, BackpressureStrategy};
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use rustix::io::Errno;

use crate::error::{LoanError, UnavailableError};
use crate::ipc::Ipc;
use crate::limits::check_file_size;
use crate::node::{check_space, refused};
use crate::populate::{Pages, free_bytes, make_present};
use crate::service::{LEADING_BYTES, MAX_MESSAGE_BYTES, Service, WireHeader};
use crate::storage;

pub(crate) type Port = iceoryx2::port::publisher::Publisher<Ipc, [u8], WireHeader>;

/// Memory for a message of any size that its pool allows.
type Chunk = SampleMutUninit<Ipc, [MaybeUninit<u8>], WireHeader>;

/// More than iceoryx2 and [`WireHeader`] put before a message.
const HEAD_BYTES: usize = 256;

/// What messages of errors call it.
const A_POOL: &str = "a publisher's pool";

/// The books of a pool lie in shared memory.
const SCRIBBLED: &str = "memory is lent where the pool has none; another process of this user \
                         writes into shared memory, or iceoryx2 lays out messages in another way";

/// How many messages a pool is made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolLimits {
    /// Every queue full, every view held, every loan out.
    pub(crate) max_messages: usize,
    /// What may be lent and not sent, the spare chunk included.
    pub(crate) max_loans: usize,
}

impl PoolLimits {
    /// Whether the books of a pool fit into `/dev/shm`; its messages are looked at one by one.
    pub(crate) fn check_free(self) -> Result<(), UnavailableError> {
        let free = free_bytes().map_err(|cause| UnavailableError::Refused {
            what: "a look at /dev/shm",
            cause: cause.to_string(),
        })?;
        check_space(self.max_messages as u64 * 8 + 64 * 1024, free)
    }
}
/// One segment of memory, and the port that messages in it are sent from.
pub(crate) struct Pool {
    pub(crate) port: Port,
    /// Smaller pools that nothing is sent from any more, for readers that still have their messages
    /// to read.
    pub(crate) retired: Vec<Port>,
    pub(crate) retired_bytes: u64,
    /// Counts the growths; a loan remembers where it comes from.
    pub(crate) generation: u64,
    /// The largest message that fits.
    pub(crate) message_bytes: usize,
    pub(crate) pages: Pages,
    /// The chunk for the next message: lending one costs a walk through iceoryx2's books, which is
    /// done when a message is out and not when the next one waits for it.
    pub(crate) spare: Option<Chunk>,
    /// Number of the last message sent.
    pub(crate) sequence: u64,
}

impl Pool {
    pub(crate) fn new(
        service: &Service,
        limits: PoolLimits,
        message_bytes: usize,
        generation: u64,
        failed_connections: &Arc<AtomicU64>,
    ) -> Result<Self, UnavailableError> {
        limits.check_free()?;
        // Whole pages, and room for the messages to vary: address space costs nothing.
        let stride = (message_bytes.max(1) + HEAD_BYTES).next_power_of_two().max(4096);
        let message_bytes = (stride - HEAD_BYTES).min(MAX_MESSAGE_BYTES);
        check_file_size((limits.max_messages as u64).saturating_mul(stride as u64))?;
        let port = Self::create_port(service, limits, message_bytes, failed_connections)?;
        // Where the chunks lie: lending two shows the first place and the distance. The first one's
        // head is there from the start; the second one's lies behind the first one's message.
        let lend = || port.loan_slice_uninit(1).map_err(|cause| refused(A_POOL, cause));
        let first = lend()?;
        let base = chunk_address(first.header());
        make_present(base + message_bytes, 2 * HEAD_BYTES).map_err(lacking)?;
        let second = lend()?;
        let stride = chunk_address(second.header()).wrapping_sub(base);
        if !(message_bytes..=message_bytes + HEAD_BYTES).contains(&stride) {
            return Err(refused(A_POOL, SCRIBBLED));
        }
        drop(second);
        drop(first); // last, so that it is the next to be lent
        let pages = Pages::new(base, stride, limits.max_messages, HEAD_BYTES).map_err(lacking)?;
        Ok(Self {
            port,
            retired: Vec::new(),
            retired_bytes: 0,
            generation,
            message_bytes,
            pages,
            spare: None,
            sequence: 0,
        })
    }

    /// A port that is connected to all subscriptions: what one of them missed would be missed in
    /// silence.
    fn create_port(
        service: &Service,
        limits: PoolLimits,
        message_bytes: usize,
        failed_connections: &Arc<AtomicU64>,
    ) -> Result<Port, UnavailableError> {
        let failed = Arc::clone(failed_connections);
        let failed_before = failed.load(Ordering::Relaxed);
        storage::forget_failure();
        let port = service
            .publisher_builder()
            .max_loaned_samples(limits.max_loans)
            .initial_max_slice_len(LEADING_BYTES + message_bytes)
            .allocation_strategy(AllocationStrategy::Static)
            .backpressure_strategy(BackpressureStrategy::DiscardData)
            .set_degradation_handler(move |_, _| {
                failed.fetch_add(1, Ordering::Relaxed);
                DegradationAction::Ignore
            })
            .create()
            .map_err(|cause| refused(A_POOL, cause))?;
        if failed_connections.load(Ordering::Relaxed) != failed_before {
            return Err(refused(A_POOL, "a subscription could not be connected"));
        }
        Ok(port)
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.retired_bytes + self.pages.total_bytes()
    }

    /// A chunk whose pages are present.
    pub(crate) fn take_chunk(
        &mut self,
        size_bytes: usize,
        limit_bytes: Option<u64>,
    ) -> Result<SampleMut<Ipc, [u8], WireHeader>, LoanError> {
        let mut chunk = self.spare.take().map_or_else(|| self.lend_chunk(), Ok)?;
        let address = chunk_address(chunk.header());
        let length = start_of_message(chunk.user_header_mut()).addr().get() + size_bytes - address;
        let needed_bytes = self.pages.missing_bytes(address, length);
        let used_bytes = self.used_bytes();
        if let Some(limit_bytes) = limit_bytes
            && needed_bytes > 0
            && used_bytes + needed_bytes > limit_bytes
        {
            return Err(LoanError::Exhausted { needed_bytes, used_bytes, limit_bytes });
        }
        self.pages.provide(address, length).map_err(|_| full(length))?;
        // SAFETY: every bit pattern is a u8, and it is mapped memory of a file, zero or written
        // before. Only the part whose pages were made present just now is ever touched.
        Ok(unsafe { chunk.assume_init() })
    }

    /// A chunk of which only the head is sure to be present.
    pub(crate) fn lend_chunk(&mut self) -> Result<Chunk, LoanError> {
        let chunk = self
            .port
            .loan_slice_uninit(LEADING_BYTES + self.message_bytes)
            .map_err(|cause| LoanError::Refused { cause: format!("{cause:?}") })?;
        let address = chunk_address(chunk.header());
        if !self.pages.can_lend(address) {
            return Err(LoanError::Refused { cause: SCRIBBLED.to_owned() });
        }
        self.pages.lent(address).map_err(|_| full(HEAD_BYTES))?;
        Ok(chunk)
    }
}

/// No page could be had for the head of a message.
fn lacking(cause: Errno) -> UnavailableError {
    match cause {
        Errno::NOSPC | Errno::FAULT => UnavailableError::Full {
            needed_bytes: HEAD_BYTES as u64,
            free_bytes: free_bytes().unwrap_or(0),
        },
        other => UnavailableError::Refused { what: A_POOL, cause: other.to_string() },
    }
}

fn full(needed_bytes: usize) -> LoanError {
    LoanError::SharedMemoryFull {
        needed_bytes: needed_bytes as u64,
        free_bytes: free_bytes().unwrap_or(0),
    }
}

fn chunk_address<T>(header: &T) -> usize {
    std::ptr::from_ref(header).expose_provenance()
}

/// Where the message behind a header lies: the payload is aligned to 8 and begins with
/// [`LEADING_BYTES`]. iceoryx2 would tell, but by the length that it has written into shared
/// memory, where a stranger may have changed it already.
pub(crate) fn start_of_message(header: &mut WireHeader) -> NonNull<u8> {
    // So there is no padding between header and payload.
    const { assert!(size_of::<WireHeader>().is_multiple_of(8) && align_of::<WireHeader>() == 8) };
    let behind = std::ptr::from_mut(header)
        .cast::<u8>()
        .wrapping_add(size_of::<WireHeader>() + LEADING_BYTES);
    NonNull::new(behind).expect("memory does not end at address zero")
}
