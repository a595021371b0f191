//! `feros interface package`: the types of one package.

use feros_interface::Interface;

use super::arguments::Kinds;
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};

/// List the types of one package
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros interface package sensor_msgs --only-srvs")]
pub(crate) struct Args {
    /// Name of the package
    package: String,
    #[command(flatten)]
    kinds: Kinds,
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    let package = types.package(&args.package)?;
    let is_meant = |interface: &Interface| {
        interface.name().package == package && args.kinds.include(interface)
    };
    let interfaces = types.set().interfaces().filter(|interface| is_meant(interface));
    let names: Vec<String> = interfaces.map(|interface| interface.name().to_string()).collect();
    output::print_texts(args.json, names)
}
