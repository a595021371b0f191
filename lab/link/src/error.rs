//! The errors of creating a link, each with its cure.

use crate::namespace::{MissingProgram, NamespaceError};
use crate::options::LinkOptionsError;

/// The reason why a link could not be created.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// No link can have the requested options; the source gives the reason.
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
        /// The error of the lookup.
        cause: std::io::Error,
    },
    /// This process may not create devices.
    #[error(
        "network devices are not permitted to this process ({cause}): run it as root, or with the capability NET_ADMIN"
    )]
    NotPermitted {
        /// The system's error.
        cause: std::io::Error,
    },
    /// A required program is not installed.
    #[error(transparent)]
    MissingProgram(#[from] MissingProgram),
    /// The device of a host could not be created or configured.
    #[error("{what}: {cause}")]
    Device {
        /// The step that failed.
        what: &'static str,
        /// The system's error.
        cause: std::io::Error,
    },
    /// An address or a route could not be set.
    #[error("`{command}` failed: {said}")]
    Configure {
        /// The command.
        command: String,
        /// The command's error output.
        said: String,
    },
    /// The kernel cannot make senders wait.
    #[error(
        "backpressure needs the kernel's token bucket filter (`{command}`: {said}): load its module (modprobe sch_tbf), or ask for a link \
         without backpressure"
    )]
    Backpressure {
        /// The command.
        command: String,
        /// The command's error output.
        said: String,
    },
    /// The link's thread could not be started.
    #[error("the link's thread could not be started: {0}")]
    Thread(#[source] std::io::Error),
}
