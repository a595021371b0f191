//! The reason why a node, or an endpoint or timer of a node, could not be made.

use feros_engine::{CreateEndpointError, NameError, NodeName};

/// The reason why a node, publisher, subscription, service, client or timer could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// A name is not allowed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The engine refused to make the node or the endpoint.
    #[error("node {node}: {source}")]
    Engine {
        /// The node of the endpoint.
        node: NodeName,
        /// The engine's reason.
        source: CreateEndpointError,
    },
    /// A parameter file of the node's own arguments cannot be used.
    #[error(transparent)]
    ParameterFile(#[from] feros_parameter::ParameterFileError),
    /// A parameter cannot be declared: either a parameter that every node has, or a parameter that
    /// is declared from the overrides.
    #[error("node {node}: {source}")]
    Parameter {
        /// The node.
        node: NodeName,
        /// The reason.
        source: feros_parameter::DeclareParameterError,
    },
    /// The parameters that override the QoS policies of an endpoint are invalid.
    #[error("node {node}: the policies of {topic} cannot be overridden: {reason}")]
    QosOverrides {
        /// The node.
        node: NodeName,
        /// The topic.
        topic: String,
        /// The reason.
        reason: String,
    },
    /// The executor that spins the node is full or frozen, or the callback group is another node's.
    #[error("node {node}: {name} cannot be added to the executor of the node: {reason}")]
    Executor {
        /// The node of the entity.
        node: NodeName,
        /// The entity.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The content filter of a subscription is invalid.
    #[error("node {node}: the messages of {topic} cannot be filtered: {reason}")]
    ContentFilter {
        /// The node.
        node: NodeName,
        /// The topic.
        topic: String,
        /// The reason.
        reason: String,
    },
    /// The `empty_result` of an action server is not a serialized message.
    #[error("node {node}: the empty result for {action} is not a serialized message: {reason}")]
    EmptyResult {
        /// The node.
        node: NodeName,
        /// The action.
        action: String,
        /// The reason.
        reason: &'static str,
    },
    /// An endpoint was used after its node was dropped.
    #[error(
        "{name} cannot be used: its node was dropped; keep a clone of the node as long as you use it"
    )]
    NodeGone {
        /// The endpoint.
        name: String,
    },
}
