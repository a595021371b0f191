//! The managed node that a command addresses.

use std::time::Duration;

use feros::LifecycleClient;
use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, GraphSnapshot};
use feros_wording::within;

use crate::commands::remote_node::{NodeClient, RemoteNode};
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

/// A managed node.
pub(super) type Remote = RemoteNode<LifecycleClient>;

impl Remote {
    pub(super) fn open(node: &str, timeout: Duration) -> Result<Self, CliError> {
        Self::with(Connection::open()?, node, timeout)
    }
}

impl NodeClient for LifecycleClient {
    fn of(node: &feros::Node, remote: &str) -> Result<Self, CliError> {
        Self::new(node, remote).map_err(CliError::usage)
    }

    fn remote_name(&self) -> &str {
        self.remote_name()
    }

    fn missing(name: &str, graph: &GraphSnapshot, waited: Duration) -> CliError {
        let is_there = graph.nodes.iter().any(|node| node.name.fully_qualified() == name);
        let managed = managed_nodes(graph, true);
        if managed.iter().any(|known| known == name) {
            return CliError::failed(format!(
                "node {name} did not become ready {}: is it being spun?",
                within(waited)
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
                "no node {name} appeared {}: start it, or see `feros lifecycle nodes`{known}",
                within(waited)
            )
        })
    }
}
