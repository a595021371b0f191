//! Who answers for the panics of callbacks: without one, a panic leaves the spin function that ran
//! the callback.

use feros_sync::Arc;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is done with the callbacks of a supervised entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supervision {
    /// They run, and a panic leaves the spin function.
    Off,
    /// They run, and a panic is caught and told to [`Supervisor::panicked`].
    Catch,
    /// They run no more: their entities are executed as if they had nothing to do.
    Refuse,
}

/// Answers for the panics of the entities that it was [given to](crate::Entity::supervised_by).
/// What a callback has captured may be in disorder after its panic, so a supervisor normally
/// refuses further ones of everything that shares it.
pub trait Supervisor: Send + Sync {
    /// What to do now; asked before each execution, so it has to be cheap.
    fn supervision(&self) -> Supervision;

    /// A callback has panicked with this text. Called once for each, on the thread that ran it,
    /// with no lock held, after the entity is back in its slot: it may be removed and dropped from
    /// here.
    fn panicked(&self, text: &str);
}

/// Runs `work` as the supervisor wants it; `None` if it was refused or has panicked. For callbacks
/// that run outside of an executor.
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
        // Whether something is in disorder is for the supervisor to judge.
        Supervision::Catch => match catch_unwind(AssertUnwindSafe(work)) {
            Ok(value) => Attempt::Finished(value),
            Err(payload) => Attempt::Panicked(payload),
        },
    }
}

/// A caught panic, to be told when the entity is back in its slot.
pub(crate) struct Caught {
    pub(crate) supervisor: Arc<dyn Supervisor>,
    pub(crate) payload: Box<dyn Any + Send>,
}

impl Caught {
    pub(crate) fn tell(self) {
        self.supervisor.panicked(&panic_text(&*self.payload));
    }
}

/// What a caught panic says.
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
