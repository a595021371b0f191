//! Errors of sessions and endpoints.

use crate::announcement::AnnouncementError;

/// The reason why an endpoint or node could not be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateEndpointError {
    /// The name cannot be sent.
    #[error("{name:?} cannot be a name on the wire: {reason}")]
    Name {
        /// The name.
        name: String,
        /// The reason why the name is refused.
        reason: String,
    },
    /// The name of the type cannot be sent.
    #[error("{type_name:?} is not a type name: expected {expected}")]
    TypeName {
        /// The name.
        type_name: String,
        /// The form that the name of a type must have.
        expected: &'static str,
    },
    /// The policies contradict each other or exceed the engine's limits.
    #[error("the QoS of {name} is not possible: {reason}")]
    Qos {
        /// The name of the topic or service.
        name: String,
        /// The contradiction or the limit.
        reason: String,
    },
    /// The announcement cannot be sent.
    #[error("{name} cannot be created with its announcement: {reason}")]
    Announcement {
        /// The name of the topic.
        name: String,
        /// The reason why the announcement is refused.
        reason: AnnouncementError,
    },
    /// The node does not belong to the session, or does not belong to it any longer.
    #[error("{name} cannot be created: its node was removed from the session")]
    NoNode {
        /// The name of the topic or service.
        name: String,
    },
    /// The engine failed and reported only a code.
    #[error("{name} cannot be created: {operation} failed with {code}")]
    Engine {
        /// The name of the topic, service or node.
        name: String,
        /// The operation that failed.
        operation: &'static str,
        /// The engine's description of the failure.
        code: String,
    },
}

/// The result of creating a part of a session.
pub type Created<T> = Result<T, CreateEndpointError>;

/// The reason why an event could not be taken, or liveliness could not be asserted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the engine refused an operation on {topic}: {code}")]
pub struct EventError {
    /// The name of the topic.
    pub topic: String,
    /// The engine's description of the failure.
    pub code: String,
}
