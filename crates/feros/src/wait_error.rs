//! Why waiting ended without what was waited for.

use std::time::Duration;

/// Why waiting ended without what was waited for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// Time ran out.
    #[error(
        "{what} did not appear within {waited:?}; is it running in the same domain? `feros doctor` helps"
    )]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long.
        waited: Duration,
    },
    /// The context was shut down.
    #[error("the context was shut down while waiting for {what}")]
    Shutdown {
        /// What was waited for.
        what: String,
    },
}
