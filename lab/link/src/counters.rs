//! What happened on a link.

use std::time::Duration;

/// What happened on a link between two hosts since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// From the first host to the second.
    pub forward: DirectionCounters,
    /// From the second host to the first.
    pub backward: DirectionCounters,
}

/// What happened in one direction. Bytes are those of Ethernet frames: the IP packet and 14 more.
///
/// Every packet offered was delivered (`packets`), dropped for one of the reasons, or is still
/// under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectionCounters {
    /// Packets that the sender's device handed over.
    pub offered_packets: u64,
    /// Bytes of them.
    pub offered_bytes: u64,
    /// Packets delivered to the other end.
    pub packets: u64,
    /// Bytes delivered to the other end.
    pub bytes: u64,
    /// Packets lost on the line, as asked for.
    pub dropped_loss: u64,
    /// Bytes of them: they took the line's time, and are in no other count of bytes but
    /// `offered_bytes`.
    pub dropped_loss_bytes: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets that exceeded the MTU, or were no Ethernet frames. (What a sending program offers is
    /// cut or refused before; this counts what changed under way.)
    pub dropped_size: u64,
    /// Packets dropped between a device and the link: the sender's, because this machine did not
    /// come to read them in time, or the receiver's, because it refused. None of the asked
    /// conditions: a run in which this is not zero was more than the machine can carry.
    pub dropped_device: u64,
    /// Packets delivered after one that was sent later (RFC 4737).
    pub reordered: u64,
    /// The most bytes that waited while the line was busy.
    pub largest_queue_bytes: u64,
    /// The most packets that waited.
    pub largest_queue_packets: u64,
    /// How long after its time the latest packet was delivered: the emulator's own error.
    pub largest_lateness: Duration,
}
