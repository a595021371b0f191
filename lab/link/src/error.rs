//! Why there is no link, with the cure; for all that makes one.

use crate::namespace::{MissingProgram, NamespaceError};
use crate::options::LinkOptionsError;

/// Hosts of a switch: their addresses end in 1 to this.
pub(crate) const MOST_HOSTS: usize = 250;

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// No link can be as asked.
    #[error(transparent)]
    Options(#[from] LinkOptionsError),
    /// A namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// This machine has no TAP devices.
    #[error(
        "/dev/net/tun is missing ({cause}): load the kernel module (modprobe tun), or start the container with --device /dev/net/tun"
    )]
    NoTunDevice {
        /// What looking for it said.
        cause: std::io::Error,
    },
    /// This process may not make devices.
    #[error(
        "network devices are not permitted to this process ({cause}): run it as root, or with the capability NET_ADMIN"
    )]
    NotPermitted {
        /// What the system said.
        cause: std::io::Error,
    },
    /// A program that is needed is not installed.
    #[error(transparent)]
    MissingProgram(#[from] MissingProgram),
    /// The device of a host could not be made or set.
    #[error("{what}: {cause}")]
    Device {
        /// What was done.
        what: &'static str,
        /// What the system said.
        cause: std::io::Error,
    },
    /// An address or a route could not be set.
    #[error("`{command}` failed: {said}")]
    Configure {
        /// The command.
        command: String,
        /// What it said.
        said: String,
    },
    /// Senders cannot be made to wait.
    #[error(
        "backpressure needs the kernel's token bucket filter (`{command}`: {said}): load its module (modprobe sch_tbf), or ask for a link \
         without backpressure"
    )]
    Backpressure {
        /// The command.
        command: String,
        /// What it said.
        said: String,
    },
    /// A switch has too few or too many hosts.
    #[error("a switch between {asked} hosts: give 2 to {MOST_HOSTS}")]
    Hosts {
        /// How many were asked for.
        asked: usize,
    },
    /// The link's thread could not be started.
    #[error("the link's thread could not be started: {0}")]
    Thread(#[source] std::io::Error),
}
