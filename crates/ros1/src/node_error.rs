//! Why a node cannot be.

use std::net::IpAddr;

use crate::master::MasterError;

/// Where a master is if nothing says otherwise.
pub const DEFAULT_MASTER: &str = "http://localhost:11311";

/// Why a node cannot be.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The address of the master is none.
    #[error("`{uri}` is no address of a ROS 1 master: ROS_MASTER_URI is like {DEFAULT_MASTER}")]
    MasterUri {
        /// What it was.
        uri: String,
    },
    /// The name is none of ROS 1.
    #[error(
        "`{name}` is no name of ROS 1: it begins with a letter, `/` or `~` and has letters, digits, `_` and `/`"
    )]
    Name {
        /// What it was.
        name: String,
    },
    /// The node cannot listen.
    #[error("no port to listen on at {host}: {source}")]
    Listen {
        /// The address.
        host: IpAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The system has no thread to give.
    #[error("no threads for connections of ROS 1: {0}; raise `ulimit -u`, or end other processes")]
    Threads(#[source] std::io::Error),
    /// There is one of this name already.
    #[error("{name} is already there in this node")]
    Taken {
        /// The topic or service.
        name: String,
    },
    /// The master refuses or is not there.
    #[error(transparent)]
    Master(#[from] MasterError),
}
