//! The results of spin functions, and the reasons why they cannot begin.

use crate::realtime::RealtimeError;

/// The result of a spin function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<T = ()> {
    /// The condition became true, or the future completed.
    Completed(T),
    /// The timeout passed before that.
    TimedOut,
    /// [`Stopper::stop`](crate::Stopper::stop) was called before that.
    Stopped,
}

/// The reason why an executor cannot spin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpinError {
    /// Another thread already spins the executor.
    #[error(
        "thread `{thread}` spins this executor already: let one thread spin it, or give this thread an executor of \
         its own"
    )]
    AlreadySpinning {
        /// The name of that thread, or its id if it has no name.
        thread: String,
    },
    /// A callback that the executor is running made the call.
    #[error(
        "this callback is run by the executor that it wants to spin: return from the callback instead of waiting in \
         it, or wait on an executor of its own in another thread"
    )]
    InsideCallback,
    /// The system cannot start a worker thread.
    #[error(
        "thread `{name}` of the executor cannot be started: {reason}; give it fewer threads, or raise `ulimit -u`"
    )]
    Thread {
        /// The thread's name.
        name: String,
        /// The system's error.
        reason: String,
    },
    /// The system refuses a setting of the executor's [`RealtimeConfig`](crate::RealtimeConfig).
    #[error(transparent)]
    Realtime(#[from] RealtimeError),
}
