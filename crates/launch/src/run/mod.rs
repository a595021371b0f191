//! Running a plan: processes are started, watched, respawned and ended, and none of them is left.
//!
//! One thread waits in one place for signals, output, results of loading and the next time limit.
//! Each process leads a process group of its own; a process has ended when its group is empty,
//! because what it started belongs to it.

mod child;
mod log_file;
mod options;
mod orphans;
mod outcome;
mod output;
mod request_queue;
mod screen;
mod signals;
mod spawn;
mod supervisor;
mod timers;

use crate::plan::Plan;
use supervisor::Supervisor;

pub use options::{ComponentLoader, LifecycleManager, RunOptions, SimulatedClock};
pub use outcome::{Outcome, RunError};

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
