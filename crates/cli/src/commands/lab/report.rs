//! `feros lab report`.

use std::path::PathBuf;
use std::process::ExitCode;

use feros_lab::report::{Notice, Report, Results};

use crate::error::CliError;
use crate::output;

/// What is shown.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of a run; one that is not finished will do
    dir: PathBuf,
    /// Where report.html and report.md go; the run's folder, if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let results = Results::read(&args.dir).map_err(CliError::failed)?;
    warn(&results.notices);
    let out = args.out.as_ref().unwrap_or(&args.dir);
    std::fs::create_dir_all(out)
        .map_err(|error| CliError::failed(format!("{} cannot be made: {error}", out.display())))?;
    let page = Report::of(&results).write(out).map_err(CliError::failed)?;
    output::print_lines([page.display().to_string()])?;
    Ok(ExitCode::SUCCESS)
}

/// Says what could not be read; the rest is used.
pub(super) fn warn(notices: &[Notice]) {
    notices.iter().for_each(crate::notices::warn);
}
