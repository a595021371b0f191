//! The handlers of callback panics. Without a handler, a panic propagates out of the spin function
//! that ran the callback.

use feros_sync::Arc;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How the callbacks of a supervised entity are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supervision {
    /// The callbacks run, and a panic propagates out of the spin function.
    Off,
    /// The callbacks run, and a panic is caught and reported to [`Supervisor::panicked`].
    Catch,
    /// The callbacks no longer run: their entities are treated as if they had no work.
    Refuse,
}

/// Handles the panics of the entities that it [supervises](crate::Entity::supervised_by). The
/// captured state of a callback may be inconsistent after its panic, so a supervisor normally
/// refuses further callbacks of all entities that share this state.
pub trait Supervisor: Send + Sync {
    /// Returns the present treatment. The executor calls this before each execution, so it has to
    /// be cheap.
    fn supervision(&self) -> Supervision;

    /// A callback has panicked with this message. The executor calls this once for each panic, on
    /// the thread that ran the callback, with no lock held, after the entity is back in its slot.
    /// So this method may remove and drop the entity.
    fn panicked(&self, text: &str);
}

/// Runs `work` as the supervisor decides; returns `None` if the supervisor refused it or if it
/// panicked. This is for callbacks that run outside of an executor.
pub fn supervise<T>(supervisor: &dyn Supervisor, work: impl FnOnce() -> T) -> Option<T> {
    match attempt(supervisor, work) {
        Attempt::Finished(value) => Some(value),
        Attempt::Refused => None,
        Attempt::Panicked(payload) => {
            supervisor.panicked(&panic_text(&*payload));
            None
        }
    }
}

pub(crate) enum Attempt<T> {
    Finished(T),
    Refused,
    Panicked(Box<dyn Any + Send>),
}

pub(crate) fn attempt<T>(supervisor: &dyn Supervisor, work: impl FnOnce() -> T) -> Attempt<T> {
    match supervisor.supervision() {
        Supervision::Off => Attempt::Finished(work()),
        Supervision::Refuse => Attempt::Refused,
        // Unwind safety is the supervisor's responsibility: the supervisor decides whether the
        // state may be used after a panic.
        Supervision::Catch => match catch_unwind(AssertUnwindSafe(work)) {
            Ok(value) => Attempt::Finished(value),
            Err(payload) => Attempt::Panicked(payload),
        },
    }
}

/// A caught panic, to be reported once the entity is back in its slot.
pub(crate) struct Caught {
    pub(crate) supervisor: Arc<dyn Supervisor>,
    pub(crate) payload: Box<dyn Any + Send>,
}

impl Caught {
    pub(crate) fn report(self) {
        self.supervisor.panicked(&panic_text(&*self.payload));
    }
}

/// The message of a caught panic.
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
