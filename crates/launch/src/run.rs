//! Running a plan: it starts, watches, respawns and ends processes, and leaves none behind.
//!
//! One thread waits in one place for signals, output, results of loading and the next time limit.
//! Each process leads a process group of its own; a process has ended when its group is empty,
//! because the processes that it started belong to it.

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
/// end them. Output goes to standard output, line by line.
///
/// On the first of these signals (or when a process ends that the launch ends with) all processes
/// get SIGINT, after their time SIGTERM, then SIGKILL; each further signal skips the wait for the
/// next of these. The calling process becomes the parent of processes that are left behind (a child
/// subreaper), and handles those signals meanwhile. Processes that left their process group are
/// ended last; so every child process that the caller gets during the run belongs to the run.
///
/// # Errors
/// [`RunError`] when the system refuses a needed resource; nothing was started then.
pub fn run(plan: &Plan, options: RunOptions) -> Result<Outcome, RunError> {
    Supervisor::new(options)?.run(plan)
}
