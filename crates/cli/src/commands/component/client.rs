//! Finding a container that runs, and how long its services may take.

use std::time::Duration;

use feros_component::remote::{ContainerClient, containers};

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;

/// A constructor may take its time: hardware wants to be found.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// A container that is there is found within this time.
pub(super) const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// A client of a container that runs.
///
/// # Errors
/// When there is no such container, with those that there are.
pub(super) fn find_container(
    connection: &Connection,
    name: &str,
    discovery: &DiscoveryArgs,
) -> Result<ContainerClient, CliError> {
    let client = ContainerClient::new(&connection.node, name).map_err(CliError::usage)?;
    let wanted = client.container().to_owned();
    let patience = discovery.spin_time.unwrap_or(DISCOVERY_TIMEOUT);
    if !connection.wait_until(patience, |graph| containers(graph).contains(&wanted))? {
        let known = containers(&connection.context.graph());
        return Err(CliError::failed(format!(
            "Unable to find container node '{name}': start one with `feros container`{}",
            did_you_mean(&wanted, known.iter().map(String::as_str))
        )));
    }
    // Seen is not yet matched: a request before that would be lost.
    client.wait(DISCOVERY_TIMEOUT)?;
    Ok(client)
}
