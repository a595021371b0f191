//! `feros service info`: the type of a service, and who serves and calls it.

use std::fmt::Write as _;
use std::process::ExitCode;

use feros_rmw::name::is_hidden;
use feros_rmw::{EndpointKind, GraphSnapshot};
use serde_json::json;

use super::super::endpoint::Endpoint;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::output;

/// Show the type of a service, and who serves and calls it
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros service info -v /enable")]
pub(crate) struct Args {
    /// Name of the service
    service: String,
    /// Each endpoint with its node, its type's hash and its QoS
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON object with name, types, servers and clients
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let connection = Connection::open()?;
    let name = connection.service_name(&args.service)?;
    let graph = if args.verbose || args.json {
        connection.discover_nodes(&args.discovery)?
    } else {
        connection.discover(&args.discovery)?
    };
    if !graph.services().contains_key(&name) {
        return Err(no_such_service(&graph, &name));
    }
    if args.json {
        output::print_json(&object(&graph, &name))?;
    } else {
        output::print(&text(&graph, &name, args.verbose))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// That a service is not there, with those that have a similar name.
pub(super) fn no_such_service(graph: &GraphSnapshot, name: &str) -> CliError {
    let services = graph.services();
    let likely =
        did_you_mean(name, services.keys().map(String::as_str).filter(|name| !is_hidden(name)));
    CliError::failed(format!("there is no service {name}{likely}"))
}

fn object(graph: &GraphSnapshot, service: &str) -> serde_json::Value {
    let side = |kind| {
        let endpoints = graph.endpoints_of(kind, service);
        endpoints.map(|endpoint| Endpoint(endpoint).to_json()).collect::<Vec<_>>()
    };
    json!({
        "name": service,
        "types": graph.services().get(service),
        "servers": side(EndpointKind::Service),
        "clients": side(EndpointKind::Client),
    })
}

/// The text of `ros2 service info`.
fn text(graph: &GraphSnapshot, service: &str, verbose: bool) -> String {
    let types: Vec<String> = graph.services().remove(service).into_iter().flatten().collect();
    let end = if verbose { "\n\n" } else { "\n" };
    let mut text = format!("Type: {}\n", types.join(", "));
    for (noun, kind) in [("Clients", EndpointKind::Client), ("Services", EndpointKind::Service)] {
        let _ = write!(text, "{noun} count: {}{end}", graph.count(kind, service));
        for endpoint in graph.endpoints_of(kind, service).filter(|_| verbose) {
            let _ = write!(text, "{}{end}", Endpoint(endpoint));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_rmw::graph::EndpointNode;
    use feros_rmw::{EndpointInfo, Gid, NodeName, QosProfile};

    #[test]
    fn text_is_that_of_ros2() {
        let endpoint = |kind| EndpointInfo {
            kind,
            name: "/enable".into(),
            type_name: "std_srvs/srv/SetBool".into(),
            type_hash: None,
            gid: Gid::default(),
            node: EndpointNode::Named(NodeName::new("/", "motor").unwrap()),
            qos: QosProfile::services_default(),
            is_ros: true,
            announcement: None,
        };
        let endpoints = vec![endpoint(EndpointKind::Service)];
        let graph = GraphSnapshot { endpoints, ..GraphSnapshot::default() };
        assert_eq!(
            text(&graph, "/enable", false),
            "Type: std_srvs/srv/SetBool\nClients count: 0\nServices count: 1\n"
        );
        let verbose = text(&graph, "/enable", true);
        assert!(
            verbose.contains("Services count: 1\n\nNode name: motor\n")
                && verbose.contains("\nService type: std_srvs/srv/SetBool\n")
                && verbose.contains("\nEndpoint type: SERVICE\n"),
            "{verbose}"
        );
    }
}
