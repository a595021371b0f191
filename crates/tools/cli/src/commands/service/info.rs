//! `feros service info`: the type of a service, its servers and clients, and the transports of
//! their requests and responses.

use feros::{Reason, transports_of_service};
use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, GraphSnapshot};
use serde_json::json;

use super::super::endpoint;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::output::{self, foreign};

/// Show the type of a service, and its servers and clients
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros service info -v /enable")]
pub(crate) struct Args {
    /// Name of the service
    service: String,
    /// Print each endpoint with its node, its type's hash and its QoS, and the transport of each
    /// match
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON object with name, types, servers, clients and transports
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
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
        output::print_json(&object(&graph, &name))
    } else {
        output::print(&text(&graph, &name, args.verbose))
    }
}

/// The error that a service does not exist, with the services of similar names.
pub(super) fn no_such_service(graph: &GraphSnapshot, name: &str) -> CliError {
    let services = graph.services();
    let likely =
        did_you_mean(name, services.keys().map(String::as_str).filter(|name| !is_hidden(name)));
    CliError::failed(format!("there is no service {name}{likely}"))
}

fn object(graph: &GraphSnapshot, service: &str) -> serde_json::Value {
    let found = transports_of_service(graph, service);
    json!({
        "name": service,
        "types": graph.services().get(service),
        "servers": endpoint::to_json(graph, EndpointKind::Service, service),
        "clients": endpoint::to_json(graph, EndpointKind::Client, service),
        "transports":
            endpoint::transports_to_json(&found, ["client", "server"], Reason::of_service),
    })
}

/// The text of `ros2 service info`, and with `-v` the transport of each match after it.
fn text(graph: &GraphSnapshot, service: &str, verbose: bool) -> String {
    let types: Vec<String> = graph.services().remove(service).into_iter().flatten().collect();
    let mut text = format!("Type: {}\n", foreign(&types.join(", ")));
    for side in [("Clients", EndpointKind::Client), ("Services", EndpointKind::Service)] {
        text.push_str(&endpoint::text(graph, side, service, verbose));
    }
    if verbose {
        let found = transports_of_service(graph, service);
        text.push_str(&endpoint::transports(&found, Reason::of_service));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros::shm::format_version;
    use feros_engine::{EndpointInfo, Gid, NodeName, QosProfile};

    /// A client and a server with these announcements, which begin after the version.
    fn graph(announcements: [Option<&str>; 2]) -> GraphSnapshot {
        let endpoint = |kind: EndpointKind, node: &str, announcement: Option<&str>| EndpointInfo {
            gid: Gid([kind as u8; 16]),
            qos: QosProfile::services_default(),
            announcement: announcement.map(|text| format!("{:x},{text}", format_version()).into()),
            ..EndpointInfo::of_node(
                kind,
                "/enable",
                "std_srvs/srv/SetBool",
                NodeName::new("/", node).unwrap(),
            )
        };
        let [client, server] = announcements;
        let endpoints = vec![
            endpoint(EndpointKind::Client, "button", client),
            endpoint(EndpointKind::Service, "motor", server),
        ];
        GraphSnapshot { endpoints, ..GraphSnapshot::default() }
    }

    #[test]
    fn text_is_that_of_ros2() {
        let graph = graph([None, None]);
        assert_eq!(
            text(&graph, "/enable", false),
            "Type: std_srvs/srv/SetBool\nClients count: 1\nServices count: 1\n"
        );
        let verbose = text(&graph, "/enable", true);
        assert!(
            verbose.contains("Services count: 1\n\nNode name: motor\n")
                && verbose.contains("\nService type: std_srvs/srv/SetBool\n")
                && verbose.contains("\nEndpoint type: SERVICE\n"),
            "{verbose}"
        );
    }

    #[test]
    fn transports_have_their_reasons_in_the_words_of_services() {
        const BUTTON: &str = "1-2-3-4,3e8,2a,7,9,phn,5";
        let seen = |graph: &GraphSnapshot| {
            let text = text(graph, "/enable", true);
            text.lines().last().unwrap().to_owned()
        };
        let stock = graph([Some(BUTTON), None]);
        assert_eq!(
            seen(&stock),
            "  /button -> /motor: network, because the server is not a Feros endpoint"
        );
        let object = object(&stock, "/enable");
        assert_eq!(object["transports"][0]["reason"], "the server is not a Feros endpoint");
        let near = graph([Some(BUTTON), Some("1-2-3-4,3e8,2b,8,0,phn,5")]);
        assert_eq!(seen(&near), "  /button -> /motor: shared_memory");
    }
}
