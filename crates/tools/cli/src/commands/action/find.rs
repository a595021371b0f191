//! `feros action find`: the actions of one type.

use feros_interface::Namespace;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types, full_name};

/// List the actions of one type
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros action find example_interfaces/action/Fibonacci")]
pub(crate) struct Args {
    /// The type, as package/action/Name or package/Name
    #[arg(value_name = "TYPE")]
    action_type: String,
    /// Print only the number of actions
    #[arg(short, long, alias = "count")]
    count_actions: bool,
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let wanted = full_name(&args.action_type, Namespace::Action);
    let actions = Connection::open()?.discover(&args.discovery)?.actions();
    let found = actions.into_iter().filter(|(_, types)| types.contains(&wanted));
    let names: Vec<String> = found.map(|(name, _)| name).collect();
    if names.is_empty() {
        Types::load(interfaces)?.warn_of_unknown(&args.action_type, Namespace::Action);
    }
    output::print_found(args.json, args.count_actions, names)
}
