//! What a link and its samples share of a subscription's end of shared memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use feros_sync::Mutex;

use crate::ipc::Ipc;
use crate::node::HostNode;
use crate::receiving_end::ReceivingEnds;
use crate::service::Service;

/// Kept by each sample too: a port that is gone has its samples taken back by the publisher, read
/// or not.
pub(crate) struct Port {
    /// Before the port itself: its own handles are the last, so its files go in iceoryx2's order.
    pub(crate) ends: Mutex<ReceivingEnds>,
    /// Messages may wait because as many samples are held as may be.
    pub(crate) is_crowded: AtomicBool,
    pub(crate) subscriber: iceoryx2::port::subscriber::Subscriber<Ipc, [u8], ()>,
    pub(crate) service: Service,
    /// Pools of the publisher that could not be mapped: their messages are missed.
    pub(crate) failed_connections: Arc<AtomicU64>,
    pub(crate) on_room: OnceLock<Box<dyn Fn() + Send + Sync>>,
    pub(crate) node: Arc<HostNode>,
}

impl Port {
    /// A sample has gone back.
    pub(crate) fn make_room(&self) {
        if self.is_crowded.load(Ordering::Relaxed)
            && self.is_crowded.swap(false, Ordering::AcqRel)
            && let Some(on_room) = self.on_room.get()
        {
            on_room();
        }
    }
}
