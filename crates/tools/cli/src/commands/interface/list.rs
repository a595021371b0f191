//! `feros interface list`: all known types.

use feros_interface::Namespace;

use super::arguments::Kinds;
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};

/// List all known types
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros interface list -s\n  feros interface list --interfaces ~/ws/src --json"
)]
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
    let names = |namespace| {
        let all =
            types.set().interfaces().filter(move |interface| interface.namespace() == namespace);
        all.map(|interface| interface.name().to_string()).collect::<Vec<_>>()
    };
    let chosen: Vec<Namespace> =
        Namespace::ALL.into_iter().filter(|namespace| args.kinds.includes(*namespace)).collect();
    if args.json {
        return output::print_json(&chosen.into_iter().flat_map(names).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for namespace in chosen {
        let title = match namespace {
            Namespace::Msg => "Messages",
            Namespace::Srv => "Services",
            Namespace::Action => "Actions",
        };
        text.push_str(&format!("{title}:\n"));
        names(namespace).iter().for_each(|name| text.push_str(&format!("    {name}\n")));
    }
    output::print(&text)
}
