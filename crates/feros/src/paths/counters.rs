//! What went which way, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Messages and bytes of one path.
#[derive(Debug, Default)]
pub(crate) struct PathCounter {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl PathCounter {
    /// Counts a message of this size, once for each of its receivers.
    pub(crate) fn count(&self, receivers: usize, size_bytes: usize) {
        self.messages.fetch_add(receivers as u64, Ordering::Relaxed);
        self.bytes.fetch_add((receivers * size_bytes) as u64, Ordering::Relaxed);
    }

    fn read(&self) -> PathCount {
        PathCount {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// The counters of a publisher.
#[derive(Debug, Default)]
pub(crate) struct PublisherCounters {
    pub(crate) process: PathCounter,
    pub(crate) host: PathCounter,
    pub(crate) network: PathCounter,
    pub(crate) skipped_engine_writes: AtomicU64,
    pub(crate) host_failures: AtomicU64,
}

impl PublisherCounters {
    pub(crate) fn read(&self) -> PublisherCounts {
        PublisherCounts {
            process: self.process.read(),
            host: self.host.read(),
            network: self.network.read(),
            skipped_engine_writes: self.skipped_engine_writes.load(Ordering::Relaxed),
            host_failures: self.host_failures.load(Ordering::Relaxed),
        }
    }
}

/// The counters of a subscription.
#[derive(Debug, Default)]
pub(crate) struct SubscriptionCounters {
    pub(crate) process: PathCounter,
    pub(crate) host: PathCounter,
    pub(crate) network: PathCounter,
}

impl SubscriptionCounters {
    pub(crate) fn read(
        &self,
        duplicates: u64,
        lost_on_fast_paths: u64,
        refused_on_host: u64,
    ) -> SubscriptionCounts {
        SubscriptionCounts {
            process: self.process.read(),
            host: self.host.read(),
            network: self.network.read(),
            duplicates,
            lost_on_fast_paths,
            refused_on_host,
        }
    }
}

/// Messages and bytes that took one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathCount {
    /// Messages.
    pub messages: u64,
    /// Their serialized bytes. On the process path nothing is serialized for those who take
    /// messages as structs, so nothing is counted for them.
    pub bytes: u64,
}

/// What a publisher sent by which path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PublisherCounts {
    /// Deliveries to subscriptions of this process: one message to three of them counts three.
    pub process: PathCount,
    /// Deliveries to subscriptions of other processes of this host, counted likewise.
    pub host: PathCount,
    /// Messages that the engine wrote, once for all who need it.
    pub network: PathCount,
    /// Messages that the engine did not write because nobody needed it.
    pub skipped_engine_writes: u64,
    /// Messages that should have gone through shared memory and took the network path, because
    /// there was no room.
    pub host_failures: u64,
}

/// What a subscription received by which path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscriptionCounts {
    /// From publishers of this process.
    pub process: PathCount,
    /// From publishers of other processes of this host, through shared memory.
    pub host: PathCount,
    /// Through the engine.
    pub network: PathCount,
    /// Messages that came by a second path and were dropped.
    pub duplicates: u64,
    /// Messages of the process and host path that were pushed out before they were taken.
    pub lost_on_fast_paths: u64,
    /// Samples in shared memory that were refused as malformed.
    pub refused_on_host: u64,
}
