//! The reason why a wait ended before its condition held.

use std::time::Duration;

/// The reason why a wait ended before its condition held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The timeout passed.
    #[error(
        "{what} did not appear {}; is it running in the same domain? `feros doctor` helps",
        feros_wording::within(*.waited)
    )]
    Timeout {
        /// The awaited thing, such as a server of a service.
        what: String,
        /// The timeout.
        waited: Duration,
    },
    /// The context was shut down.
    #[error("the context was shut down while waiting for {what}")]
    Shutdown {
        /// The awaited thing, such as a server of a service.
        what: String,
    },
}
