//! `feros lifecycle list`: the transitions of a managed node.

use std::time::Duration;

use serde_json::json;

use super::remote::Remote;
use crate::error::CliError;
use crate::output::{self, foreign};
use crate::value_parsers::parse_seconds;

/// Print the transitions that a managed node can begin now
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros lifecycle list /driver\n  feros lifecycle list /driver -a"
)]
pub(crate) struct Args {
    /// Name of the node
    node: String,
    /// List all transitions of the node, whatever its state
    #[arg(short, long)]
    all: bool,
    /// Wait at most this long for the node, and for its answer
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    timeout: Duration,
    /// Accepted for command lines written for `ros2`: you can always name a hidden node
    #[arg(long, hide = true)]
    include_hidden_nodes: bool,
    /// Print a JSON array of objects with id, label, start and goal
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let remote = Remote::open(&args.node, args.timeout)?;
    let transitions = if args.all {
        remote.ask(|client, left| client.get_transition_graph(left))?
    } else {
        remote.ask(|client, left| client.get_available_transitions(left))?
    };
    if args.json {
        let entries: Vec<_> = transitions
            .iter()
            .map(|described| {
                json!({
                    "id": described.transition.id,
                    "label": described.transition.label,
                    "start": described.start_state.label,
                    "goal": described.goal_state.label,
                })
            })
            .collect();
        output::print_json(&entries)
    } else {
        let text = transitions.iter().map(|described| {
            format!(
                "- {} [{}]\n\tStart: {}\n\tGoal: {}\n",
                foreign(&described.transition.label),
                described.transition.id,
                foreign(&described.start_state.label),
                foreign(&described.goal_state.label)
            )
        });
        output::print(&text.collect::<String>())
    }
}
