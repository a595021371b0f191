//! Why a message was not sent.

use feros_rmw::FillAborted;
use feros_shm::LoanError;

/// Why a message was not published.
///
/// Nothing was sent; but with [`PublishError::Engine`], subscriptions on the two local transports
/// may have the message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PublishError {
    /// No shared memory is left, and the options do not allow the network instead.
    #[error("{topic} was not published: {source}")]
    SharedMemory {
        /// The topic.
        topic: String,
        /// The exhausted resource.
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
