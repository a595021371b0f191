//! `feros service type`: the type of one service.

use super::info::no_such_service;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// Print the type of a service
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros service type /enable | feros interface show -")]
pub(crate) struct Args {
    /// Name of the service
    service: String,
    /// Print a JSON array of types
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let name = connection.service_name(&args.service)?;
    let graph = connection.discover(&args.discovery)?;
    let services = graph.services();
    let types = services.get(&name).ok_or_else(|| no_such_service(&graph, &name))?;
    output::print_texts(args.json, types)
}
