//! The part of a subscription's end of shared memory that a connection and its samples share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use feros_sync::Mutex;

use crate::ipc::Ipc;
use crate::node::HostNode;
use crate::receiving_end::ReceivingEnds;
use crate::service::Service;

/// Each sample keeps it too: the publisher takes back the samples of a port that was dropped, read
/// or not.
pub(crate) struct Port {
    /// Dropped before the port itself, whose own handles have to be the last, so that its files are
    /// removed in iceoryx2's order.
    pub(crate) ends: Mutex<ReceivingEnds>,
    /// Messages may wait because the largest number of samples is held.
    pub(crate) is_crowded: AtomicBool,
    pub(crate) subscriber: iceoryx2::port::subscriber::Subscriber<Ipc, [u8], ()>,
    pub(crate) service: Service,
    /// The number of the publisher's pools that could not be mapped: their messages are missed.
    pub(crate) failed_connections: Arc<AtomicU64>,
    pub(crate) on_room: OnceLock<Box<dyn Fn() + Send + Sync>>,
    pub(crate) node: Arc<HostNode>,
}

impl Port {
    /// Notes that a sample was returned.
    pub(crate) fn make_room(&self) {
        if self.is_crowded.load(Ordering::Relaxed)
            && self.is_crowded.swap(false, Ordering::AcqRel)
            && let Some(on_room) = self.on_room.get()
        {
            on_room();
        }
    }
}
