//! The part of a subscription's connection that the connection and its samples share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use feros_sync::Mutex;

use crate::ipc::Ipc;
use crate::node::HostNode;
use crate::receiving_end::ReceivingEnds;
use crate::service::Service;

/// Each sample holds a reference to the port too, because the publisher takes back all samples of a
/// port that was dropped, even those that are still being read.
pub(crate) struct Port {
    /// Dropped before `subscriber`. The subscriber's own handles have to be the last ones, so that
    /// iceoryx2 removes its files in its own order.
    pub(crate) ends: Mutex<ReceivingEnds>,
    /// Whether messages may wait because the subscription holds as many samples as it may.
    pub(crate) is_crowded: AtomicBool,
    pub(crate) subscriber: iceoryx2::port::subscriber::Subscriber<Ipc, [u8], ()>,
    pub(crate) service: Service,
    /// How many times a pool of the publisher could not be mapped, so that its messages are missed.
    pub(crate) failed_connections: Arc<AtomicU64>,
    pub(crate) on_room: OnceLock<Box<dyn Fn() + Send + Sync>>,
    pub(crate) node: Arc<HostNode>,
}

impl Port {
    /// Calls `on_room` if messages may wait, since a sample was returned.
    pub(crate) fn make_room(&self) {
        if self.is_crowded.load(Ordering::Relaxed)
            && self.is_crowded.swap(false, Ordering::AcqRel)
            && let Some(on_room) = self.on_room.get()
        {
            on_room();
        }
    }
}
