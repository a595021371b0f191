//! The result of a transition's callback.

/// The result of a transition's callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CallbackReturn {
    /// The transition is done.
    Success = 97,
    /// The node returns to the state that it came from, or is finalized if it was shutting down.
    Failure = 98,
    /// Something broke; [`on_error`](crate::LifecycleCallbacks::on_error) is called.
    Error = 99,
}
