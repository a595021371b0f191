//! What a managed node does in its transitions.

use crate::error::Error;
use crate::lifecycle::callback_return::CallbackReturn;
use crate::lifecycle::node::{LifecycleNode, RunCallback};
use crate::lifecycle::state::State;

/// What a managed node does in its transitions; the node owns it, and calls one callback at a time.
///
/// Every callback gets the node, to make endpoints with, and the state that the node was in. An
/// `Err`, or a panic, is logged and means [`CallbackReturn::Error`], as an exception does in
/// `rclcpp_lifecycle`. A callback that is not written succeeds, but for `on_error`, which fails:
/// then the node is finalized.
///
/// What a callback keeps, it keeps in `self`. A closure that needs the node itself takes
/// [`LifecycleNode::downgrade`]: with a clone in `self`, the node would own itself and never end.
///
/// `()` has all callbacks as they are without being written.
pub trait LifecycleCallbacks: Send + 'static {
    /// Makes what work needs: endpoints, devices, memory. Then the node is inactive.
    ///
    /// # Errors
    /// What broke.
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
    /// What broke.
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
    /// What broke.
    fn on_activate(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Ends work. Managed publishers send until it returns. Then the node is inactive.
    ///
    /// # Errors
    /// What broke.
    fn on_deactivate(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Gives everything back. Then the node is finalized, whether this succeeds or fails.
    ///
    /// # Errors
    /// What broke.
    fn on_shutdown(
        &mut self,
        node: &LifecycleNode,
        previous: State,
    ) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Success)
    }

    /// Cleans up after a callback with an error. Then the node is unconfigured; or finalized, if
    /// this does not succeed.
    ///
    /// # Errors
    /// What broke.
    fn on_error(&mut self, node: &LifecycleNode, previous: State) -> Result<CallbackReturn, Error> {
        let _ = (node, previous);
        Ok(CallbackReturn::Failure)
    }
}

impl LifecycleCallbacks for () {}

/// The callbacks as the node calls them: by the state in which they run.
pub(super) fn into_run_callback(mut callbacks: impl LifecycleCallbacks) -> RunCallback {
    Box::new(move |node: &LifecycleNode, running: State, previous: State| match running {
        State::Configuring => callbacks.on_configure(node, previous),
        State::CleaningUp => callbacks.on_cleanup(node, previous),
        State::Activating => callbacks.on_activate(node, previous),
        State::Deactivating => callbacks.on_deactivate(node, previous),
        State::ShuttingDown => callbacks.on_shutdown(node, previous),
        State::ErrorProcessing => callbacks.on_error(node, previous),
        // Nothing runs in primary states.
        State::Unknown
        | State::Unconfigured
        | State::Inactive
        | State::Active
        | State::Finalized => Ok(CallbackReturn::Success),
    })
}
