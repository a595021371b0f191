//! A publisher's shared memory. It lends memory for messages, and sends the messages to connected
//! subscriptions.

mod pool;
mod settings;

pub use self::settings::{HostPublisherSettings, PoolUse};

use feros_engine::FailureCounter;
use feros_sync::Mutex;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iceoryx2::service::builder::publish_subscribe::PublishSubscribeCreateError;

use self::pool::Pool;
use crate::error::{CreateError, LoanError, SendError, UnavailableError};
use crate::ipc::service::{
    self, HEADER_VERSION, MAX_MESSAGE_BYTES, SampleHeader, Service, WireHeader,
};
use crate::limits::check_open_files;
use crate::mapped_file::MappedFile;
use crate::node::{HostNode, check_space, refused};
use crate::storage;
use crate::storage::populate::free_bytes;

/// The limit on the number of pools. It is enough for sizes from 4 KiB to more than
/// [`MAX_MESSAGE_BYTES`], if each pool is four times as large as the previous pool.
const MAX_POOLS: usize = 12;

/// One publisher's shared memory. Any number of threads may lend memory and send messages. They
/// never wait for readers.
///
/// iceoryx2 offers memory that grows automatically. But it then keeps records for 255 segments,
/// which cost 2 KB of heap for each message that the pool may contain (800 KB with the default
/// limits), and 255 additional bytes in each connection. So here, the pool is one fixed segment of
/// sparse memory. A message that is too large for it makes another pool, which is at least four
/// times as large and has its own port of the same service. The smaller pools are kept for readers
/// that still have messages there. Together, they take at most a third of the size of the largest
/// pool.
#[repr(C)] // a message needs only the pools
pub struct HostPublisher {
    /// This is shared with the loans, which may exist longer than the publisher.
    pools: Arc<Mutex<Pools>>,
    service: Service,
    settings: HostPublisherSettings,
    failed_connections: Arc<AtomicU64>,
    /// This is dropped last, so that the node's files are removed after the files of the ports.
    node: Arc<HostNode>,
}

/// The pools that a publisher has had, and the loans from them.
#[repr(C)] // the fields that each message needs are next to each other
struct Pools {
    /// The number of times that the pool has grown. A loan stores this number to identify its pool.
    generation: u64,
    lent: usize,
    max_loans: usize,
    limit_bytes: Option<u64>,
    /// The number of the last message that was sent.
    sequence: u64,
    type_hash: u64,
    /// The pool that lends memory, or `None` after the publisher has been dropped.
    present: Option<Pool>,
    /// The smaller pools, from which messages are not sent any longer. They are kept for readers
    /// that still have messages there.
    retired: Vec<Pool>,
    retired_bytes: u64,
    /// The memory of loans that exist longer than the publisher.
    memory_of_loans: Vec<Arc<MappedFile>>,
}

impl Pools {
    fn lend(&mut self, size_bytes: usize) -> Result<usize, LoanError> {
        let gone = || LoanError::Refused { cause: "the publisher is gone".to_owned() };
        let pool = self.present.as_mut().ok_or_else(gone)?;
        pool.lend(size_bytes, self.limit_bytes, self.retired_bytes)
    }

    fn message_bytes(&self) -> usize {
        self.present.as_ref().map_or(0, Pool::message_bytes)
    }

    fn used_bytes(&self) -> u64 {
        self.retired_bytes + self.present.as_ref().map_or(0, Pool::used_bytes)
    }
}

impl HostPublisher {
    /// Makes the shared memory of a publisher. Subscriptions can connect as soon as this function
    /// has returned.
    ///
    /// # Errors
    /// See [`CreateError`].
    pub fn create(
        node: &Arc<HostNode>,
        mut settings: HostPublisherSettings,
    ) -> Result<Self, CreateError> {
        let at_least_one = [
            &mut settings.largest_depth,
            &mut settings.max_subscriptions,
            &mut settings.max_views,
            &mut settings.max_loans,
        ];
        at_least_one.into_iter().for_each(|limit| *limit = (*limit).max(1));
        check_open_files()?;
        let lock = node.exclusive()?;
        settings.limits().check_free()?;
        storage::forget_failure();
        let service = match create_service(node, &settings) {
            Err(
                PublishSubscribeCreateError::AlreadyExists
                | PublishSubscribeCreateError::HangsInCreation,
            ) => {
                node.clean_up_locked(&lock);
                create_service(node, &settings)
            }
            other => other,
        }
        .map_err(|cause| match cause {
            PublishSubscribeCreateError::AlreadyExists => {
                CreateError::AlreadyExists { id: settings.id }
            }
            other => refused("a publisher's service", other).into(),
        })?;
        let failed_connections = Arc::new(AtomicU64::new(0));
        let pool = Pool::new(
            &service,
            settings.limits(),
            settings.expected_message_bytes,
            &failed_connections,
        )?;
        lock.finish();
        let pools = Pools {
            present: Some(pool),
            generation: 0,
            lent: 0,
            max_loans: settings.max_loans,
            limit_bytes: settings.pool_limit_bytes,
            sequence: 0,
            type_hash: service::hash_prefix(settings.type_hash),
            retired: Vec::new(),
            retired_bytes: 0,
            memory_of_loans: Vec::new(),
        };
        Ok(Self {
            pools: Arc::new(Mutex::new(pools)),
            service,
            settings,
            failed_connections,
            node: Arc::clone(node),
        })
    }

