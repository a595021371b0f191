//! Parameters, for engines with a parameter server outside the nodes.

use std::sync::Arc;

use super::NodeId;
use crate::name::NodeName;

/// A server outside the nodes that stores their parameters.
pub trait ParameterServer {
    /// Returns the values that the server stores for the node with this name, in YAML. The node's
    /// parameters start with these values, unless the node's own options set them.
    ///
    /// May wait for the server.
    fn initial(&self, node: &NodeName) -> Vec<(String, String)>;

    /// Stores the current value of a node's parameter on the server, so that other programs find
    /// the value and [`initial`](Self::initial) returns it. `None` removes the value. If the server
    /// cannot store a value, this is logged.
    ///
    /// May allocate memory. Does not wait for the server.
    fn keep(&self, node: NodeId, name: &str, value: Option<ParameterData<'_>>);

    /// Until the node is withdrawn, passes to `taker` every value that other programs store for the
    /// node.
    ///
    /// May allocate memory. Does not wait for the server.
    fn follow(&self, node: NodeId, taker: Arc<dyn TakesParameters>);
}

/// The value of a node's parameter, with the types of `rcl_interfaces/msg/ParameterType`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterData<'a> {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Double(f64),
    /// A string.
    String(&'a str),
    /// Bytes.
    ByteArray(&'a [u8]),
    /// Booleans.
    BoolArray(&'a [bool]),
    /// Integers.
    IntegerArray(&'a [i64]),
    /// Floating-point numbers.
    DoubleArray(&'a [f64]),
    /// Strings.
    StringArray(&'a [String]),
}

/// A node whose parameters follow the values on the parameter server.
pub trait TakesParameters: Send + Sync {
    /// Whether the node has declared a parameter. Calls no user code.
    fn has_parameter(&self, name: &str) -> bool;

    /// Sets a parameter to a value in YAML. The callbacks of the node run during the call. So an
    /// engine must call this function without holding a lock, and on a thread for which no other
    /// thread waits.
    ///
    /// # Errors
    /// Returns an error if the node refuses the value.
    fn take_over(&self, name: &str, yaml: &str) -> Result<(), TakeOverError>;
}

/// The reason why a node did not accept a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TakeOverError {
    /// The node is being dropped.
    #[error("the node is gone")]
    Gone,
    /// The value has another type, or a callback of the node refuses it.
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
