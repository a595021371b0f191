//! `feros interface package`: the types of one package.

use std::process::ExitCode;

use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};

/// List the types of one package
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros interface package sensor_msgs")]
pub(crate) struct Args {
    /// Name of the package
    package: String,
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<ExitCode, CliError> {
    let types = Types::load(interfaces)?;
    let package = types.package(&args.package)?;
    let interfaces =
        types.set().interfaces().filter(|interface| interface.name().package == package);
    let names: Vec<String> = interfaces.map(|interface| interface.name().to_string()).collect();
    if args.json {
        output::print_json(&names)?
    } else {
        output::print_lines(names)?
    }
    Ok(ExitCode::SUCCESS)
}
