//! The part of a subscription's connection that the connection shares with its samples.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use feros_sync::Mutex;

use crate::ipc::Ipc;
use crate::ipc::service::Service;
use crate::node::HostNode;
use crate::rings::receiving_end::ReceivingEnds;

/// Each sample also holds a reference to the port. Without the reference, the publisher would take
/// back all samples of a port that has been dropped, even samples that are still being read.
pub(crate) struct Port {
    /// This is dropped before `subscriber`, because the subscriber's own handles must be the last
    /// handles, so that iceoryx2 removes its files in its own order.
    pub(crate) ends: Mutex<ReceivingEnds>,
    /// Whether there may be messages that cannot be taken because the subscription holds too many
    /// samples.
    pub(crate) is_crowded: AtomicBool,
    pub(crate) subscriber: iceoryx2::port::subscriber::Subscriber<Ipc, [u8], ()>,
    pub(crate) service: Service,
    /// How many times a pool of the publisher could not be mapped, so that its messages are missed.
    pub(crate) failed_connections: Arc<AtomicU64>,
    pub(crate) on_room: OnceLock<Box<dyn Fn() + Send + Sync>>,
    pub(crate) node: Arc<HostNode>,
}

impl Port {
    /// Calls `on_room` if there may be messages that can be taken now because a sample has been
    /// returned.
    pub(crate) fn make_room(&self) {
        if self.is_crowded.load(Ordering::Relaxed)
            && self.is_crowded.swap(false, Ordering::AcqRel)
            && let Some(on_room) = self.on_room.get()
        {
            on_room();
        }
    }
}
