//! A change of parameters, and the observer of changes.

use crate::value::NamedValue;

/// The kind of change of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The parameter was declared with a value.
    New,
    /// The value was set.
    Changed,
    /// The parameter was undeclared by setting it to a value of type
    /// [`NotSet`](crate::ParameterType::NotSet).
    Deleted,
    /// The parameter was declared without a value, which `/parameter_events` does not report.
    DeclaredWithoutValue,
    /// The parameter was undeclared by [`Store::undeclare`](crate::Store::undeclare), which neither
    /// callbacks nor `/parameter_events` report, as in rclcpp
    /// (`rclcpp/src/rclcpp/node_interfaces/node_parameters.cpp`).
    Undeclared,
}

/// One change, of one parameter or of several parameters together.
#[derive(Debug, Default)]
pub struct Change {
    /// The parameters with their new values.
    pub parameters: Vec<NamedValue>,
    /// The kind of change of each parameter, in the same order.
    pub kinds: Vec<ChangeKind>,
}

/// Reacts to changes of a node's parameters, in addition to the node's post-set callbacks.
///
/// The methods are called one at a time, in the order of the changes, while no lock is held.
pub trait ChangeObserver: Send + Sync {
    /// Called before the post-set callbacks, except for [`ChangeKind::Undeclared`].
    fn before_callbacks(&self, change: &Change);

    /// Called after the post-set callbacks.
    fn after_callbacks(&self, change: &Change);
}
