//! The interface of entities that a wait set can wait for.

use feros_doorbell::Ringer;
use std::time::Duration;

/// An entity that becomes ready: a subscription, a service, a client, a timer or a guard condition.
pub trait Waitable: Send + Sync {
    /// The ringer that is rung whenever this entity may have become ready, and whenever the result
    /// of [`time_until_ready`](Self::time_until_ready) changes for a reason other than the passing
    /// of time. It may also be rung without a reason.
    fn ringer(&self) -> &Ringer;

    /// Whether this entity is ready. The check changes nothing. The waiting thread calls this
    /// function often, so it must not block.
    fn is_ready(&self) -> bool;

    /// The time until this entity becomes ready through the passing of time alone; `None` if the
    /// passing of time does not make it ready.
    fn time_until_ready(&self) -> Option<Duration> {
        None
    }
}
