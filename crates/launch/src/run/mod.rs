//! Running a plan: processes are started, watched, started again and ended, and nothing of them is
//! left.
//!
//! One thread waits in one place for signals, output, results of loading and the next time limit.
//! Each process leads a process group of its own; a process has ended when nothing of its group is
//! left, because what it started belongs to it.

mod child;
mod compose;
mod log;
mod screen;
mod signals;
mod spawn;
mod strays;
mod supervisor;

use std::path::PathBuf;
use std::sync::Arc;

use crate::plan::{Component, Plan};
use supervisor::Supervisor;

/// How a plan is run.
#[derive(Default)]
pub struct RunOptions {
    /// Whether names of processes and messages are coloured.
    pub colour: bool,
    /// Who loads components; without it loading them fails.
    pub composer: Option<Arc<dyn Composer>>,
    /// The file for output that goes to the log; it is made when there is some. Without it such
    /// output goes nowhere.
    pub log_file: Option<PathBuf>,
}

/// Loads components into containers, on threads that belong to the run.
pub trait Composer: Send + Sync {
    /// Waits for a container and loads a component into it; gives the node's full name.
    /// `is_cancelled` tells when nobody waits for the component any more, and is to be asked at
    /// least once a second.
    ///
    /// # Errors
    /// Why it is not loaded, for a person.
    fn load(
        &self,
        container: &str,
        component: &Component,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<String, String>;
}

/// Why a plan cannot be run at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The system refuses what is needed to watch processes.
    #[error("{what}: {cause}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        cause: std::io::Error,
    },
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    /// What failed: processes that could not be started, components that were not loaded, and
    /// processes with which everything was to end and that ended badly. Other processes may end as
    /// they like, as with `ros2 launch`.
    pub failures: Vec<String>,
}

/// Runs a plan until all of its processes have ended, or until SIGINT, SIGTERM, SIGHUP or SIGQUIT
/// end them. Output goes to standard output, a line at a time.
///
/// On the first of these signals (or when a process ends that everything ends with) all processes
/// get SIGINT, after their time SIGTERM, then SIGKILL; each further signal skips the wait for the
/// next of these. The calling process becomes the parent of what its processes leave behind (a
/// child subreaper), and handles those signals meanwhile. What left its process group is ended
/// last; so every child process that the caller gets while this runs belongs to the run.
///
/// # Errors
/// [`RunError`] when the system refuses what is needed; then nothing was started.
pub fn run(plan: &Plan, options: RunOptions) -> Result<Outcome, RunError> {
    Supervisor::new(options)?.run(plan)
}
