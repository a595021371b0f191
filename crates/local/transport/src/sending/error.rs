//! The errors that occur when a message is published.

use feros_engine::FillAborted;
use feros_shm::LoanError;

/// The reason why a message was not published.
///
/// After an error, the message has not been sent, with one exception: after
/// [`PublishError::Engine`], subscriptions on the two local transports may have received the
/// message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PublishError {
    /// No shared memory is left, and the options do not allow the network transport instead.
    #[error("the message on {topic} was not published: {source}")]
    SharedMemory {
        /// The topic.
        topic: String,
        /// The exhausted resource.
        source: LoanError,
    },
    /// The message could not be sent.
    #[error(transparent)]
    Engine(#[from] feros_engine::PublishError),
}

impl From<FillAborted> for PublishError {
    fn from(_: FillAborted) -> Self {
        Self::Engine(feros_engine::PublishError::FillAborted)
    }
}
