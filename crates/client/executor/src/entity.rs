//! The entities that an executor executes.

use crate::attributes::Attributes;
use crate::policy::Step;
use crate::supervisor::{Attempt, Caught, Supervisor, attempt};
use crate::timer_core::TimerCore;
use feros_doorbell::Ringer;
use feros_sync::Arc;
use std::fmt;

/// The result of a unit of work: whether more work waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More work waits: the entity stays ready and gets its next turn after the other ready
    /// entities.
    More,
    /// No further work is known. The next ring makes the entity ready again.
    Done,
}

/// A piece of work that is done in units, such as the messages of a subscription.
pub trait Executable: Send {
    /// Does at most one unit: takes one message and runs its callback, for example. Sometimes there
    /// is no work, because flags are only hints.
    ///
    /// The flag was cleared before the call, so a ring during the call leads to another call. It is
    /// enough if the body looks for work once after the call has begun. No lock of the executor is
    /// held; the body may add and remove entities, including its own. On [`Progress::More`] the
    /// executor sets the flag again itself.
    fn execute(&mut self) -> Progress;

    /// The first half of [`execute`](Self::execute), for executors that take the inputs of several
    /// entities before they run the first entity ([`Sequence`](crate::Sequence)). Takes the input
    /// of a unit and stores it. It calls no user code.
    ///
    /// The executor then calls [`run`](Self::run), or `execute` if the entity has been moved to
    /// another executor in the meantime. Neither call may lose the input. A body without an input
    /// does nothing in this function, and does all its work in `run`.
    fn take(&mut self) {}

    /// The second half of [`execute`](Self::execute): does the work on the input that
    /// [`take`](Self::take) has stored.
    fn run(&mut self) -> Progress {
        self.execute()
    }
}

impl<F: FnMut() -> Progress + Send> Executable for F {
    fn execute(&mut self) -> Progress {
        self()
    }
}

/// A body with its ringer, to be [added](crate::Executor::add) to an executor.
pub struct Entity {
    pub(crate) body: Box<dyn Executable>,
    pub(crate) ringer: Ringer,
    pub(crate) timer: Option<Arc<TimerCore>>,
    pub(crate) supervisor: Option<Arc<dyn Supervisor>>,
    pub(crate) attributes: Attributes,
}

impl Entity {
    /// Makes an entity whose `body` is executed after a ring of `ringer` or one of its clones.
    /// Closures that return [`Progress`] are bodies too. A ring before the entity is added to an
    /// executor takes effect when the entity is added.
    pub fn new(ringer: &Ringer, body: impl Executable + 'static) -> Self {
        let (ringer, attributes) = (ringer.clone(), Attributes::default());
        Self { body: Box::new(body), ringer, timer: None, supervisor: None, attributes }
    }

    /// Returns this entity with these attributes for policies and callback groups.
    #[must_use]
    pub fn with(self, attributes: Attributes) -> Self {
        Self { attributes, ..self }
    }

    /// The entity's attributes.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns this entity with a supervisor that handles its panics.
    #[must_use]
    pub fn supervised_by(self, supervisor: Arc<dyn Supervisor>) -> Self {
        Self { supervisor: Some(supervisor), ..self }
    }

    /// Executes one step of the body's work.
    pub(crate) fn execute(&mut self, step: Step) -> Result<Progress, Caught> {
        let Self { body, supervisor, .. } = self;
        let mut work = || match step {
            Step::Execute => body.execute(),
            Step::Run => body.run(),
            Step::Take => {
                body.take();
                Progress::Done
            }
        };
        let Some(supervisor) = supervisor else { return Ok(work()) };
        match attempt(&**supervisor, work) {
            Attempt::Finished(progress) => Ok(progress),
            Attempt::Refused => Ok(Progress::Done),
            Attempt::Panicked(payload) => {
                Err(Caught { supervisor: Arc::clone(supervisor), payload })
            }
        }
    }

    /// The ringer of this entity.
    pub fn ringer(&self) -> Ringer {
        self.ringer.clone()
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entity").field("ringer", &self.ringer).finish_non_exhaustive()
    }
}
