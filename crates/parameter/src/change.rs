//! A change of parameters, and the observer of changes.

use crate::value::NamedValue;

/// What happened to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The parameter was declared with a value.
    New,
    /// The value was set.
    Changed,
    /// The parameter was undeclared by a value of type [`NotSet`](crate::ParameterType::NotSet).
    Deleted,
    /// The parameter was declared without a value, which `/parameter_events` does not report.
    DeclaredWithoutValue,
    /// The parameter was forgotten by [`Store::undeclare`](crate::Store::undeclare), which neither
    /// callbacks nor `/parameter_events` report, as in rclcpp.
    Undeclared,
}

/// One change, of one parameter or of several at once.
#[derive(Debug, Default)]
pub struct Change {
    /// The parameters with their new values.
    pub parameters: Vec<NamedValue>,
    /// What happened to each of them.
    pub kinds: Vec<ChangeKind>,
}

/// The work of a node when parameters change, besides its post-set callbacks.
///
/// Calls come one at a time, in the order of the changes, without any lock.
pub trait ChangeObserver: Send + Sync {
    /// Called before the post-set callbacks; not for parameters that were undeclared.
    fn before_callbacks(&self, change: &Change);

    /// Called after the post-set callbacks.
    fn after_callbacks(&self, change: &Change);
}
