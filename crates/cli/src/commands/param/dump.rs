//! `feros param dump`: the parameters of a node as a parameter file.

use std::process::ExitCode;

use feros::parameter::file;

use super::remote::{NodeArgs, Remote};
use crate::asking::all_at_once;
use crate::error::CliError;
use crate::output;

/// Print the parameters of a node as a parameter file
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros param dump /camera > camera.yaml")]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let remote = Remote::open(&args.node)?;
    let no_prefixes: [&str; 0] = [];
    let names = remote.ask(|client, left| client.list(no_prefixes, 0, left))?.names;
    let values = remote.ask(|client, left| client.get(&names, left))?;
    let parameters: Vec<_> = if values.len() == names.len() {
        names.into_iter().zip(values).collect()
    } else {
        // One of them has no value: each is asked for by itself.
        let one = |name: &String| {
            let value = remote.ask(|client, left| client.get([name], left))?.pop();
            Ok((name.clone(), value.unwrap_or_default()))
        };
        all_at_once(&names, one).into_iter().collect::<Result<_, CliError>>()?
    };
    output::print(&file::to_text(remote.name(), parameters))?;
    Ok(ExitCode::SUCCESS)
}
