//! Why a message was not sent.

use feros_rmw::FillAborted;
use feros_shm::LoanError;

/// Why a message was not published.
///
/// Nothing was sent, except with [`PublishError::Engine`]: subscriptions on the intra-process and
/// shared-memory transports may have the message then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PublishError {
    /// No shared memory is left, and the publisher was told not to use the network instead.
    #[error("{topic} was not published: {source}")]
    SharedMemory {
        /// The topic.
        topic: String,
        /// What is exhausted.
        source: LoanError,
    },
    /// The message could not be sent.
    #[error(transparent)]
    Engine(#[from] feros_rmw::PublishError),
}

impl From<FillAborted> for PublishError {
    fn from(_: FillAborted) -> Self {
        Self::Engine(feros_rmw::PublishError::FillAborted)
    }
}
