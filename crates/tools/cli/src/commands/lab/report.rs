//! `feros lab report`: a run as a page and as a summary in Markdown.

use std::path::PathBuf;

use feros_lab::report::{Notice, Report, Results};

use crate::error::CliError;
use crate::output;

/// The run to show.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of a run; it may be unfinished
    dir: PathBuf,
    /// Where report.html and report.md go; the run's folder by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let results = Results::read(&args.dir).map_err(CliError::failed)?;
    warn(&results.notices);
    let out = args.out.as_ref().unwrap_or(&args.dir);
    std::fs::create_dir_all(out).map_err(|error| {
        CliError::failed(format!("{} cannot be created: {error}", out.display()))
    })?;
    let page = Report::of(&results).write(out).map_err(CliError::failed)?;
    output::print_lines([page.display().to_string()])
}

/// Warns of files that could not be read; the rest is used.
pub(super) fn warn(notices: &[Notice]) {
    notices.iter().for_each(crate::notices::warn);
}
