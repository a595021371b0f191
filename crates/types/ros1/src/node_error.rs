//! The error for a node that cannot be created or that cannot register.

use std::net::IpAddr;

use crate::master::MasterError;

/// The default address of the master.
pub const DEFAULT_MASTER: &str = "http://localhost:11311";

/// The reason why a node cannot be created or cannot register.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The address of the master is malformed.
    #[error("`{uri}` is not an address of a ROS 1 master: ROS_MASTER_URI is like {DEFAULT_MASTER}")]
    MasterUri {
        /// The malformed address.
        uri: String,
    },
    /// The name is not allowed in ROS 1.
    #[error(
        "`{name}` is not a valid ROS 1 name: a name begins with a letter, `/` or `~` and consists \
         of letters, digits, `_` and `/`"
    )]
    Name {
        /// The invalid name.
        name: String,
    },
    /// The node cannot listen.
    #[error("the node cannot listen on a port of {host}: {source}")]
    Listen {
        /// The address.
        host: IpAddr,
        /// The reason.
        source: std::io::Error,
    },
    /// The operating system cannot start a thread.
    #[error(
        "the threads for ROS 1 connections cannot be started: {0}; raise `ulimit -u`, or end other \
         processes"
    )]
    Threads(#[source] std::io::Error),
    /// The node already has a topic or service with this name.
    #[error("{name} already exists in this node")]
    Taken {
        /// The topic or service.
        name: String,
    },
    /// The master refuses the call or is absent.
    #[error(transparent)]
    Master(#[from] MasterError),
}
