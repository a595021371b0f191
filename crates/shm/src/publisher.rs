//! A publisher's shared memory: lending memory for messages and giving them to the subscriptions
//! linked to it.

use feros_sync::Mutex;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::service::builder::publish_subscribe::PublishSubscribeCreateError;

use crate::error::{CreateError, LoanError, SendError, UnavailableError};
use crate::ipc::Ipc;
use crate::limits::check_open_files;
use crate::node::{HostNode, check_space, refused};
use crate::pool::{Pool, PoolLimits, start_of_message};
use crate::populate::free_bytes;
use crate::service::{self, FORMAT_VERSION, MAX_MESSAGE_BYTES, SampleHeader, Service, WireHeader};
use crate::storage;

/// From 4 KiB to more than [`MAX_MESSAGE_BYTES`] in steps of four.
const MAX_POOLS: usize = 12;

/// What a [`HostPublisher`] is made with.
#[derive(Debug, Clone)]
pub struct HostPublisherSettings {
    /// The publisher's id, unique among all publishers of this user on this host, over restarts
    /// too.
    pub id: u64,
    /// The hash of its message type; its first eight bytes are checked with each message.
    pub type_hash: Option<[u8; 32]>,
    /// The name of its message type, for logs.
    pub type_name: String,
    /// The longest queue that a subscription may have here (KEEP_LAST depth). Costs address space
    /// and a few bytes each, no memory until used.
    ///
    /// This and the limits below are at least 1.
    pub largest_depth: usize,
    /// How many subscriptions may be linked.
    pub max_subscriptions: usize,
    /// How many samples of this publisher each subscription may hold at once.
    pub max_views: usize,
    /// How many messages may be lent and not yet sent.
    pub max_loans: usize,
    /// The size of messages that the pool is made for at first; it grows when a larger one comes.
    pub expected_message_bytes: usize,
    /// How much memory the pool may take; without a limit, what depth, subscriptions and views make
    /// at most.
    pub pool_limit_bytes: Option<u64>,
}

impl HostPublisherSettings {
    /// Two loans more than the user may have: for a message that is moved, and the spare one. With
    /// as many messages iceoryx2 never runs out of chunks.
    fn limits(&self) -> PoolLimits {
        let max_loans = self.max_loans + 2;
        let max_messages =
            self.max_subscriptions * (self.largest_depth + self.max_views) + max_loans;
        PoolLimits { max_messages, max_loans }
    }

    /// Settings with the defaults: depth 16, 16 subscriptions with 8 views each, 4 loans, messages
    /// of 1 KiB at first, no limit.
    #[must_use]
    pub fn new(id: u64) -> Self {
        Self {
            id,
            type_hash: None,
            type_name: String::new(),
            largest_depth: 16,
            max_subscriptions: 16,
            max_views: 8,
            max_loans: 4,
            expected_message_bytes: 1024,
            pool_limit_bytes: None,
        }
    }
}

/// How much of a publisher's pool is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Messages that the pool can hold at once: every queue full, every view held, every loan out.
    pub max_messages: usize,
    /// The most messages that were in use at once (lent, queued or held by views).
    pub peak_messages: usize,
    /// Messages lent now.
    pub lent: usize,
    /// Of which at most so many.
    pub max_loans: usize,
    /// The largest message that fits before the pool grows.
    pub message_bytes: usize,
    /// Memory that the pool has taken from `/dev/shm`. It keeps what it has taken, for the messages
    /// to come.
    pub used_bytes: u64,
    /// What it may take, where limited.
    pub limit_bytes: Option<u64>,
    /// How often the pool was replaced by one for larger messages.
    pub growths: u64,
}

/// One publisher's shared memory. Any number of threads may lend and send; nothing waits for a
/// reader.
///
/// iceoryx2 can give out memory that grows by itself, but then keeps books for 255 segments: 2 KB
/// of heap per message that the pool may hold (800 KB with the default limits) and 255 bytes more
/// in each connection. Here the pool is one fixed segment of sparse memory, and a message that is
/// too large for it makes another, at least four times as large (a port of its own of the same
/// service). The smaller ones stay for the readers that have not come to them yet; together they
/// take at most a third of the largest.
pub struct HostPublisher {
    pool: Mutex<Pool>,
    service: Service,
    settings: HostPublisherSettings,
    lent: Arc<AtomicUsize>,
    failed_connections: Arc<AtomicU64>,
    /// Last: its files go after those of the ports.
    node: Arc<HostNode>,
}

