//! The reason why a message, request or response was not published.

use feros_message::{BuildError, EncodeError};

/// The reason why a message was not published.
///
/// The message reached no subscription. The exception is [`PublishError::Engine`]: subscriptions on
/// the intra-process and shared-memory transports may then have received the message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The message violates its type, for example because it exceeds a bound, or because a string
    /// contains a NUL.
    #[error("the message for {topic} cannot be serialized: {source}")]
    Encode {
        /// The topic or service.
        topic: String,
        /// The reason.
        source: EncodeError,
    },
    /// The sizes requested for a loan violate the type of the message.
    #[error("a message for {topic} cannot be built: {source}")]
    Shape {
        /// The topic.
        topic: String,
        /// The reason.
        source: BuildError,
    },
    /// The layout of a message in lent shared memory is no longer valid, because another process
    /// has overwritten it.
    #[error(
        "another process of this user overwrote the message that is being built for {topic}: \
         {source}"
    )]
    Overwritten {
        /// The topic.
        topic: String,
        /// The reason.
        source: BuildError,
    },
    /// No shared memory is left, and the publisher's options do not allow the message to take the
    /// network transport instead.
    #[error("the message on {topic} was not published: {source}")]
    SharedMemory {
        /// The topic.
        topic: String,
        /// The resource that is exhausted.
        source: feros_shm::LoanError,
    },
    /// There is no server for the request.
    #[error(
        "{service} has no server, so the request was not sent: start it, and wait for it with `wait_for_service` before the call"
    )]
    NoServer {
        /// The service.
        service: String,
    },
    /// The bytes are not a serialized message.
    #[error("the bytes published on {topic} are not a serialized message: {reason}")]
    NotSerialized {
        /// The topic or service.
        topic: String,
        /// The reason.
        reason: &'static str,
    },
    /// The engine could not send the message.
    #[error(transparent)]
    Engine(#[from] feros_engine::PublishError),
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
