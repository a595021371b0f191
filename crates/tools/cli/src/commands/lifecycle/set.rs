//! `feros lifecycle set`: makes a managed node do a transition.

use std::time::Duration;

use super::remote::Remote;
use crate::error::CliError;
use crate::output;
use crate::value_parsers::parse_seconds;

/// How long to wait for the node itself if the user sets no limit.
const NODE_TIMEOUT: Duration = Duration::from_secs(5);
/// A year counts as forever, and keeps arithmetic with clocks in range.
const FOR_EVER: Duration = Duration::from_secs(31_536_000);

/// Make a managed node begin a transition, and wait until it has ended
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros lifecycle set /driver configure\n  feros lifecycle set /driver 3"
)]
pub(crate) struct Args {
    /// Name of the node
    node: String,
    /// Label or number of the transition, such as configure, activate, deactivate, cleanup,
    /// shutdown
    transition: String,
    /// Wait at most this long for the node, and for the end of the transition; by default, 5
    /// seconds for the node and as long as the transition takes
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Accepted for command lines written for `ros2`: you can always name a hidden node
    #[arg(long, hide = true)]
    include_hidden_nodes: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let remote = Remote::open(&args.node, args.timeout.unwrap_or(NODE_TIMEOUT))?;
    let available = remote.ask(|client, left| client.get_available_transitions(left))?;
    let all = || available.iter().map(|described| &described.transition);
    let found = all()
        .find(|transition| transition.label == args.transition)
        .or_else(|| all().find(|transition| transition.id.to_string() == args.transition));
    let Some(transition) = found else {
        let lines: String = all().map(|t| format!("\n- {} [{}]", t.label, t.id)).collect();
        return Err(CliError::failed(if lines.is_empty() {
            format!(
                "Unknown transition requested: node {} has no transition in its state",
                remote.name()
            )
        } else {
            format!("Unknown transition requested, available ones are:{lines}")
        }));
    };
    // The transition is identified by its number, because several transitions have the same label.
    let id = transition.id;
    let changed = match args.timeout {
        Some(_) => remote.ask(|client, left| client.change_state(id, left))?,
        None => remote.ask_for(FOR_EVER, |client, left| client.change_state(id, left))?,
    };
    if !changed {
        return Err(CliError::failed(format!(
            "Transitioning failed: see the log of node {}, and its state with `feros lifecycle get`",
            remote.name()
        )));
    }
    output::print_lines(["Transitioning successful"])
}
