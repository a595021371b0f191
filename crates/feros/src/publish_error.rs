//! Why a message, request or response was not published.

use feros_message::{BuildError, EncodeError};

/// Why a message was not published.
///
/// Nothing was sent, except with [`PublishError::Engine`]: subscriptions on the process and host
/// transports may have the message then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The message violates its own type: a bound, a NUL inside a string.
    #[error("the message for {topic} cannot be serialized: {source}")]
    Encode {
        /// The topic or service.
        topic: String,
        /// What is wrong.
        source: EncodeError,
    },
    /// The sizes of a message to be built in place violate its type.
    #[error("no message for {topic} can be built: {source}")]
    Shape {
        /// The topic.
        topic: String,
        /// What is wrong.
        source: BuildError,
    },
    /// The shared memory that was lent for a message is not as it was laid out.
    #[error(
        "the message being built for {topic} was overwritten by another process, which must be one of this user: {source}"
    )]
    Overwritten {
        /// The topic.
        topic: String,
        /// What is wrong.
        source: BuildError,
    },
    /// No shared memory is left, and the publisher was told not to use the network transport
    /// instead.
    #[error("{topic} was not published: {source}")]
    SharedMemory {
        /// The topic.
        topic: String,
        /// What is exhausted.
        source: feros_shm::LoanError,
    },
    /// No server is there that a request could go to.
    #[error(
        "{service} has no server, so the request was not sent: start it, and wait for it with `wait_for_service` before the call"
    )]
    NoServer {
        /// The service.
        service: String,
    },
    /// The bytes are no serialized message.
    #[error("what was published on {topic} is no serialized message: {reason}")]
    NotSerialized {
        /// The topic or service.
        topic: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// It could not be sent.
    #[error(transparent)]
    Engine(#[from] feros_rmw::PublishError),
}

impl From<feros_transport::PublishError> for PublishError {
    fn from(error: feros_transport::PublishError) -> Self {
        use feros_transport::PublishError as E;
        match error {
            E::SharedMemory { topic, source } => Self::SharedMemory { topic, source },
            E::Engine(error) => Self::Engine(error),
        }
    }
}
