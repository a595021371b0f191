//! The node whose parameters a command is about.

use std::time::{Duration, Instant};

use feros::{ParameterClient, WaitError};
use feros_rmw::EndpointKind;
use feros_rmw::name::is_hidden;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::value_parsers::parse_seconds;

/// The node that is asked.
#[derive(clap::Args)]
pub(super) struct NodeArgs {
    /// Name of the node, such as /robot/camera
    node: String,
    /// Wait no longer than this, for the node and for its answer
    #[arg(long, alias = "service-timeout", value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    timeout: Duration,
    /// Accepted for command lines written for `ros2`: a node that is named may be hidden
    #[arg(long, hide = true)]
    include_hidden_nodes: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

/// The names of a node's parameters, for completion; none where it does not answer in time.
pub(in crate::commands) fn parameter_names(
    connection: Connection,
    node: &str,
    timeout: Duration,
) -> Vec<String> {
    let no_prefixes: [&str; 0] = [];
    Remote::with(connection, node, timeout)
        .and_then(|remote| remote.ask(|client, left| client.list(no_prefixes, 0, left)))
        .map_or_else(|_| Vec::new(), |found| found.names)
}

/// A node's parameters, asked with one time limit for everything.
pub(super) struct Remote {
    // Keeps the context that SIGINT shuts down.
    connection: Connection,
    pub(super) client: ParameterClient,
    deadline: Instant,
    timeout: Duration,
}

impl Remote {
    pub(super) fn open(args: &NodeArgs) -> Result<Self, CliError> {
        let connection = Connection::open()?;
        if args.discovery.spin_time.is_some() {
            connection.discover(&args.discovery)?;
        }
        Self::with(connection, &args.node, args.timeout)
    }

    pub(super) fn with(
        connection: Connection,
        node: &str,
        timeout: Duration,
    ) -> Result<Self, CliError> {
        let absolute = if node.starts_with('/') { node.to_owned() } else { format!("/{node}") };
        let client = ParameterClient::new(&connection.node, &absolute).map_err(CliError::usage)?;
        Ok(Self { connection, client, deadline: Instant::now() + timeout, timeout })
    }

    pub(super) fn name(&self) -> &str {
        self.client.remote_name()
    }

    /// Asks the node something.
    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(&ParameterClient, Duration) -> Result<T, feros::Error>,
    ) -> Result<T, CliError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        ask(&self.client, left).map_err(|error| match error {
            feros::Error::Wait(WaitError::Timeout { .. }) => self.missing(),
            feros::Error::Wait(WaitError::Shutdown { .. })
            | feros::Error::Call(feros::CallError::Shutdown { .. }) => CliError::Interrupted,
            other => other.into(),
        })
    }

    /// Whether the node is in the graph.
    pub(super) fn is_there(&self) -> bool {
        let (graph, name) = (self.connection.context.graph(), self.name());
        graph.nodes.iter().any(|node| node.name.fully_qualified() == name)
    }

    /// Why there is no service of the node.
    fn missing(&self) -> CliError {
        let (graph, name) = (self.connection.context.graph(), self.name());
        let names: Vec<String> =
            graph.nodes.iter().map(|node| node.name.fully_qualified()).collect();
        let waited = self.timeout;
        if names.iter().any(|known| known == name) {
            let offers = graph.count(EndpointKind::Service, &format!("{name}/list_parameters")) > 0;
            return CliError::failed(if offers {
                format!("node {name} did not become ready within {waited:?}: is it being spun?")
            } else {
                format!("node {name} offers no parameters (its parameter services are not started)")
            });
        }
        let others = names.iter().map(String::as_str).filter(|other| !is_hidden(other));
        CliError::failed(format!(
            "there is no node {name} after {waited:?}: start it, or see `feros node list`{}",
            did_you_mean(name, others)
        ))
    }

    /// Why a node answered with nothing when it was asked for a parameter.
    pub(super) fn not_declared(&self, parameters: &[String]) -> CliError {
        let no_prefixes: [&str; 0] = [];
        let known = match self.ask(|client, left| client.list(no_prefixes, 0, left)) {
            Ok(list) => list.names,
            Err(error) => return error,
        };
        match parameters.iter().find(|name| !known.contains(name)) {
            Some(name) => CliError::failed(format!(
                "node {} has no parameter {name}{}",
                self.name(),
                did_you_mean(name, known.iter().map(String::as_str))
            )),
            None => CliError::failed(format!(
                "parameter {} of node {} has no value",
                parameters.join(", "),
                self.name()
            )),
        }
    }
}
