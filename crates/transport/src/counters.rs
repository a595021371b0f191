//! Counters of messages by transport.

use std::sync::atomic::{AtomicU64, Ordering};

use feros_rmw::FailureCounter;

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
#[repr(C)] // what a message needs that goes by shared memory lies together
pub(crate) struct PublisherCounters {
    pub(crate) shared_memory: TransportCounter,
    pub(crate) skipped_engine_writes: AtomicU64,
    pub(crate) intra_process: TransportCounter,
    pub(crate) network: TransportCounter,
    pub(crate) shared_memory_failures: FailureCounter,
}

impl PublisherCounters {
    pub(crate) fn read(&self) -> PublisherCounts {
        PublisherCounts {
            intra_process: self.intra_process.read(),
            shared_memory: self.shared_memory.read(),
            network: self.network.read(),
            skipped_engine_writes: self.skipped_engine_writes.load(Ordering::Relaxed),
            shared_memory_failures: self.shared_memory_failures.total(),
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

/// Messages and bytes that took one transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransportCount {
    /// Messages.
    pub messages: u64,
    /// Their serialized bytes. Subscriptions of this process that take messages as structs need no
    /// serialized bytes, so none are counted for them.
    pub bytes: u64,
}

/// The messages that a publisher sent, by transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PublisherCounts {
    /// Deliveries to subscriptions of this process: one message to three of them counts three.
    pub intra_process: TransportCount,
    /// Deliveries to subscriptions of other processes of this host, counted likewise.
    pub shared_memory: TransportCount,
    /// Messages that the engine wrote, once for all subscriptions that need it.
    pub network: TransportCount,
    /// Messages that the engine did not write because no subscription needed them.
    pub skipped_engine_writes: u64,
    /// Messages that should have gone through shared memory and took the network transport, because
    /// there was no room.
    pub shared_memory_failures: u64,
}

/// The messages that a subscription received, by transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscriptionCounts {
    /// From publishers of this process.
    pub intra_process: TransportCount,
    /// From publishers of other processes of this host, through shared memory.
    pub shared_memory: TransportCount,
    /// Through the engine.
    pub network: TransportCount,
    /// Messages that also came by a second transport and were dropped there.
    pub duplicates: u64,
    /// Messages of the two local transports that were pushed out before they were taken.
    pub lost_on_local_transports: u64,
    /// Samples in shared memory that were refused as malformed.
    pub refused_in_shared_memory: u64,
}
