//! Counters of messages, by transport.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts messages and bytes of one transport.
#[derive(Debug, Default)]
pub(crate) struct TransportCounter {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl TransportCounter {
    /// Counts a message of this size, once for each of its receivers.
    pub(crate) fn count(&self, receivers: usize, size_bytes: usize) {
        self.messages.fetch_add(receivers as u64, Ordering::Relaxed);
        self.bytes.fetch_add((receivers * size_bytes) as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> TransportCount {
        TransportCount {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// The counters of a publisher.
#[derive(Debug, Default)]
#[repr(C)] // the counters of a message through shared memory are next to each other
pub(crate) struct PublisherCounters {
    pub(crate) shared_memory: TransportCounter,
    pub(crate) skipped_engine_writes: AtomicU64,
    pub(crate) intra_process: TransportCounter,
    pub(crate) network: TransportCounter,
    pub(crate) shared_memory_failures: AtomicU64,
}

impl PublisherCounters {
    pub(crate) fn read(&self) -> PublisherCounts {
        PublisherCounts {
            intra_process: self.intra_process.read(),
            shared_memory: self.shared_memory.read(),
            network: self.network.read(),
            skipped_engine_writes: self.skipped_engine_writes.load(Ordering::Relaxed),
            shared_memory_failures: self.shared_memory_failures.load(Ordering::Relaxed),
        }
    }
}

/// The counters of a subscription.
#[derive(Debug, Default)]
pub(crate) struct SubscriptionCounters {
    pub(crate) intra_process: TransportCounter,
    pub(crate) shared_memory: TransportCounter,
    pub(crate) network: TransportCounter,
}

impl SubscriptionCounters {
    pub(crate) fn read(
        &self,
        duplicates: u64,
        lost_on_local_transports: u64,
        refused_in_shared_memory: u64,
    ) -> SubscriptionCounts {
        SubscriptionCounts {
            intra_process: self.intra_process.read(),
            shared_memory: self.shared_memory.read(),
            network: self.network.read(),
            duplicates,
            lost_on_local_transports,
            refused_in_shared_memory,
        }
    }
}

/// The number of messages and bytes that took one transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransportCount {
    /// The number of messages.
    pub messages: u64,
    /// The number of their serialized bytes. Messages that subscriptions of this process take as
    /// structs are not serialized, so they count as 0 bytes.
    pub bytes: u64,
}

/// The counts of the messages that a publisher sent, for each transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PublisherCounts {
    /// Deliveries to subscriptions of this process. One message to three subscriptions counts three
    /// times.
    pub intra_process: TransportCount,
    /// Deliveries to subscriptions in other processes of this host. One message to three
    /// subscriptions counts three times.
    pub shared_memory: TransportCount,
    /// Messages that the engine wrote. One message to several subscriptions counts once.
    pub network: TransportCount,
    /// Messages that the engine did not write because no subscription needed them.
    pub skipped_engine_writes: u64,
    /// Messages that took the network transport instead of shared memory because there was no room.
    pub shared_memory_failures: u64,
}

/// The counts of the messages that a subscription received, for each transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscriptionCounts {
    /// Messages from publishers of this process.
    pub intra_process: TransportCount,
    /// Messages from publishers in other processes of this host that arrived through shared memory.
    pub shared_memory: TransportCount,
    /// Messages through the engine.
    pub network: TransportCount,
    /// Messages that arrived over two transports; the second copy was dropped.
    pub duplicates: u64,
    /// Messages on the two local transports that were removed from a full queue before they were
    /// taken.
    pub lost_on_local_transports: u64,
    /// Samples in shared memory that were refused because they were malformed.
    pub refused_in_shared_memory: u64,
}
