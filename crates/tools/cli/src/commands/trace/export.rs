//! `feros trace export`: a trace in a form that other tools open.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use super::read::read;
use crate::error::CliError;
use crate::output;

/// The trace to export, and the format.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder that FEROS_TRACE named for the programs, or one of its files
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Write a file for https://ui.perfetto.dev (Chrome's trace events): a track for each thread,
    /// an arrow for each message
    #[arg(long, value_name = "FILE", required = true)]
    perfetto: PathBuf,
}

pub(crate) fn run(Args { folder, perfetto }: &Args) -> Result<(), CliError> {
    let trace = read(folder)?;
    let failed =
        |error| CliError::failed(format!("{} cannot be written: {error}", perfetto.display()));
    let file = File::create(perfetto).map_err(failed)?;
    trace.write_perfetto(BufWriter::new(file)).map_err(failed)?;
    let open = format!("open it in https://ui.perfetto.dev: {}\n", perfetto.display());
    output::print(&open)
}
