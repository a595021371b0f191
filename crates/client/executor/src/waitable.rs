//! The interface of entities that a wait set can wait for.

use feros_doorbell::Ringer;
use std::time::Duration;

/// An entity that becomes ready: a subscription, a service, a client, a timer or a guard condition.
pub trait Waitable: Send + Sync {
    /// The ringer that is rung whenever this may have become ready, and whenever the result of
    /// [`time_until_ready`](Self::time_until_ready) changes other than by the passing of time. It
    /// may be rung without a reason.
    fn ringer(&self) -> &Ringer;

    /// Whether this is ready; the check changes nothing. The waiting thread calls this often, so it
    /// must not block.
    fn is_ready(&self) -> bool;

    /// The time until this becomes ready by the passing of time alone; `None` if it does not.
    fn time_until_ready(&self) -> Option<Duration> {
        None
    }
}
