//! `feros component load`: loads a component into a container.

use super::client::{CALL_TIMEOUT, find_container};
use super::component_args::ComponentArgs;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// Load a component into a container
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros component load /ComponentManager demo demo::Talker\n  feros component load \
                        /ComponentManager demo demo::Talker -n speaker --node-namespace /robot -r chatter:=/said -p rate:=5"
)]
pub(crate) struct Args {
    /// The container's node
    #[arg(value_name = "CONTAINER")]
    container_node_name: String,
    #[command(flatten)]
    component: ComponentArgs,
    /// Print only the component's number and its node
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let client = find_container(&connection, &args.container_node_name, &args.discovery)?;
    let loaded = client
        .load(&args.component.request(), CALL_TIMEOUT)
        .map_err(|error| CliError::failed(format!("Failed to load component: {error}")))?;
    output::print_lines([if args.quiet {
        format!("{}  {}", loaded.unique_id, loaded.full_node_name)
    } else {
        format!(
            "Loaded component {} into '{}' container node as '{}'",
            loaded.unique_id,
            client.container(),
            loaded.full_node_name
        )
    }])
}
