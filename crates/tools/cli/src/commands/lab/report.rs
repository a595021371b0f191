//! `feros lab report`: a run as a page and as a summary in Markdown.

use std::path::PathBuf;

use feros_lab::report::{Notice, Report, Results};

use crate::error::CliError;
use crate::output;

/// The runs to show.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of a run; it may be unfinished. Several folders, such as those of the parts of a
    /// grid, make one report
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Where report.html and report.md go; for a single run, its folder by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let out = match (&args.out, args.dirs.as_slice()) {
        (Some(out), _) => out,
        (None, [only]) => only,
        (None, _) => {
            return Err(CliError::usage(
                "a report of several runs needs a folder of its own: --out DIR",
            ));
        }
    };
    let results = Results::read_parts(&args.dirs).map_err(CliError::failed)?;
    warn(&results.notices);
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
