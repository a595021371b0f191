//! What a wait set can wait for.

use feros_doorbell::Ringer;
use std::time::Duration;

/// Something that becomes ready: a subscription, a service, a timer, a guard condition.
pub trait Waitable: Send + Sync {
    /// Rung whenever this may have become ready, and when the answer of
    /// [`time_until_ready`](Self::time_until_ready) changes for another reason than that time
    /// passes. It may be rung without a reason.
    fn ringer(&self) -> &Ringer;

    /// Whether it is ready, by a look that changes nothing. Called on the waiting thread, often: it
    /// must not block.
    fn is_ready(&self) -> bool;

    /// How long until it becomes ready by the mere passing of time; `None` if it does not.
    fn time_until_ready(&self) -> Option<Duration> {
        None
    }
}
