//! A remote node that a command asks, with one time limit for all its questions.

use std::time::{Duration, Instant};

use feros::WaitError;
use feros_engine::GraphSnapshot;

use crate::connection::Connection;
use crate::error::CliError;

/// A client of the services of another node.
pub(super) trait NodeClient: Sized {
    /// Creates a client for the node of this absolute name.
    fn of(node: &feros::Node, remote: &str) -> Result<Self, CliError>;

    /// The name of the remote node.
    fn remote_name(&self) -> &str;

    /// The error if a node's services were not found in the time that a command waited.
    fn missing(name: &str, graph: &GraphSnapshot, waited: Duration) -> CliError;
}

/// A node and its client.
pub(super) struct RemoteNode<C> {
    // Holds the context that SIGINT shuts down.
    pub(super) connection: Connection,
    pub(super) client: C,
    deadline: Instant,
    timeout: Duration,
}

impl<C: NodeClient> RemoteNode<C> {
    pub(super) fn with(
        connection: Connection,
        node: &str,
        timeout: Duration,
    ) -> Result<Self, CliError> {
        let absolute = if node.starts_with('/') { node.to_owned() } else { format!("/{node}") };
        let client = C::of(&connection.node, &absolute)?;
        Ok(Self { connection, client, deadline: Instant::now() + timeout, timeout })
    }

    pub(super) fn name(&self) -> &str {
        self.client.remote_name()
    }

    /// Asks the node, within the remaining time.
    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(&C, Duration) -> Result<T, feros::Error>,
    ) -> Result<T, CliError> {
        self.ask_for(self.deadline.saturating_duration_since(Instant::now()), ask)
    }

    /// Asks the node, within this time.
    pub(super) fn ask_for<T>(
        &self,
        timeout: Duration,
        ask: impl FnOnce(&C, Duration) -> Result<T, feros::Error>,
    ) -> Result<T, CliError> {
        ask(&self.client, timeout).map_err(|error| match error {
            feros::Error::Wait(WaitError::Timeout { .. }) => {
                C::missing(self.name(), &self.connection.context.graph(), self.timeout)
            }
            feros::Error::Wait(WaitError::Shutdown { .. })
            | feros::Error::Call(feros::CallError::Shutdown { .. }) => CliError::Interrupted,
            other => other.into(),
        })
    }
}
