//! `feros trace`: where the time of messages goes, layer by layer, in unmodified programs.

mod run;
mod table;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use feros_trace_analysis::{Process, Summary, Trace};

use crate::error::CliError;
use crate::output;

/// What is done with a trace.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Run a command with its trace points on, then say where the time went
    ///
    /// Processes that it starts are traced too. Any other program is traced with FEROS_TRACE=FOLDER
    /// in its environment.
    Run(run::Args),
    /// Say what the messages of each topic and transport took in each layer
    Summarize(SummarizeArgs),
    /// Write a trace in a form that other tools open
    Export(ExportArgs),
}

/// Which trace, and how it is shown.
#[derive(clap::Args)]
pub(crate) struct SummarizeArgs {
    /// The folder that programs had as FEROS_TRACE, or one file of it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Show it as JSON, times in nanoseconds
    #[arg(long)]
    json: bool,
}

/// Which trace, and into what.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// The folder that programs had as FEROS_TRACE, or one file of it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Write a file for https://ui.perfetto.dev (Chrome's trace events): a track for each thread,
    /// an arrow for each message
    #[arg(long, value_name = "FILE", required = true)]
    perfetto: PathBuf,
}

pub(crate) fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Summarize(args) => summarize(&args.folder, args.json).map(|()| ExitCode::SUCCESS),
        Command::Export(args) => export(&args).map(|()| ExitCode::SUCCESS),
    }
}

/// Reads a trace, and says what is missing in it.
fn read(folder: &Path) -> Result<Trace, CliError> {
    let trace = Trace::read(folder).map_err(CliError::failed)?;
    for process in trace.incomplete() {
        let Process { process, program, .. } = process;
        anstream::eprintln!(
            "warning: process {process} ({program}) still runs, was killed, or ended without ending its context: what it had not \
             written is missing. End programs with SIGINT or SIGTERM."
        );
    }
    Ok(trace)
}

fn summarize(folder: &Path, json: bool) -> Result<(), CliError> {
    let summary = Summary::of(&read(folder)?);
    for process in &summary.processes {
        let (number, program) = (process.process, &process.program);
        if process.overwritten > 0 {
            anstream::eprintln!(
                "warning: process {number} ({program}) recorded more than its threads keep: the oldest {} events were \
                 overwritten. Trace for a shorter time, or with FEROS_TRACE_EVENTS above {} (events per thread, 48 bytes each).",
                process.overwritten,
                feros::trace::DEFAULT_CAPACITY
            );
        }
        if process.refused_threads > 0 {
            anstream::eprintln!(
                "warning: process {number} ({program}) has {} threads that were not traced: there were too many.",
                process.refused_threads
            );
        }
    }
    if json { output::print_json(&summary) } else { output::print(&table::text(&summary)) }
}

fn export(ExportArgs { folder, perfetto }: &ExportArgs) -> Result<(), CliError> {
    let trace = read(folder)?;
    let failed =
        |error| CliError::failed(format!("{} cannot be written: {error}", perfetto.display()));
    let file = File::create(perfetto).map_err(failed)?;
    trace.write_perfetto(BufWriter::new(file)).map_err(failed)?;
    let open = format!("open it in https://ui.perfetto.dev: {}\n", perfetto.display());
    output::print(&open)
}
