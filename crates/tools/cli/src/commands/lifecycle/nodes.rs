//! `feros lifecycle nodes`: the running managed nodes.

use super::remote::managed_nodes;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// List the running managed nodes
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  feros lifecycle nodes\n  feros lifecycle nodes -a --json")]
pub(crate) struct Args {
    /// Include hidden nodes, whose names begin with an underscore
    #[arg(short, long, alias = "include-hidden-nodes")]
    all: bool,
    /// Print only the number of nodes
    #[arg(short, long)]
    count_nodes: bool,
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let graph = Connection::open()?.discover_nodes(&args.discovery)?;
    let nodes = managed_nodes(&graph, args.all);
    if args.json {
        output::print_json(&nodes)
    } else if args.count_nodes {
        output::print_lines([nodes.len().to_string()])
    } else {
        output::print_lines(&nodes)
    }
}
