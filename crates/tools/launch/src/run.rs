//! Runs a plan: starts, watches, respawns and ends processes, and leaves no process behind.
//!
//! One thread waits in one `poll` for signals, output, the results of loading components, and the
//! next deadline. Each process leads a process group of its own, to which the processes that it
//! starts belong. A process has ended when its group is empty.

mod child;
mod log_file;
mod options;
mod orphans;
mod outcome;
mod output;
mod parameter_files;
mod reacting;
mod reports;
mod request_queue;
mod screen;
mod signals;
mod spawn;
mod supervisor;
mod timers;
mod transitions;

use crate::plan::Plan;
use supervisor::Supervisor;

pub use options::{
    ComponentLoader, LifecycleManager, RunOptions, ScreenForm, SimulatedClock, StateChange,
};
pub use outcome::{Outcome, RunError};

/// Runs a plan until all of its processes have ended, or until SIGINT, SIGTERM, SIGHUP or SIGQUIT
/// asks the launcher to end them. Output goes to standard output, line by line.
///
/// On the first such signal, or when a process with `ends_launch` ends, all processes get SIGINT,
/// after their timeouts SIGTERM, and then SIGKILL. Each further signal to the launcher skips the
/// wait for the next of these. During the run the calling process handles these signals, and
/// becomes the parent of orphaned processes (a child subreaper). Processes that left their process
/// group are ended last. So every child process that the caller gets during the run counts as part
/// of the run.
///
/// # Errors
/// Fails with a [`RunError`] if the operating system refuses a needed resource, or if one of
/// [`RunOptions::signals`] arrived before the run. No process has been started then, unless the
/// wait for processes itself fails.
pub fn run(plan: &Plan, options: RunOptions) -> Result<Outcome, RunError> {
    let earlier = options.signals.clone();
    let supervisor = Supervisor::new(options)?;
    // The supervisor receives all signals from now on.
    match earlier.received() {
        Some(signal) => Err(RunError::Signal(signal)),
        None => {
            parameter_files::remove_leftovers(&std::env::temp_dir());
            supervisor.run(plan)
        }
    }
}
