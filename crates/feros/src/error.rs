//! Errors that several operations share, and the identity of types that they name.

use std::time::Duration;

use feros_message::{Message, Service};
use feros_rmw::{CreateEndpointError, NameError, NodeName, TypeHash};

/// Name and hash of a message type, as endpoints announce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeIdentity {
    /// As `package/msg/Name`.
    pub name: String,
    /// Its hash; an endpoint without one matches by name only.
    pub hash: Option<TypeHash>,
}

impl TypeIdentity {
    /// The identity of a generated type.
    pub fn of<M: Message>() -> Self {
        Self { name: M::TYPE_NAME.to_owned(), hash: Some(TypeHash(M::TYPE_HASH.0)) }
    }
}

/// Name and message hashes of a service type, as endpoints announce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceIdentity {
    /// As `package/srv/Name`.
    pub name: String,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
}

impl ServiceIdentity {
    /// The identity of a generated service type.
    pub fn of<S: Service>() -> Self {
        let hash = |hash: feros_message::TypeHash| Some(TypeHash(hash.0));
        Self {
            name: S::TYPE_NAME.to_owned(),
            request_hash: hash(<S::Request as Message>::TYPE_HASH),
            response_hash: hash(<S::Response as Message>::TYPE_HASH),
        }
    }
}

/// Why a node, publisher, subscription, service, client or timer could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// A name is not allowed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The engine refused.
    #[error("node {node}: {source}")]
    Engine {
        /// The node that wanted it.
        node: NodeName,
        /// Why the engine refused.
        source: CreateEndpointError,
    },
    /// A parameter file of the node's own arguments cannot be used.
    #[error(transparent)]
    ParameterFile(#[from] crate::parameter::ParameterFileError),
    /// A parameter that every node has, or one that is declared from what overrides it, cannot be
    /// declared.
    #[error("node {node}: {source}")]
    Parameter {
        /// The node.
        node: NodeName,
        /// Why not.
        source: crate::parameter::DeclareParameterError,
    },
    /// Parameters that override policies of an endpoint say what cannot be.
    #[error("node {node}: the policies of {topic} cannot be overridden: {reason}")]
    QosOverrides {
        /// The node.
        node: NodeName,
        /// The topic.
        topic: String,
        /// Why not.
        reason: String,
    },
    /// The executor that spins the node is full or frozen, or the callback group is another node's.
    #[error("node {node}: {name} cannot be added to the node's executor: {reason}")]
    Executor {
        /// The node that wanted it.
        node: NodeName,
        /// What was to be added.
        name: String,
        /// Why not.
        reason: String,
    },
}

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

/// Any error of this crate: what `main` returns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No context.
    #[error(transparent)]
    Context(#[from] crate::ContextError),
    /// No node or endpoint.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// Not published.
    #[error(transparent)]
    Publish(#[from] crate::PublishError),
    /// No response.
    #[error(transparent)]
    Call(#[from] crate::CallError),
    /// Not there in time.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// No parameter.
    #[error(transparent)]
    DeclareParameter(#[from] crate::parameter::DeclareParameterError),
    /// Not set.
    #[error(transparent)]
    SetParameter(#[from] crate::parameter::SetParameterError),
    /// Not undeclared.
    #[error(transparent)]
    UndeclareParameter(#[from] crate::parameter::UndeclareParameterError),
    /// Not read.
    #[error(transparent)]
    GetParameter(#[from] crate::parameter::GetParameterError),
    /// Not added.
    #[error(transparent)]
    AddNode(#[from] crate::AddNodeError),
    /// Not spun.
    #[error(transparent)]
    Spin(#[from] feros_executor::SpinError),
    /// What a program or a component has to say for itself; see [`Error::other`].
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// An error that is not of Feros, such as a device that does not answer.
    ///
    /// ```
    /// let error = feros::Error::other("no camera at /dev/video0");
    /// assert_eq!(error.to_string(), "no camera at /dev/video0");
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}
