//! The executors that run callbacks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use feros::{Executor, IsolatedExecutors, Node, Stopper};
use feros_lab_contract::{self as contract, Arguments, Failure, Output, Samples};

/// The time that a thread looks for work before it sleeps, if the arguments request this. It is
/// longer than the interval of messages at 1 kHz.
const BUSY_WAIT: Duration = Duration::from_millis(3);
/// The interval at which a program that only receives checks whether it must stop.
const LOOK: Duration = Duration::from_millis(250);

/// The executor of the task, or the executors of its nodes.
pub(crate) enum Spinning {
    One(Arc<Executor>),
    Isolated(IsolatedExecutors),
}

impl Spinning {
    /// Creates the executors that the arguments ask for.
    pub(crate) fn new(arguments: &Arguments) -> Self {
        Self::of(arguments.executor, arguments)
    }

    /// Creates executors of this kind; all other settings come from the arguments.
    pub(crate) fn of(kind: contract::Executor, arguments: &Arguments) -> Self {
        let busy_wait = match arguments.extra("--busy-wait") {
            "yes" => BUSY_WAIT,
            _ => Duration::ZERO,
        };
        let builder = Executor::builder().busy_wait(busy_wait);
        match kind {
            contract::Executor::Default | contract::Executor::Single => {
                Self::One(Arc::new(builder.build()))
            }
            contract::Executor::Multi => {
                let processors = std::thread::available_parallelism().map_or(2, usize::from);
                Self::One(Arc::new(builder.threads(processors.max(2)).build()))
            }
            contract::Executor::Isolated => Self::Isolated(IsolatedExecutors::new()),
        }
    }

    /// Reports the processor time that was spent looking for work, if any.
    pub(crate) fn tell(&self, output: &Output) {
        let Self::One(executor) = self else { return };
        let seconds = executor.busy_waited().as_secs_f64();
        if seconds > 0.0 {
            output.values(&BTreeMap::from([("busy_waited_seconds", seconds)]));
        }
    }

    pub(crate) fn add(&self, node: &Node) -> Result<(), Failure> {
        match self {
            Self::One(executor) => Ok(executor.add_node(node)?),
            Self::Isolated(executors) => Ok(executors.add_node(node)?),
        }
    }

    /// Ends [`Self::until_done`] from a callback; `None` if every node has its own thread.
    pub(crate) fn stopper(&self) -> Option<Stopper> {
        match self {
            Self::One(executor) => Some(executor.stopper()),
            Self::Isolated(_) => None,
        }
    }

    /// Spins on this thread until a callback or the laboratory stops it.
    pub(crate) fn until_done(
        &self,
        arguments: &Arguments,
        node: &Node,
        samples: &Samples,
    ) -> Result<(), Failure> {
        let Self::One(executor) = self else {
            while !samples.is_done() && !arguments.wait_stopped(Duration::from_millis(20)) {}
            return Ok(());
        };
        let (arguments, stopper) = (arguments.clone(), executor.stopper());
        let _timer = node.create_wall_timer(LOOK, move || {
            if arguments.is_stopped() {
                stopper.stop();
            }
        })?;
        Ok(executor.spin()?)
    }

    /// Spins idle nodes until the laboratory stops the program.
    pub(crate) fn idle(&self, arguments: &Arguments) -> Result<(), Failure> {
        match self {
            Self::One(executor) if executor.threads() == 1 => {
                while !arguments.is_stopped() {
                    executor.spin_once(Some(LOOK))?;
                }
            }
            _ => {
                let spinning = self.beside()?;
                while !arguments.wait_stopped(LOOK) {}
                self.end(spinning)?;
            }
        }
        Ok(())
    }

    /// Spins on a separate thread.
    pub(crate) fn beside(&self) -> Result<Beside, Failure> {
        let Self::One(executor) = self else { return Ok(None) };
        let executor = executor.clone();
        let spin = move || executor.spin();
        Ok(Some(std::thread::Builder::new().name("executor".into()).spawn(spin)?))
    }

    /// Ends [`Self::beside`].
    pub(crate) fn end(&self, beside: Beside) -> Result<(), Failure> {
        if let (Self::One(executor), Some(thread)) = (self, beside) {
            executor.stopper().stop();
            thread.join().map_err(|_| "the executor's thread panicked")??;
        }
        Ok(())
    }
}

/// The spinning thread, if one executor serves all nodes.
pub(crate) type Beside = Option<JoinHandle<Result<(), feros::SpinError>>>;
