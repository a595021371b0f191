//! Services without events: servers and clients publish events only if introspection is turned on,
//! so a command that prints events would otherwise wait forever without a word.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use feros_engine::{EndpointKind, GraphSnapshot};

use crate::connection::Connection;
use crate::error::CliError;
use crate::notices;

/// The wait for events: a service is announced a moment before the publishers of its events.
const PATIENCE: Duration = Duration::from_secs(1);

/// Warns once of each existing service that has no events.
pub(crate) struct SilentServices {
    /// The services that need no warning so far.
    services: Vec<String>,
    silent_since: BTreeMap<String, Instant>,
}

impl SilentServices {
    /// Watches these services, given by their full names.
    pub(crate) fn among(services: &[String]) -> Self {
        Self { services: services.to_vec(), silent_since: BTreeMap::new() }
    }

    /// Checks the graph, and warns.
    pub(crate) fn look(&mut self, graph: &GraphSnapshot) {
        let silent_since = &mut self.silent_since;
        self.services.retain(|name| {
            if !is_silent(graph, name) {
                silent_since.remove(name);
                return true;
            }
            let since = silent_since.entry(name.clone()).or_insert_with(Instant::now);
            let is_certain = since.elapsed() >= PATIENCE;
            if is_certain {
                warn(name);
            }
            !is_certain
        });
    }
}

/// Warns if a service exists and has no events, after a moment in which they may appear.
///
/// # Errors
/// When the user interrupts.
pub(crate) fn warn_of_silent(connection: &Connection, name: &str) -> Result<(), CliError> {
    if is_silent(&connection.context.graph(), name)
        && !connection.wait_until(PATIENCE, |graph| !is_silent(graph, name))?
    {
        warn(name);
    }
    Ok(())
}

fn warn(name: &str) {
    notices::warn(format!(
        "service {name} publishes no events, so its calls cannot be shown: its server or a client \
         has to enable them with configure_introspection (in C++, Python or Rust)"
    ));
}

/// Whether a service has servers or clients, but no publisher of its events.
fn is_silent(graph: &GraphSnapshot, name: &str) -> bool {
    let is_there = [EndpointKind::Service, EndpointKind::Client]
        .into_iter()
        .any(|kind| graph.count(kind, name) > 0);
    is_there && graph.count(EndpointKind::Publisher, &format!("{name}/_service_event")) == 0
}
