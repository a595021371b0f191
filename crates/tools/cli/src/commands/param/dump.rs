//! `feros param dump`: the parameters of a node as a parameter file.

use feros::parameter::file;

use super::remote::{NodeArgs, Remote};
use crate::error::CliError;
use crate::output;

/// Print the parameters of a node as a parameter file
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros param dump /camera > camera.yaml")]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let remote = Remote::open(&args.node)?;
    let no_prefixes: [&str; 0] = [];
    let names = remote.ask(|client, left| client.list(no_prefixes, 0, left))?.names;
    let values = remote.ask_about(&names, |client, names, left| client.get(names, left))?;
    // A parameter that was deleted meanwhile has no value.
    let values = values.into_iter().map(Option::unwrap_or_default);
    let parameters: Vec<_> = names.into_iter().zip(values).collect();
    output::print(&file::to_text(remote.name(), parameters))
}
