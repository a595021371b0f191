//! The counters of a link.

use std::time::Duration;

/// The counters of a link between two hosts, since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// From the first host to the second.
    pub forward: DirectionCounters,
    /// From the second host to the first.
    pub backward: DirectionCounters,
}

/// The counters of one direction. Bytes are counted as in Ethernet frames: the IP packet plus 14
/// bytes.
///
/// Every offered packet has been delivered (`packets`), has been dropped for one of the reasons
/// below, or is still on its way.
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
    /// Packets lost on the line, as the options request.
    pub dropped_loss: u64,
    /// Bytes of the lost packets: they occupied the line, but only `offered_bytes` includes them.
    pub dropped_loss_bytes: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets that exceeded the MTU, or were not Ethernet frames. (The kernel fragments or refuses
    /// oversized packets of a program; this counts packets that were on their way when the MTU
    /// changed.)
    pub dropped_size: u64,
    /// Packets dropped between a device and the link, because this machine did not read them from
    /// the sender's device in time, or because the receiver's device refused them. Such losses do
    /// not belong to the requested conditions: the machine could not carry the traffic of the run.
    pub dropped_device: u64,
    /// Packets delivered after a packet that was sent later (RFC 4737).
    pub reordered: u64,
    /// The largest number of bytes that waited while the line was busy.
    pub largest_queue_bytes: u64,
    /// The largest number of packets that waited while the line was busy.
    pub largest_queue_packets: u64,
    /// The largest delay between the due time of a delivery and the delivery: the emulator's own
    /// error.
    pub largest_lateness: Duration,
}
