//! The result of a transition's callback.

/// The result of a transition's callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CallbackReturn {
    /// The transition succeeded.
    Success = 97,
    /// The transition failed: the node returns to the state before it, or is finalized if it was
    /// shutting down.
    Failure = 98,
    /// The callback had an error; [`on_error`](crate::LifecycleCallbacks::on_error) is called.
    Error = 99,
}
