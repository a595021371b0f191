//! `feros action list`: the actions that have a server or a client.

use serde::Serialize;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// List the actions that have a server or a client
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros action list -t\n  feros action list --json | jq -r '.[].name'"
)]
pub(crate) struct Args {
    /// Print the types as well
    #[arg(short = 't', long)]
    show_types: bool,
    /// Print only the number of actions
    #[arg(short, long, alias = "count")]
    count_actions: bool,
    /// Print a JSON array of objects with name and types
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

#[derive(Serialize)]
struct Action {
    name: String,
    types: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let graph = Connection::open()?.discover(&args.discovery)?;
    let actions: Vec<Action> = graph
        .actions()
        .into_iter()
        .map(|(name, types)| Action { name, types: types.into_iter().collect() })
        .collect();
    if args.json {
        output::print_json(&actions)
    } else if args.count_actions {
        output::print_lines([actions.len().to_string()])
    } else if args.show_types && output::is_terminal() && !actions.is_empty() {
        let rows = actions.iter().map(|action| vec![action.name.clone(), action.types.join(", ")]);
        output::print_table(&["action", "type"], rows)
    } else if args.show_types {
        output::print_lines(actions.iter().map(|a| format!("{} [{}]", a.name, a.types.join(", "))))
    } else {
        output::print_lines(actions.iter().map(|action| &action.name))
    }
}
