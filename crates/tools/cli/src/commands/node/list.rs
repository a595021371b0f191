//! `feros node list`: the running nodes.

use feros_engine::name::is_hidden;
use serde::Serialize;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::{notices, output};

/// List the running nodes
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  feros node list\n  feros node list -a --json")]
pub(crate) struct Args {
    /// Include hidden nodes, whose names begin with an underscore
    #[arg(short, long)]
    all: bool,
    /// Print only the number of nodes
    #[arg(short, long)]
    count_nodes: bool,
    /// Print a JSON array of objects with name and enclave
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

#[derive(Serialize)]
struct Node {
    name: String,
    enclave: String,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let graph = Connection::open()?.discover_nodes(&args.discovery)?;
    let nodes: Vec<Node> = graph
        .nodes
        .iter()
        .map(|node| Node { name: node.name.fully_qualified(), enclave: node.enclave.clone() })
        .filter(|node| args.all || !is_hidden(&node.name))
        .collect();
    let mut twice = graph.names_of_several_nodes();
    twice.retain(|name| args.all || !is_hidden(name));
    if !twice.is_empty() {
        notices::warn(format!(
            "several nodes have the same name, which confuses tools and parameters: {}; give each \
             its own name (--ros-args -r __node:=NAME)",
            twice.join(", ")
        ));
    }
    if args.json {
        output::print_json(&nodes)
    } else if args.count_nodes {
        output::print_lines([nodes.len().to_string()])
    } else {
        output::print_lines(nodes.iter().map(|node| &node.name))
    }
}