    /// The publisher's id.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.settings.id
    }

    /// Lends memory for a message of `size_bytes`, including its encapsulation header. The memory
    /// is initialised: it contains zeros or an earlier message. Byte 4, from which CDR counts
    /// alignment, is aligned to 8 bytes.
    ///
    /// This never waits for readers. It waits for other processes only if the pool must grow. It
    /// allocates nothing if the size has been lent before.
    ///
    /// # Errors
    /// [`LoanError`] names the exhausted resource.
    pub fn loan(&self, size_bytes: usize) -> Result<HostLoan, LoanError> {
        let mut pools = self.pools.lock();
        if pools.lent >= pools.max_loans {
            return Err(LoanError::TooManyLoans { max_loans: pools.max_loans });
        }
        if size_bytes > pools.message_bytes() {
            self.grow(&mut pools, size_bytes)?;
        }
        let chunk = pools.lend(size_bytes)?;
        let Some(pool) = &pools.present else { unreachable!("it has just lent a chunk") };
        let start = pool.message(chunk);
        pools.lent += 1;
        Ok(HostLoan {
            start,
            size_bytes,
            chunk: Some(chunk),
            generation: pools.generation,
            pools: Arc::clone(&self.pools),
        })
    }

    /// Replaces the pool with a pool for larger messages.
    #[cold]
    fn grow(&self, pools: &mut Pools, size_bytes: usize) -> Result<(), LoanError> {
        if size_bytes > MAX_MESSAGE_BYTES {
            return Err(LoanError::TooLarge { size_bytes, max_bytes: MAX_MESSAGE_BYTES });
        }
        let refused = |cause: UnavailableError| match cause {
            UnavailableError::Full { needed_bytes, free_bytes } => {
                LoanError::SharedMemoryFull { needed_bytes, free_bytes }
            }
            UnavailableError::Locked { .. } => LoanError::Busy,
            other => LoanError::Refused { cause: other.to_string() },
        };
        let free = free_bytes().map_err(|cause| LoanError::Refused { cause: cause.to_string() })?;
        check_space(size_bytes as u64, free).map_err(refused)?;
        check_open_files().map_err(refused)?;
        // Publishing must not wait for another process. So growing fails if the lock is taken, and
        // the publisher's next message tries again.
        let lock = self.node.exclusive_now().map_err(refused)?;
        let wanted = size_bytes.max(pools.message_bytes().saturating_mul(4).min(MAX_MESSAGE_BYTES));
        let (limits, failed) = (self.settings.limits(), &self.failed_connections);
        let larger = Pool::new(&self.service, limits, wanted, failed).map_err(refused)?;
        lock.finish();
        pools.generation += 1;
        if let Some(mut smaller) = pools.present.replace(larger) {
            smaller.retire();
            pools.retired_bytes += smaller.used_bytes();
            pools.retired.push(smaller);
        }
        Ok(())
    }

    /// Sends a message to all connected subscriptions (see [`refresh`](Self::refresh)), and returns
    /// their number. If a queue is full, the message replaces the oldest message.
    ///
    /// Never blocks, and allocates nothing unless a subscription has left.
    ///
    /// # Errors
    /// See [`SendError`]. The loan is lost.
    pub fn send(&self, mut loan: HostLoan, header: SampleHeader) -> Result<usize, SendError> {
        if !Arc::ptr_eq(&loan.pools, &self.pools) {
            return Err(SendError::Foreign);
        }
        // After an error, the lock is released first, because dropping the loan takes the lock.
        let mut guard = self.pools.lock();
        let pools = &mut *guard;
        if loan.generation != pools.generation {
            move_to_present(&mut loan, pools)?;
        }
        let (Some(pool), Some(chunk)) = (&mut pools.present, loan.chunk.take()) else {
            unreachable!("there is a publisher, and a loan is sent once");
        };
        pools.sequence += 1;
        pools.lent -= 1;
        let header = WireHeader {
            version: HEADER_VERSION,
            flags: header.flags,
            type_hash: pools.type_hash,
            sequence: pools.sequence,
            cdr_bytes: loan.size_bytes as u32, // at most MAX_MESSAGE_BYTES
            room_bytes: pool.message_bytes() as u32,
            stamp: header.stamp,
            publication_number: header.publication_number,
            expires_nanos: header.expires_nanos,
        };
        let sent = pool.send(chunk, header);
        drop(guard);
        sent.map_err(|cause| SendError::Refused { cause: format!("{cause:?}") })
    }

    /// Connects to new subscriptions, and takes back the chunks of subscriptions that have left.
    /// Call this after a subscription has opened its [`Connection`](crate::Connection) and before
    /// its first message, so that the cost (a mapping and some allocations) does not delay the
    /// message.
    pub fn refresh(&self) {
        let mut pools = self.pools.lock();
        let Pools { retired, present, .. } = &mut *pools;
        for pool in retired.iter_mut().chain(present) {
            static UNCONNECTED: FailureCounter = FailureCounter::new();
            if let Err(cause) = pool.refresh()
                && let Some(so_far) = UNCONNECTED.so_far()
            {
                tracing::warn!(target: "feros::shm", id = self.settings.id, ?cause, "not all \
                                                                                     subscriptions \
                                                                                     could be \
                                                                                     connected to \
                                                                                     the shared \
                                                                                     memory of a \
                                                                                     publisher{so_far}");
            }
        }
    }

    /// The number of registered subscriptions. This includes subscriptions of killed processes
    /// until they are cleaned up.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        use iceoryx2::service::port_factory::PortFactory;
        self.service.dynamic_config().number_of_subscribers()
    }

    /// How many times a registered subscription could not be connected. Such a subscription gets no
    /// messages through shared memory.
    #[must_use]
    pub fn failed_connections(&self) -> u64 {
        self.failed_connections.load(Ordering::Relaxed)
    }

    /// The current use of the pool.
    #[must_use]
    pub fn pool(&self) -> PoolUse {
        let pools = self.pools.lock();
        PoolUse {
            max_messages: self.settings.limits().max_messages,
            peak_messages: pools.present.as_ref().map_or(0, Pool::peak_messages),
            lent: pools.lent,
            max_loans: self.settings.max_loans,
            message_bytes: pools.message_bytes(),
            used_bytes: pools.used_bytes(),
            limit_bytes: self.settings.pool_limit_bytes,
            growths: pools.generation,
        }
    }

    /// The node to which the publisher belongs.
    #[must_use]
    pub fn node(&self) -> &Arc<HostNode> {
        &self.node
    }
}

