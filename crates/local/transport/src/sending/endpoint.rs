//! The parts that a publisher uses to send: its endpoint of the engine, its router and its
//! counters.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros_engine::{FailureCounters, Gid, Publisher as EnginePublisher};
use feros_shm::{HostPublisher, PoolUse, TransportSet};
use feros_trace::Endpoint;

use crate::counters::PublisherCounters;
use crate::routing::Router;

#[repr(C)] // the fields that each message needs are next to each other
pub(super) struct SendingEndpoint {
    pub(super) engine: Arc<dyn EnginePublisher>,
    pub(super) gid: Gid,
    pub(super) lifespan: Option<Duration>,
    pub(super) counters: PublisherCounters,
    pub(super) router: Router,
    pub(super) traced: Endpoint,
    pub(super) topic: String,
    pub(super) allowed: TransportSet,
    pub(super) has_warned_of_pool: AtomicBool,
}

impl SendingEndpoint {
    /// Counts and logs a message that took the network transport. All publishers of the process to
    /// the topic count together in the log.
    #[cold]
    pub(super) fn count_shared_memory_failure(&self, error: &dyn Display) {
        static FAILED: FailureCounters = FailureCounters::new();
        self.counters.shared_memory_failures.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = FAILED.count(&self.topic) {
            tracing::warn!(
                target: "feros::shm",
                "{}: {count} messages so far took the network transport instead of shared memory: \
                 {error}",
                self.topic
            );
        }
    }

    /// Logs once for each publisher that its pool is almost exhausted. All publishers of the
    /// process to the topic count together.
    #[cold]
    pub(super) fn warn_of_full_pool(&self, memory: &HostPublisher) {
        static NEARLY_FULL: FailureCounters = FailureCounters::new();
        let PoolUse { used_bytes, limit_bytes: Some(limit_bytes), .. } = memory.pool() else {
            return;
        };
        let is_nearly_full = used_bytes >= limit_bytes / 5 * 4;
        if is_nearly_full
            && !self.has_warned_of_pool.swap(true, Ordering::Relaxed)
            && let Some(so_far) = NEARLY_FULL.so_far(&self.topic)
        {
            tracing::warn!(
                target: "feros::shm",
                "{}: {used_bytes} of {limit_bytes} bytes of shared memory are in use; \
                 subscriptions hold views too long, or the limit is too low{so_far}",
                self.topic
            );
        }
    }

    /// Whether these subscriptions have acknowledged all messages that the engine sent to them.
    pub(super) fn is_acknowledged(&self, by: &[Gid]) -> bool {
        self.router.is_acknowledged(by)
    }
}
