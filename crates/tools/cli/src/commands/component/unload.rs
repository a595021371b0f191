//! `feros component unload`: unloads components of a container.

use super::client::{CALL_TIMEOUT, find_container};
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// Unload components of a container
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros component unload /ComponentManager 1 2")]
pub(crate) struct Args {
    /// The container's node
    #[arg(value_name = "CONTAINER")]
    container_node_name: String,
    /// Numbers of the components, as `feros component list` shows them
    #[arg(value_name = "ID", required = true)]
    component_uid: Vec<u64>,
    /// Print only the numbers of the components
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let client = find_container(&connection, &args.container_node_name, &args.discovery)?;
    let container = client.container();
    for &id in &args.component_uid {
        client.unload(id, CALL_TIMEOUT).map_err(|error| {
            CliError::failed(format!(
                "Failed to unload component {id} from '{container}' container node\n    {error}"
            ))
        })?;
        output::print_lines([if args.quiet {
            id.to_string()
        } else {
            format!("Unloaded component {id} from '{container}' container node")
        }])?;
    }
    Ok(())
}
