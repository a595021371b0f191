//! `feros daemon`: a stand-in for `ros2 daemon`, for scripts and for habits.
//!
//! `ros2` keeps a background process that knows the graph, because its own start takes a second.
//! This command asks the graph itself, so nothing has to be started or stopped, and nothing can be
//! outdated.

use clap::ValueEnum;

use crate::error::CliError;
use crate::{notices, output};

/// The arguments of `ros2 daemon`.
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

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    if matches!(args.verb, Verb::Status) {
        output::print_lines(["The daemon is not running"])?;
    }
    notices::note(
        "feros has no daemon and needs none: each command asks the running system itself, so no answer is outdated. If \
         something is missing, --spin-time SECONDS searches longer, and `feros doctor` finds the cause.",
    );
    Ok(())
}
