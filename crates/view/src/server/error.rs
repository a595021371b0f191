//! Why the server does not start.

use std::net::{IpAddr, SocketAddr};

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Other machines could connect, and nothing would keep anybody out.
    #[error(
        "{address} can be reached from other machines: this needs a token (--token), or an address \
         of this machine alone, such as 127.0.0.1"
    )]
    NoToken {
        /// The address.
        address: IpAddr,
    },
    /// Pages that have no origin were to be allowed.
    #[error(
        "`null` is the origin of every sandboxed frame and of every file, of any page: it cannot \
         be allowed; serve your page by HTTP, and name its address (--allow-origin)"
    )]
    NullOrigin,
    /// The address is not free, or is none of this machine.
    #[error(
        "{address} cannot be listened to: {reason}; choose another port (--port, 0 takes a free \
         one) or an address of this machine (--listen)"
    )]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        reason: String,
    },
    /// The system starts no thread.
    #[error("the server's threads cannot be started: {reason}; end others, or raise `ulimit -u`")]
    Thread {
        /// What the system says.
        reason: String,
    },
}
