//! Parameters as engines see them whose own world keeps their values.

use std::sync::Arc;

use super::NodeId;
use crate::name::NodeName;

/// A place outside of the nodes that keeps values of their parameters.
pub trait ParameterServer {
    /// The values that it keeps for a node of this name, in YAML: the node's parameters start with
    /// them unless the node's own options say otherwise.
    ///
    /// May wait for others.
    fn initial(&self, node: &NodeName) -> Vec<(String, String)>;

    /// Stores the value that a parameter of a node has now, or removes it, so that others find it
    /// there and [`initial`](Self::initial) returns it. A value that it cannot keep is reported.
    ///
    /// May allocate; does not wait for others.
    fn keep(&self, node: NodeId, name: &str, value: Option<ParameterData<'_>>);

    /// Makes a node's parameters follow what others store from now on, until the node is withdrawn.
    ///
    /// May allocate; does not wait for others.
    fn follow(&self, node: NodeId, taker: Arc<dyn TakesParameters>);
}

/// The value of a node's parameter, of the types of `rcl_interfaces/msg/ParameterType`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterData<'a> {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Double(f64),
    /// A text.
    String(&'a str),
    /// Bytes.
    ByteArray(&'a [u8]),
    /// Truth values.
    BoolArray(&'a [bool]),
    /// Whole numbers.
    IntegerArray(&'a [i64]),
    /// Numbers.
    DoubleArray(&'a [f64]),
    /// Texts.
    StringArray(&'a [String]),
}

/// A node whose parameters follow what others set in the engine's own world.
pub trait TakesParameters: Send + Sync {
    /// Whether it has declared a parameter. Calls no user code.
    fn has_parameter(&self, name: &str) -> bool;

    /// Gives a parameter a value, in YAML. The node's callbacks run meanwhile: an engine calls this
    /// without any lock, on a thread that nobody waits for.
    ///
    /// # Errors
    /// When the node keeps its value.
    fn take_over(&self, name: &str, yaml: &str) -> Result<(), TakeOverError>;
}

/// Why a node does not take over a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TakeOverError {
    /// It is being dropped.
    #[error("the node is gone")]
    Gone,
    /// The value is of another type, or a callback of the node refuses it.
    #[error("the node refuses {yaml} for its parameter {name}, and keeps its value: {reason}")]
    Refused {
        /// The parameter.
        name: String,
        /// The value.
        yaml: String,
        /// What the node says.
        reason: String,
    },
}
