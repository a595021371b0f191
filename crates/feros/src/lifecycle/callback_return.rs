//! How a callback of a transition ended.

/// How a callback of a transition ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CallbackReturn {
    /// The transition is done.
    Success = 97,
    /// The node stays in the state that it came from, or is finalized where it shuts down.
    Failure = 98,
    /// Something is broken; [`on_error`](super::LifecycleCallbacks::on_error) is called.
    Error = 99,
}
