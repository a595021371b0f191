//! Counters of calls, one for each transport.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::counters::{TransportCount, TransportCounter};

/// The counters of a client or a server.
#[derive(Debug, Default)]
pub(crate) struct CallCounters {
    pub(crate) intra_process: TransportCounter,
    pub(crate) shared_memory: TransportCounter,
    pub(crate) network: TransportCounter,
    pub(crate) shared_memory_failures: AtomicU64,
    pub(crate) refused_in_shared_memory: AtomicU64,
}

impl CallCounters {
    /// Returns the counts. `lost` is the number of messages lost by the engine.
    pub(crate) fn read(&self, lost: u64) -> CallCounts {
        CallCounts {
            intra_process: self.intra_process.read(),
            shared_memory: self.shared_memory.read(),
            network: self.network.read(),
            shared_memory_failures: self.shared_memory_failures.load(Ordering::Relaxed),
            refused_in_shared_memory: self.refused_in_shared_memory.load(Ordering::Relaxed),
            lost,
        }
    }
}

/// The number of requests that a client sent or a server received, for each transport, and their
/// size in serialized form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallCounts {
    /// Requests between a client and a server in one process.
    pub intra_process: TransportCount,
    /// Requests between two processes of one host.
    pub shared_memory: TransportCount,
    /// Requests through the engine.
    pub network: TransportCount,
    /// How many times a client's request, or a server's response, took the network transport
    /// instead of shared memory because there was no room.
    pub shared_memory_failures: u64,
    /// How many times the memory of a call was found to be overwritten.
    pub refused_in_shared_memory: u64,
    /// How many requests to a server, or responses to a client, took the network transport and were
    /// lost before they were taken. Losses that cannot be detected are not included.
    pub lost: u64,
}