impl std::fmt::Debug for HostPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostPublisher")
            .field("settings", &self.settings)
            .field("pool", &self.pool())
            .finish_non_exhaustive()
    }
}

fn create_service(
    node: &HostNode,
    settings: &HostPublisherSettings,
) -> Result<Service, PublishSubscribeCreateError> {
    service::builder(node.iceoryx(), settings.id)
        .max_publishers(MAX_POOLS)
        .max_subscribers(settings.max_subscriptions)
        .max_nodes(settings.max_subscriptions * 2 + 2) // killed processes keep their slots until the clean-up
        .subscriber_max_buffer_size(settings.largest_depth)
        .subscriber_max_borrowed_samples(settings.max_views)
        .history_size(0) // the engine delivers history to late joiners
        .enable_safe_overflow(true)
        .create()
}

/// Moves a loan from a pool that has been replaced to the present pool.
#[cold]
fn move_to_present(loan: &mut HostLoan, pools: &mut Pools) -> Result<(), LoanError> {
    let chunk = pools.lend(loan.size_bytes)?;
    let Some(pool) = &pools.present else { unreachable!("it has just lent a chunk") };
    let start = pool.message(chunk);
    // SAFETY: the new chunk has been lent for this copy, has room for a message of this size, and
    // differs from the loan's chunk, which belongs to another pool.
    unsafe { start.copy_from_nonoverlapping(loan.start, loan.size_bytes) };
    // The old chunk remains unused in its pool, which does not lend chunks any longer.
    (loan.start, loan.chunk, loan.generation) = (start, Some(chunk), pools.generation);
    Ok(())
}

/// Memory that a [`HostPublisher`] has lent for one message. Dropping the loan without sending it
/// returns the memory.
pub struct HostLoan {
    start: NonNull<u8>,
    size_bytes: usize,
    /// This is `None` after the loan has been sent.
    chunk: Option<usize>,
    /// The generation of the loan's pool.
    generation: u64,
    /// The pools, which keep the memory mapped even after the publisher has been dropped.
    pools: Arc<Mutex<Pools>>,
}

// SAFETY: only the loan owns the memory, and its other fields are `Send`.
unsafe impl Send for HostLoan {}
// SAFETY: a shared loan only reads its own memory.
unsafe impl Sync for HostLoan {}

impl Drop for HostLoan {
    fn drop(&mut self) {
        let Some(chunk) = self.chunk else { return };
        let mut pools = self.pools.lock();
        pools.lent -= 1;
        if self.generation == pools.generation
            && let Some(pool) = &mut pools.present
        {
            pool.put_back(chunk);
        }
    }
}

impl Drop for HostPublisher {
    fn drop(&mut self) {
        let mut pools = self.pools.lock();
        let mut gone = std::mem::take(&mut pools.retired);
        gone.extend(pools.present.take());
        if pools.lent > 0 {
            pools.memory_of_loans = gone.iter().map(|pool| Arc::clone(pool.memory())).collect();
        }
    }
}

impl Deref for HostLoan {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `size_bytes` bytes whose pages are present, in a chunk that is
        // lent only to this loan. All bytes are initialised.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size_bytes) }
    }
}

impl DerefMut for HostLoan {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: see `deref`. No reader sees the memory before it is sent.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size_bytes) }
    }
}

impl std::fmt::Debug for HostLoan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostLoan({} bytes)", self.size_bytes)
    }
}
