//! The node whose parameters a command handles.

use std::collections::BTreeMap;
use std::time::Duration;

use feros::{ParameterClient, ParameterType};
use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, GraphSnapshot};
use feros_wording::within;

use crate::asking::all_at_once;
use crate::commands::remote_node::{NodeClient, RemoteNode};
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::value_parsers::parse_seconds;

/// The node to ask.
#[derive(clap::Args)]
pub(super) struct NodeArgs {
    /// Name of the node, such as /robot/camera
    node: String,
    /// Wait at most this long for the node, and for its answer
    #[arg(long, alias = "service-timeout", value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    timeout: Duration,
    /// Accepted for command lines written for `ros2`: you can always name a hidden node
    #[arg(long, hide = true)]
    include_hidden_nodes: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

/// Returns the names of a node's parameters, for completion; the list is empty if the node does not
/// answer in time.
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

/// A node's parameters.
pub(super) type Remote = RemoteNode<ParameterClient>;

impl Remote {
    pub(super) fn open(args: &NodeArgs) -> Result<Self, CliError> {
        let connection = Connection::open()?;
        if args.discovery.spin_time.is_some() {
            connection.discover(&args.discovery)?;
        }
        Self::with(connection, &args.node, args.timeout)
    }

    /// Whether the node is in the graph.
    pub(super) fn is_there(&self) -> bool {
        let (graph, name) = (self.connection.context.graph(), self.name());
        graph.nodes.iter().any(|node| node.name.fully_qualified() == name)
    }

    /// Asks the node about all of these parameters at once. If the node answers with nothing,
    /// because it does not know one of them, asks about each parameter separately.
    pub(super) fn ask_about<T: Send>(
        &self,
        names: &[String],
        ask: impl Fn(&ParameterClient, &[String], Duration) -> Result<Vec<T>, feros::Error> + Sync,
    ) -> Result<Vec<Option<T>>, CliError> {
        let ask = |names: &[String]| self.ask(|client, left| ask(client, names, left));
        let answers = if names.is_empty() { Vec::new() } else { ask(names)? };
        if answers.len() == names.len() {
            return Ok(answers.into_iter().map(Some).collect());
        }
        if names.len() == 1 {
            return Ok(vec![None]);
        }
        let about_one = |name: &String| Ok(ask(std::slice::from_ref(name))?.pop());
        all_at_once(names, about_one).into_iter().collect()
    }

    /// The declared types of these parameters, as far as the node knows them.
    pub(super) fn types(
        &self,
        names: &[String],
    ) -> Result<BTreeMap<String, ParameterType>, CliError> {
        let types = self.ask_about(names, |client, names, left| client.types(names, left))?;
        let declared = names.iter().zip(types);
        Ok(declared.filter_map(|(name, declared)| Some((name.clone(), declared?))).collect())
    }

    /// The error for a node that answered a request for these parameters with nothing.
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

impl NodeClient for ParameterClient {
    fn of(node: &feros::Node, remote: &str) -> Result<Self, CliError> {
        Self::new(node, remote).map_err(CliError::usage)
    }

    fn remote_name(&self) -> &str {
        self.remote_name()
    }

    fn missing(name: &str, graph: &GraphSnapshot, waited: Duration) -> CliError {
        let names: Vec<String> =
            graph.nodes.iter().map(|node| node.name.fully_qualified()).collect();
        if names.iter().any(|known| known == name) {
            let offers = graph.count(EndpointKind::Service, &format!("{name}/list_parameters")) > 0;
            return CliError::failed(if offers {
                format!("node {name} did not become ready {}: is it being spun?", within(waited))
            } else {
                format!(
                    "node {name} offers no parameters, because its parameter services are not \
                     started"
                )
            });
        }
        let others = names.iter().map(String::as_str).filter(|other| !is_hidden(other));
        CliError::failed(format!(
            "no node {name} appeared {}: start it, or see `feros node list`{}",
            within(waited),
            did_you_mean(name, others)
        ))
    }
}
