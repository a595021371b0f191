//! `feros param delete`: deletes a parameter.

use feros::ParameterValue;

use super::remote::{NodeArgs, Remote};
use super::set::with_reason;
use crate::error::CliError;
use crate::output;

/// Delete a parameter, which must be dynamically typed
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros param delete /camera old_name")]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
    /// Name of the parameter
    parameter: String,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let remote = Remote::open(&args.node)?;
    let outcomes =
        remote.ask(|client, left| client.set([(&args.parameter, ParameterValue::NotSet)], left))?;
    match outcomes.into_iter().next() {
        Some(Ok(())) => output::print_lines(["Deleted parameter successfully"]),
        Some(Err(reason)) => {
            Err(CliError::failed(with_reason("Deleting parameter failed", &reason)))
        }
        None => Err(CliError::failed(format!("node {} sent an empty response", remote.name()))),
    }
}
