//! The reasons why the server does not start.

use std::net::{IpAddr, SocketAddr};

/// The reason why the server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Other machines could connect, and there is no token.
    #[error(
        "{address} can be reached from other machines: this needs a token (--token), or an address \
         of this machine alone, such as 127.0.0.1"
    )]
    NoToken {
        /// The address.
        address: IpAddr,
    },
    /// The options allow the origin `null`.
    #[error(
        "`null` is the origin of every sandboxed frame and of every local file, so it cannot be \
         allowed; serve your page over HTTP, and name its address (--allow-origin)"
    )]
    NullOrigin,
    /// The address is in use, or does not belong to this machine.
    #[error(
        "cannot listen at {address}: {reason}; choose another port (--port, 0 takes a free \
         one) or an address of this machine (--listen)"
    )]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        reason: String,
    },
    /// The system refused to start a thread.
    #[error(
        "the server's threads cannot be started: {reason}; end other processes, or raise `ulimit -u`"
    )]
    Thread {
        /// The system's error.
        reason: String,
    },
}
