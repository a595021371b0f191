//! Connections of programs that do not speak ROS 1. They are logged only once, because any program
//! can connect.

use std::io;
use std::net::SocketAddr;

use feros_sync::{AtomicBool, Ordering};

/// Whether the warning has been logged.
#[derive(Debug, Default)]
pub(crate) struct Strangers(AtomicBool);

impl Strangers {
    /// Warns about bytes that are not a header. A connection that ends without sending any bytes
    /// causes no warning.
    pub(crate) fn say(&self, node: &str, port: u16, from: SocketAddr, error: &io::Error) {
        if error.kind() != io::ErrorKind::InvalidData || self.0.swap(true, Ordering::Relaxed) {
            return tracing::debug!("{node}: {from}: {error}");
        }
        tracing::warn!(
            "{node}: the program that connected from {from} does not speak TCPROS: {error}; port {port} is for ROS 1 \
             nodes; keep other programs away from it"
        );
    }
}
