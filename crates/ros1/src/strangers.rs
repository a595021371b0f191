//! What connects to a node and is none of ROS 1: said once, as whoever likes to can connect.

use std::io;
use std::net::SocketAddr;

use feros_sync::{AtomicBool, Ordering};

/// Whether it was said already.
#[derive(Debug, Default)]
pub(crate) struct Strangers(AtomicBool);

impl Strangers {
    /// Says what came instead of a header. A connection that merely ends is nothing to say.
    pub(crate) fn say(&self, node: &str, port: u16, from: SocketAddr, error: &io::Error) {
        if error.kind() != io::ErrorKind::InvalidData || self.0.swap(true, Ordering::Relaxed) {
            return tracing::debug!("{node}: {from}: {error}");
        }
        tracing::warn!(
            "{node}: what connected from {from} does not speak TCPROS: {error}; port {port} is for nodes of ROS 1, keep \
             others from it"
        );
    }
}
