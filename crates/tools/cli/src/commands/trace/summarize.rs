//! `feros trace summarize`: how long the messages of each topic and transport took in each layer.

use std::path::{Path, PathBuf};

use feros_trace_analysis::Summary;

use super::read::read;
use super::table;
use crate::error::CliError;
use crate::{notices, output};

/// The trace, and the form of its summary.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder that FEROS_TRACE named for the programs, or one of its files
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Show the summary as JSON, times in nanoseconds
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    print_summary(&args.folder, args.json)
}

/// Prints the summary of the trace in a folder.
pub(super) fn print_summary(folder: &Path, json: bool) -> Result<(), CliError> {
    let summary = Summary::of(&read(folder)?);
    for process in &summary.processes {
        let (number, program) = (process.process, &process.program);
        if process.overwritten > 0 {
            notices::warn(format!(
                "process {number} ({program}) recorded more events than its threads keep: the oldest {} events were \
                 overwritten. Trace for a shorter time, or with FEROS_TRACE_EVENTS above {} (events per thread, 48 \
                 bytes each).",
                process.overwritten,
                feros::trace::DEFAULT_CAPACITY
            ));
        }
        if process.refused_threads > 0 {
            notices::warn(format!(
                "process {number} ({program}) has too many threads: {} of them were not traced.",
                process.refused_threads
            ));
        }
    }
    if json { output::print_json(&summary) } else { output::print(&table::text(&summary)) }
}