impl HostPublisher {
    /// Makes the shared memory of a publisher. Subscriptions can link from now on.
    ///
    /// # Errors
    /// [`CreateError`].
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
            0,
            &failed_connections,
        )?;
        lock.finish();
        Ok(Self {
            pool: Mutex::new(pool),
            service,
            settings,
            lent: Arc::default(),
            failed_connections,
            node: Arc::clone(node),
        })
    }

    /// The publisher's id.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.settings.id
    }

    /// Lends memory for a message of `size_bytes` (with its encapsulation header). It is
    /// initialised, to zeros or to an earlier message. Byte 4, where CDR begins to count, is
    /// aligned to 8.
    ///
    /// Waits for no reader and no other process, unless the pool must grow. iceoryx2 0.10 allocates
    /// one block of about 100 bytes of heap per loan and frees it with [`send`](Self::send); there
    /// is no other allocation for a size that was lent before.
    ///
    /// # Errors
    /// [`LoanError`] says what is exhausted.
    pub fn loan(&self, size_bytes: usize) -> Result<HostLoan, LoanError> {
        let mut pool = self.pool.lock();
        if self.lent.load(Ordering::Relaxed) >= self.settings.max_loans {
            return Err(LoanError::TooManyLoans { max_loans: self.settings.max_loans });
        }
        self.loan_locked(&mut pool, size_bytes)
    }

    fn loan_locked(&self, pool: &mut Pool, size_bytes: usize) -> Result<HostLoan, LoanError> {
        if size_bytes > pool.message_bytes {
            self.grow(pool, size_bytes)?;
        }
        let mut sample = pool.take_chunk(size_bytes, self.settings.pool_limit_bytes)?;
        self.lent.fetch_add(1, Ordering::Relaxed);
        Ok(HostLoan {
            start: start_of_message(sample.user_header_mut()),
            size_bytes,
            generation: pool.generation,
            publisher: self.settings.id,
            sample: ManuallyDrop::new(sample),
            lent: Arc::clone(&self.lent),
        })
    }

    /// Replaces the pool by one for larger messages.
    fn grow(&self, pool: &mut Pool, size_bytes: usize) -> Result<(), LoanError> {
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
        // A publish waits for no other process: its next message grows the pool.
        let lock = self.node.exclusive_now().map_err(refused)?;
        let wanted = size_bytes.max(pool.message_bytes.saturating_mul(4).min(MAX_MESSAGE_BYTES));
        let larger = Pool::new(
            &self.service,
            self.settings.limits(),
            wanted,
            pool.generation + 1,
            &self.failed_connections,
        )
        .map_err(refused)?;
        lock.finish();
        let smaller = std::mem::replace(pool, larger);
        pool.sequence = smaller.sequence;
        pool.retired = smaller.retired;
        pool.retired_bytes = smaller.retired_bytes + smaller.pages.total_bytes();
        pool.retired.push(smaller.port);
        Ok(())
    }

    /// Gives a message to all linked subscriptions; where a queue is full, its oldest message makes
    /// room. Returns their number.
    ///
    /// Never blocks, allocates nothing unless a subscription came or went.
    ///
    /// # Errors
    /// [`SendError`]; the loan is gone.
    pub fn send(&self, loan: HostLoan, header: SampleHeader) -> Result<usize, SendError> {
        if loan.publisher != self.settings.id {
            return Err(SendError::Foreign);
        }
        let mut pool = self.pool.lock();
        let loan = if loan.generation == pool.generation {
            loan
        } else {
            let mut moved = self.loan_locked(&mut pool, loan.len())?;
            moved.copy_from_slice(&loan);
            moved
        };
        let cdr_bytes = loan.size_bytes as u64;
        let (mut sample, lent) = loan.into_parts();
        pool.sequence += 1;
        *sample.user_header_mut() = WireHeader {
            version: FORMAT_VERSION,
            flags: header.flags,
            type_hash: service::hash_prefix(self.settings.type_hash),
            sequence: pool.sequence,
            cdr_bytes,
            stamp: header.stamp,
            publication_number: header.publication_number,
            expires_nanos: header.expires_nanos,
        };
        let sent = sample.send();
        lent.fetch_sub(1, Ordering::Relaxed);
        sent.map_err(|cause| SendError::Refused { cause: format!("{cause:?}") })
    }

    /// Has memory ready for the next [`loan`](Self::loan), so that it is a short one. To be called
    /// when nobody waits for it: after a message was sent and its subscriptions were woken. Where
    /// there is none, that loan will say so.
    pub fn prepare(&self) {
        let mut pool = self.pool.lock();
        if pool.spare.is_none() {
            pool.spare = pool.lend_chunk().ok();
        }
    }

    /// Connects to subscriptions that have linked since the last message, and takes back what those
    /// had that have gone; [`send`](Self::send) does the same for the present pool. Doing it when
    /// subscriptions come and go keeps the cost (a mapping, some allocations) off the next message.
    pub fn refresh(&self) {
        let pool = self.pool.lock();
        for port in pool.retired.iter().chain([&pool.port]) {
            if let Err(cause) = port.update_connections() {
                tracing::warn!(target: "feros::shm", id = self.settings.id, ?cause, "not all subscriptions could be connected");
            }
        }
    }

    /// How many subscriptions are linked, those of killed processes that are not cleaned up
    /// included.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        use iceoryx2::service::port_factory::PortFactory;
        self.service.dynamic_config().number_of_subscribers()
    }

    /// How often a linked subscription could not be connected; it gets no messages on this path.
    #[must_use]
    pub fn failed_connections(&self) -> u64 {
        self.failed_connections.load(Ordering::Relaxed)
    }

    /// How much of the pool is in use.
    #[must_use]
    pub fn pool(&self) -> PoolUse {
        let pool = self.pool.lock();
        PoolUse {
            max_messages: self.settings.limits().max_messages,
            peak_messages: pool.pages.seen(),
            lent: self.lent.load(Ordering::Relaxed),
            max_loans: self.settings.max_loans,
            message_bytes: pool.message_bytes,
            used_bytes: pool.used_bytes(),
            limit_bytes: self.settings.pool_limit_bytes,
            growths: pool.generation,
        }
    }

    /// The node it belongs to.
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
        .max_nodes(settings.max_subscriptions * 2 + 2) // killed processes keep their place until the clean-up
        .subscriber_max_buffer_size(settings.largest_depth)
        .subscriber_max_borrowed_samples(settings.max_views)
        .history_size(0) // history for late joiners is the engine's
        .enable_safe_overflow(true)
        .create()
}

