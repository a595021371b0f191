//! The parts that a publisher uses to send: its endpoint of the engine, its router and its
//! counters.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros_engine::{Gid, Publisher as EnginePublisher};
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
    #[cold]
    pub(super) fn count_shared_memory_failure(&self, error: &dyn Display) {
        if let Some(count) = self.counters.shared_memory_failures.count() {
            tracing::warn!(
                target: "feros::shm",
                "{}: {count} messages so far took the network transport instead of shared memory: \
                 {error}",
                self.topic
            );
        }
    }

    /// Logs once that the pool is almost exhausted.
    #[cold]
    pub(super) fn warn_of_full_pool(&self, memory: &HostPublisher) {
        let PoolUse { used_bytes, limit_bytes: Some(limit_bytes), .. } = memory.pool() else {
            return;
        };
        let is_nearly_full = used_bytes >= limit_bytes / 5 * 4;
        if is_nearly_full && !self.has_warned_of_pool.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                target: "feros::shm",
                "{}: {used_bytes} of {limit_bytes} bytes of shared memory are in use; \
                 subscriptions hold views too long, or the limit is too low",
                self.topic
            );
        }
    }

    /// Whether these subscriptions have acknowledged all messages that the engine sent to them.
    pub(super) fn is_acknowledged(&self, by: &[Gid]) -> bool {
        self.router.is_acknowledged(by)
    }
}
