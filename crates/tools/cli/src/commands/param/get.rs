//! `feros param get`: the value of a parameter.

use serde_json::json;

use super::python;
use super::remote::{NodeArgs, Remote};
use crate::error::CliError;
use crate::output::{self, foreign_block};

/// Print the value of a parameter
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros param get /talker use_sim_time\n  feros param get /talker rate --hide-type"
)]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
    /// Name of the parameter
    parameter: String,
    /// Print only the value, without its type
    #[arg(long)]
    hide_type: bool,
    /// Print a JSON object with type and value
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let remote = Remote::open(&args.node)?;
    let values = remote.ask(|client, left| client.get([&args.parameter], left))?;
    let [value] = values.as_slice() else {
        return Err(remote.not_declared(std::slice::from_ref(&args.parameter)));
    };
    if args.json {
        let parameter_type = python::type_name(value.parameter_type());
        output::print_json(&json!({"type": parameter_type, "value": python::json(value)}))
    } else if args.hide_type {
        output::print(&format!("{}\n", foreign_block(&python::value(value))))
    } else if value.is_not_set() {
        output::print(&format!("{}\n", python::label(value)))
    } else {
        let shown = python::value(value);
        output::print(&format!("{} {}\n", python::label(value), foreign_block(&shown)))
    }
}
