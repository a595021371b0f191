//! The managed node that a command is about.

use std::time::{Duration, Instant};

use feros::{LifecycleClient, WaitError};
use feros_rmw::name::is_hidden;
use feros_rmw::{EndpointKind, GraphSnapshot};

use crate::connection::Connection;
use crate::error::CliError;
use crate::nearest::did_you_mean;

const GET_STATE: &str = "lifecycle_msgs/srv/GetState";

/// The managed nodes of a graph, by name.
pub(super) fn managed_nodes(graph: &GraphSnapshot, with_hidden: bool) -> Vec<String> {
    let services = graph.names_and_types(|endpoint| endpoint.kind == EndpointKind::Service);
    let is_managed = |name: &String| {
        let types = services.get(&format!("{name}/get_state"));
        types.is_some_and(|types| types.contains(GET_STATE))
    };
    let names = graph.nodes.iter().map(|node| node.name.fully_qualified());
    let mut managed: Vec<String> =
        names.filter(is_managed).filter(|name| with_hidden || !is_hidden(name)).collect();
    managed.sort();
    managed.dedup();
    managed
}

/// A managed node, asked with one time limit for everything.
pub(super) struct Remote {
    // Keeps the context that SIGINT shuts down.
    connection: Connection,
    client: LifecycleClient,
    deadline: Instant,
    timeout: Duration,
}

impl Remote {
    pub(super) fn open(node: &str, timeout: Duration) -> Result<Self, CliError> {
        Self::with(Connection::open()?, node, timeout)
    }

    pub(super) fn with(
        connection: Connection,
        node: &str,
        timeout: Duration,
    ) -> Result<Self, CliError> {
        let absolute = if node.starts_with('/') { node.to_owned() } else { format!("/{node}") };
        let client = LifecycleClient::new(&connection.node, &absolute).map_err(CliError::usage)?;
        Ok(Self { connection, client, deadline: Instant::now() + timeout, timeout })
    }

    pub(super) fn name(&self) -> &str {
        self.client.remote_name()
    }

    /// Asks the node something, in the time that is left.
    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(&LifecycleClient, Duration) -> Result<T, feros::Error>,
    ) -> Result<T, CliError> {
        self.ask_for(self.deadline.saturating_duration_since(Instant::now()), ask)
    }

    /// Asks the node something, in this time.
    pub(super) fn ask_for<T>(
        &self,
        timeout: Duration,
        ask: impl FnOnce(&LifecycleClient, Duration) -> Result<T, feros::Error>,
    ) -> Result<T, CliError> {
        ask(&self.client, timeout).map_err(|error| match error {
            feros::Error::Wait(WaitError::Timeout { .. }) => self.missing(),
            feros::Error::Wait(WaitError::Shutdown { .. })
            | feros::Error::Call(feros::CallError::Shutdown { .. }) => CliError::Interrupted,
            other => other.into(),
        })
    }

    /// Why there is no service of the node.
    fn missing(&self) -> CliError {
        let (graph, name, waited) = (self.connection.context.graph(), self.name(), self.timeout);
        let is_there = graph.nodes.iter().any(|node| node.name.fully_qualified() == name);
        let managed = managed_nodes(&graph, true);
        if managed.iter().any(|known| known == name) {
            return CliError::failed(format!(
                "node {name} did not become ready within {waited:?}: is it being spun?"
            ));
        }
        let known = did_you_mean(name, managed.iter().map(String::as_str));
        CliError::failed(if is_there {
            format!(
                "node {name} is not managed: it has no service {name}/get_state; see `feros \
                 lifecycle nodes`{known}"
            )
        } else {
            format!(
                "there is no node {name} after {waited:?}: start it, or see `feros lifecycle \
                 nodes`{known}"
            )
        })
    }
}
