//! The callbacks of a managed node for its transitions.

use crate::error::Error;
use crate::lifecycle::node::{LifecycleNode, RunCallback};
use crate::lifecycle_states::callback_return::CallbackReturn;
use crate::lifecycle_states::state::State;

/// The callbacks of a managed node, one for each kind of transition. The node owns the callbacks
/// and calls one at a time.
///
/// Every callback gets the node, with which it can make endpoints, and the state in which the node
/// was before the transition. An `Err` or a panic is logged and counts as
/// [`CallbackReturn::Error`], like an exception in `rclcpp_lifecycle`. The default implementations
/// succeed, except that of `on_error`, which fails, so that the node is finalized.
///
/// Callbacks store their state in `self`. A closure that needs the node must use
/// [`LifecycleNode::downgrade`]: with a clone of the node in `self`, the node would own itself and
/// never end.
///
/// The type `()` implements the trait with all defaults.
#[expect(unused_variables, reason = "the default implementations do nothing")]
pub trait LifecycleCallbacks: Send + 'static {
    /// Acquires the resources that the node's work needs, such as endpoints, devices and memory.
    /// After success the node is inactive.
    ///
    /// # Errors
    /// When the callback has an error, which is logged and leads to [`on_error`](Self::on_error).
    fn on_configure(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        Ok(CallbackReturn::Success)
    }

    /// Undoes [`on_configure`](Self::on_configure). After success the node is unconfigured.
    ///
    /// # Errors
    /// When the callback has an error, which is logged and leads to [`on_error`](Self::on_error).
    fn on_cleanup(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        Ok(CallbackReturn::Success)
    }

    /// Begins the node's work. Managed publishers send messages from the moment at which this
    /// callback begins. After success the node is active.
    ///
    /// # Errors
    /// When the callback has an error, which is logged and leads to [`on_error`](Self::on_error).
    fn on_activate(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        Ok(CallbackReturn::Success)
    }

    /// Ends the node's work. Managed publishers send until this callback has returned. After
    /// success the node is inactive.
    ///
    /// # Errors
    /// When the callback has an error, which is logged and leads to [`on_error`](Self::on_error).
    fn on_deactivate(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        Ok(CallbackReturn::Success)
    }

    /// Releases all resources. Afterwards the node is finalized, whether this callback succeeds or
    /// fails.
    ///
    /// # Errors
    /// When the callback has an error, which is logged and leads to [`on_error`](Self::on_error).
    fn on_shutdown(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        Ok(CallbackReturn::Success)
    }

    /// Cleans up after a callback that had an error. Afterwards the node is unconfigured, or
    /// finalized if this callback does not succeed.
    ///
    /// # Errors
    /// When this callback has an error itself, which is logged; the node is then finalized.
    fn on_error(&mut self, node: &LifecycleNode, previous: State) -> Result<CallbackReturn, Error> {
        Ok(CallbackReturn::Failure)
    }
}

impl LifecycleCallbacks for () {}

/// Makes the function that calls the callback of a state.
pub(super) fn into_run_callback(mut callbacks: impl LifecycleCallbacks) -> RunCallback {
    Box::new(move |node: &LifecycleNode, running: State, previous: State| match running {
        State::Configuring => callbacks.on_configure(node, previous),
        State::CleaningUp => callbacks.on_cleanup(node, previous),
        State::Activating => callbacks.on_activate(node, previous),
        State::Deactivating => callbacks.on_deactivate(node, previous),
        State::ShuttingDown => callbacks.on_shutdown(node, previous),
        State::ErrorProcessing => callbacks.on_error(node, previous),
        // No callback runs in primary states.
        State::Unknown
        | State::Unconfigured
        | State::Inactive
        | State::Active
        | State::Finalized => Ok(CallbackReturn::Success),
    })
}
