//! `feros action type`: the type of one action.

use super::no_such_action;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// Print the type of an action
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros action type /fibonacci | feros interface show -")]
pub(crate) struct Args {
    /// Name of the action
    action: String,
    /// Print a JSON array of types
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let name = connection.topic_name(&args.action)?;
    let graph = connection.discover(&args.discovery)?;
    let actions = graph.actions();
    let types = actions.get(&name).ok_or_else(|| no_such_action(&graph, &name))?;
    output::print_texts(args.json, types)
}
