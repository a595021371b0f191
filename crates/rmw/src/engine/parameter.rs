//! Parameters, for engines with a parameter server outside of the nodes.

use std::sync::Arc;

use super::NodeId;
use crate::name::NodeName;

/// A server outside of the nodes that keeps values of their parameters.
pub trait ParameterServer {
    /// The values that the server keeps for a node of this name, in YAML: the node's parameters
    /// start with them unless the node's own options say otherwise.
    ///
    /// May wait for the server.
    fn initial(&self, node: &NodeName) -> Vec<(String, String)>;

    /// Stores the value that a parameter of a node has now, or removes it, so that others find it
    /// on the server and [`initial`](Self::initial) returns it. A value that the server cannot keep
    /// is logged.
    ///
    /// May allocate; does not wait for the server.
    fn keep(&self, node: NodeId, name: &str, value: Option<ParameterData<'_>>);

    /// Makes a node's parameters follow the values that others store from now on, until the node is
    /// withdrawn.
    ///
    /// May allocate; does not wait for the server.
    fn follow(&self, node: NodeId, taker: Arc<dyn TakesParameters>);
}

/// The value of a node's parameter, of the types of `rcl_interfaces/msg/ParameterType`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterData<'a> {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Double(f64),
    /// A text.
    String(&'a str),
    /// Bytes.
    ByteArray(&'a [u8]),
    /// Booleans.
    BoolArray(&'a [bool]),
    /// Whole numbers.
    IntegerArray(&'a [i64]),
    /// Numbers.
    DoubleArray(&'a [f64]),
    /// Texts.
    StringArray(&'a [String]),
}

/// A node whose parameters follow the values on the parameter server.
pub trait TakesParameters: Send + Sync {
    /// Whether the node has declared a parameter. Calls no user code.
    fn has_parameter(&self, name: &str) -> bool;

    /// Gives a parameter a value, in YAML. The node's callbacks run during the call: an engine
    /// calls this without any lock, on a thread that nobody waits for.
    ///
    /// # Errors
    /// Returns an error if the node keeps its value.
    fn take_over(&self, name: &str, yaml: &str) -> Result<(), TakeOverError>;
}

/// Why a node does not take over a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TakeOverError {
    /// The node is being dropped.
    #[error("the node is gone")]
    Gone,
    /// The value is of another type, or a callback of the node refuses it.
    #[error("the node refuses {yaml} for its parameter {name}, and keeps its value: {reason}")]
    Refused {
        /// The parameter.
        name: String,
        /// The value.
        yaml: String,
        /// The reason that the node gives.
        reason: String,
    },
}
