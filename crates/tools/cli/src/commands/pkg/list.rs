//! `feros pkg list`: the installed packages.

use crate::error::CliError;
use crate::output;
use crate::packages::installed_packages;

/// List the installed packages
#[derive(clap::Args)]
#[command(after_help = "The command searches FEROS_PREFIX_PATH, then AMENT_PREFIX_PATH.")]
pub(crate) struct Args {
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let packages = installed_packages().packages();
    if args.json { output::print_json(&packages) } else { output::print_lines(packages) }
}
