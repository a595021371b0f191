//! The traffic of an engine's sockets, for reports about the cost of discovery.

/// The datagrams that the sockets of an engine have received, for discovery and for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// The number of datagrams.
    pub datagrams: u64,
    /// Their content, in bytes.
    pub bytes: u64,
}