/// Memory lent by a [`HostPublisher`] for one message; dropped without being sent, it goes back.
pub struct HostLoan {
    sample: ManuallyDrop<SampleMut<Ipc, [u8], WireHeader>>,
    start: NonNull<u8>,
    size_bytes: usize,
    generation: u64,
    publisher: u64,
    lent: Arc<AtomicUsize>,
}

// SAFETY: the sample is `Send` (its owner's state is behind a mutex) and the memory belongs to it
// alone.
unsafe impl Send for HostLoan {}
// SAFETY: a shared loan only reads its own memory.
unsafe impl Sync for HostLoan {}

impl HostLoan {
    fn into_parts(self) -> (SampleMut<Ipc, [u8], WireHeader>, Arc<AtomicUsize>) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: both are moved out exactly once, because `this` is never dropped; the other
        // fields need no drop.
        unsafe { (ManuallyDrop::take(&mut this.sample), std::ptr::read(&raw const this.lent)) }
    }
}

impl Drop for HostLoan {
    fn drop(&mut self) {
        // SAFETY: `into_parts` forgets the loan, so this is the only place that drops the sample.
        unsafe { ManuallyDrop::drop(&mut self.sample) };
        self.lent.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Deref for HostLoan {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `size_bytes` initialised bytes that the sample keeps for this
        // loan alone.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size_bytes) }
    }
}

impl DerefMut for HostLoan {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; no reader sees the memory before it is sent.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size_bytes) }
    }
}

impl std::fmt::Debug for HostLoan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostLoan({} bytes)", self.size_bytes)
    }
}
