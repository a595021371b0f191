//! Errors of calls of services.

use std::time::Duration;

use feros_engine::TakeError;
use feros_executor::Obstacle;
use feros_message::DecodeError;

use crate::publish_error::PublishError;

/// The reason why a call has no response.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The request could not be sent.
    #[error(transparent)]
    Request(#[from] PublishError),
    /// No response came in time.
    #[error(
        "{service} did not respond {}{}",
        feros_wording::within(*.waited),
        if *.available { "" } else { "; no server is there" }
    )]
    Timeout {
        /// The service.
        service: String,
        /// The time since the request was sent.
        waited: Duration,
        /// Whether there was a server when the time was over.
        available: bool,
    },
    /// The server belongs to this process and cannot run while the callback waits for it. If the
    /// request was already sent, the server handles it after the callback, when the caller no
    /// longer waits.
    #[error(
        "{service} cannot respond to node {node} while a callback waits for it: {obstacle}. Give \
         the executor several threads, and give one of the two its own callback group; or await \
         the response outside of the callback"
    )]
    ServerBlocked {
        /// The service.
        service: String,
        /// The node of the client.
        node: String,
        /// The resource that both the server and the callback need.
        obstacle: Obstacle,
    },
    /// The response is malformed.
    #[error(
        "the response of {service} is not a {type_name} response: {source}; check that both sides \
         use the same definition"
    )]
    Response {
        /// The service.
        service: String,
        /// The type of the service.
        type_name: String,
        /// The reason.
        source: DecodeError,
    },
    /// The engine could not take responses.
    #[error(transparent)]
    Engine(#[from] TakeError),
    /// The client was dropped.
    #[error("the call of {service} ended because its client was dropped")]
    Closed {
        /// The service.
        service: String,
    },
    /// All servers that could have responded left or were killed before they did.
    #[error(
        "{service} no longer has a server that could respond; call again once a server is there"
    )]
    ServerLeft {
        /// The service.
        service: String,
    },
    /// The context was shut down, by SIGINT for example.
    #[error("the context was shut down during the call of {service}")]
    Shutdown {
        /// The service.
        service: String,
    },
}
