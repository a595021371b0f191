//! `feros daemon`: what becomes of `ros2 daemon` in scripts and in fingers.
//!
//! `ros2` keeps a process in the background that knows the graph, because its own start takes a
//! second. This command asks the graph itself, so there is nothing to start, stop or be outdated.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::error::CliError;
use crate::{notices, output};

/// What `ros2 daemon` takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// start, stop or status
    #[arg(value_name = "VERB", default_value = "status")]
    verb: Verb,
    /// Accepted for command lines written for `ros2`
    #[arg(long, hide = true)]
    debug: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Verb {
    Start,
    Stop,
    Status,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    if matches!(args.verb, Verb::Status) {
        output::print_lines(["The daemon is not running"])?;
    }
    notices::note(
        "feros has no daemon and needs none: each command asks the running system itself, so nothing can be outdated. \
         If something is missing, --spin-time SECONDS looks for longer, and `feros doctor` says what stands in the way.",
    );
    Ok(ExitCode::SUCCESS)
}
