//! `feros interface packages`: the packages that define types.

use super::arguments::Kinds;
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};

/// List the packages that define types
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros interface packages -a")]
pub(crate) struct Args {
    #[command(flatten)]
    kinds: Kinds,
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    types.warn_of_faults();
    let interfaces = types.set().interfaces().filter(|interface| args.kinds.include(interface));
    let mut packages: Vec<&str> =
        interfaces.map(|interface| interface.name().package.as_str()).collect();
    packages.sort_unstable();
    packages.dedup();
    output::print_texts(args.json, packages)
}
