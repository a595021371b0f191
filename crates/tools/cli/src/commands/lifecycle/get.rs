//! `feros lifecycle get`: the states of managed nodes.

use std::time::Duration;

use feros::msgs::lifecycle_msgs::msg::State;
use serde_json::{Map, json};

use super::remote::{Remote, managed_nodes};
use crate::asking::all_at_once;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::value_parsers::parse_seconds;
use crate::{notices, output};

/// Print the state of a managed node, or of all managed nodes
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  feros lifecycle get /driver\n  feros lifecycle get --json")]
pub(crate) struct Args {
    /// Name of the node; by default, all managed nodes
    node: Option<String>,
    /// Include hidden nodes, whose names begin with an underscore
    #[arg(short = 'a', long, alias = "all")]
    include_hidden_nodes: bool,
    /// Wait at most this long for each node, and for its answer
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    timeout: Duration,
    /// Print a JSON object: for each node an object with id and label
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    if let Some(node) = &args.node {
        let remote = Remote::with(connection, node, args.timeout)?;
        let state = remote.ask(|client, left| client.get_state(left))?;
        if args.json {
            print_json([(remote.name().to_owned(), state)])?;
        } else {
            output::print_lines([shown(&state)])?;
        }
        return Ok(());
    }
    let graph = connection.discover_nodes(&args.discovery)?;
    let (mut states, mut silent) = (Vec::new(), Vec::new());
    let nodes = managed_nodes(&graph, args.include_hidden_nodes);
    let answers = all_at_once(&nodes, |node| {
        let remote = Remote::with(connection.clone(), node, args.timeout)?;
        remote.ask(|client, left| client.get_state(left))
    });
    for (node, answer) in nodes.into_iter().zip(answers) {
        match answer {
            Ok(state) => states.push((node, state)),
            Err(CliError::Interrupted) => return Err(CliError::Interrupted),
            Err(error) => silent.push(format!("{node}: {error}")),
        }
    }
    if args.json {
        print_json(states)?;
    } else {
        output::print_lines(
            states.iter().map(|(node, state)| format!("{node}: {}", shown(state))),
        )?;
    }
    silent.iter().for_each(notices::warn);
    Ok(())
}

fn shown(state: &State) -> String {
    format!("{} [{}]", state.label, state.id)
}

fn print_json(states: impl IntoIterator<Item = (String, State)>) -> Result<(), CliError> {
    let entry =
        |(node, state): (String, State)| (node, json!({"id": state.id, "label": state.label}));
    output::print_json(&states.into_iter().map(entry).collect::<Map<_, _>>())
}
