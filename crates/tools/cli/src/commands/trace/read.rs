//! Reads a trace, with a warning for each process whose trace is incomplete.

use std::path::Path;

use feros_trace_analysis::{Process, Trace};

use crate::error::CliError;
use crate::notices;

/// Reads a trace, and warns of missing parts.
pub(super) fn read(folder: &Path) -> Result<Trace, CliError> {
    let trace = Trace::read(folder).map_err(CliError::failed)?;
    for process in trace.incomplete() {
        let Process { process, program, .. } = process;
        notices::warn(format!(
            "process {process} ({program}) still runs, was killed, or ended without shutting its context down: the \
             part of its trace that it had not written is missing. End programs with SIGINT or SIGTERM."
        ));
    }
    Ok(trace)
}
