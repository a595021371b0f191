//! Finds a running container, and limits how long its services may take.

use std::time::Duration;

use feros_component::remote::{ContainerClient, containers};

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;

/// The limit on a call: a constructor may take long, for example to find hardware.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// A running container is found within this time.
pub(super) const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// A client of a running container.
///
/// # Errors
/// When there is no such container; the error names existing containers with similar names.
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
    // A discovered container is not matched yet: a request sent before the match would be lost.
    client.wait(DISCOVERY_TIMEOUT)?;
    Ok(client)
}
