//! The work of a managed node in its transitions.

use crate::error::Error;
use crate::lifecycle::node::{LifecycleNode, RunCallback};
use crate::lifecycle_states::callback_return::CallbackReturn;
use crate::lifecycle_states::state::State;

/// The work of a managed node in its transitions. The node owns the callbacks, and calls one at a
/// time.
///
/// Every callback gets the node, for making endpoints, and the state that the node was in. An
/// `Err`, or a panic, is logged and means [`CallbackReturn::Error`], as an exception does in
/// `rclcpp_lifecycle`. A callback without an implementation succeeds, except `on_error`, which
/// fails: then the node is finalized.
///
/// Callbacks keep their state in `self`. A closure that needs the node itself takes
/// [`LifecycleNode::downgrade`]: with a clone of the node in `self`, the node would own itself and
/// never end.
///
/// `()` has the default implementations of all callbacks.
pub trait LifecycleCallbacks: Send + 'static {
    /// Acquires the resources that the work needs: endpoints, devices, memory. Then the node is
    /// inactive.
    ///
    /// # Errors
    /// When something breaks; the error is logged.
    fn on_configure(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Undoes [`on_configure`](Self::on_configure). Then the node is unconfigured.
    ///
    /// # Errors
    /// When something breaks; the error is logged.
    fn on_cleanup(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Begins work. Managed publishers send from here on. Then the node is active.
    ///
    /// # Errors
    /// When something breaks; the error is logged.
    fn on_activate(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Ends work. Managed publishers send until this returns. Then the node is inactive.
    ///
    /// # Errors
    /// When something breaks; the error is logged.
    fn on_deactivate(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Releases all resources. Then the node is finalized, whether this succeeds or fails.
    ///
    /// # Errors
    /// When something breaks; the error is logged.
    fn on_shutdown(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Cleans up after a callback with an error. Then the node is unconfigured, or finalized if
    /// this does not succeed.
    ///
    /// # Errors
    /// When something breaks; the error is logged.
    fn on_error(&mut self, node: &LifecycleNode, previous: State) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Failure)
    }
}

impl LifecycleCallbacks for () {}

/// Makes a function that calls the callback of a state.
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
