//! What an engine has received from the network, for reports about the cost of discovery.

/// What the sockets of an engine have received, for discovery and for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// The number of datagrams.
    pub datagrams: u64,
    /// Their content, in bytes.
    pub bytes: u64,
}
