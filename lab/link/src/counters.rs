//! Counters of what happened on a link.

use std::time::Duration;

/// Counts what happened on a link between two hosts since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// From the first host to the second.
    pub forward: DirectionCounters,
    /// From the second host to the first.
    pub backward: DirectionCounters,
}

/// Counts what happened in one direction. Bytes are those of Ethernet frames: the IP packet and 14
/// more.
///
/// Every packet offered was delivered (`packets`), dropped for one of the reasons, or is still
/// under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectionCounters {
    /// Packets that the sender's device handed over.
    pub offered_packets: u64,
    /// Bytes of these packets.
    pub offered_bytes: u64,
    /// Packets delivered to the other end.
    pub packets: u64,
    /// Bytes delivered to the other end.
    pub bytes: u64,
    /// Packets lost on the line, as asked for.
    pub dropped_loss: u64,
    /// Bytes of the lost packets: they occupied the line, but only `offered_bytes` includes them.
    pub dropped_loss_bytes: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets that exceeded the MTU, or were no Ethernet frames. (The kernel fragments or refuses
    /// oversized packets of a program; this counts packets whose limit changed under way.)
    pub dropped_size: u64,
    /// Packets dropped between a device and the link: the sender's, because this machine did not
    /// read them in time, or the receiver's, because it refused them. These losses do not belong to
    /// the requested conditions: a run that has them is more than the machine can carry.
    pub dropped_device: u64,
    /// Packets delivered after one that was sent later (RFC 4737).
    pub reordered: u64,
    /// The most bytes that waited while the line was busy.
    pub largest_queue_bytes: u64,
    /// The most packets that waited while the line was busy.
    pub largest_queue_packets: u64,
    /// The largest delay of a delivery after its due time: the emulator's own error.
    pub largest_lateness: Duration,
}
