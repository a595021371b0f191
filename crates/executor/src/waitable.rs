//! The interface of things that a wait set can wait for.

use feros_doorbell::Ringer;
use std::time::Duration;

/// Something that becomes ready: a subscription, a service, a timer, a guard condition.
pub trait Waitable: Send + Sync {
    /// Rung whenever this may have become ready, and when the result of
    /// [`time_until_ready`](Self::time_until_ready) changes other than by the passing of time. It
    /// may be rung without a reason.
    fn ringer(&self) -> &Ringer;

    /// Whether it is ready; the check changes nothing. Called often on the waiting thread: it must
    /// not block.
    fn is_ready(&self) -> bool;

    /// The time until it becomes ready by the passing of time alone; `None` if it does not.
    fn time_until_ready(&self) -> Option<Duration> {
        None
    }
}
