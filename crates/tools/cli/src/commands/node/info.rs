//! `feros node info`: the endpoints and actions of one node.

use std::fmt::Write as _;

use feros_engine::graph::NamesAndTypes;
use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, GraphSnapshot, NodeName};
use serde::Serialize;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::notices;
use crate::output::{self, foreign};

/// Show the publishers, subscriptions, services, clients and actions of a node
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros node info /talker")]
pub(crate) struct Args {
    /// Name of the node with its namespace
    node: String,
    /// Include hidden topics, services and actions
    #[arg(long)]
    include_hidden: bool,
    /// Print a JSON object: types by name under subscribers, publishers, service_servers, …
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

/// Types by name.
#[derive(Serialize)]
struct NodeReport {
    name: String,
    subscribers: NamesAndTypes,
    publishers: NamesAndTypes,
    service_servers: NamesAndTypes,
    service_clients: NamesAndTypes,
    action_servers: NamesAndTypes,
    action_clients: NamesAndTypes,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let graph = connection.discover_nodes(&args.discovery)?;
    let wanted =
        if args.node.starts_with('/') { args.node.clone() } else { format!("/{}", args.node) };
    let known: Vec<(&NodeName, String)> =
        graph.nodes.iter().map(|node| (&node.name, node.name.fully_qualified())).collect();
    let found: Vec<&NodeName> =
        known.iter().filter(|(_, full)| *full == wanted).map(|(name, _)| *name).collect();
    let Some(name) = found.first() else {
        let likely = did_you_mean(
            &wanted,
            known.iter().map(|(_, name)| name.as_str()).filter(|n| !is_hidden(n)),
        );
        return Err(CliError::failed(format!(
            "there is no node {wanted} in domain {}{likely} `feros node list -a` shows all",
            connection.context.session().domain_id(),
            likely = if likely.is_empty() { ";".to_owned() } else { likely },
        )));
    };
    if found.len() > 1 {
        notices::warn(format!(
            "{} nodes have the name {wanted}; the endpoints of all of them are shown",
            found.len()
        ));
    }
    let report = report(&graph, name, args.include_hidden);
    if args.json { output::print_json(&report) } else { output::print(&text(&report)) }
}

fn report(graph: &GraphSnapshot, node: &NodeName, include_hidden: bool) -> NodeReport {
    let visible = |mut all: NamesAndTypes| {
        all.retain(|name, _| include_hidden || !is_hidden(name));
        all
    };
    let of = |kind| graph.of_node(node, kind);
    NodeReport {
        name: node.fully_qualified(),
        subscribers: visible(of(EndpointKind::Subscription)),
        publishers: visible(of(EndpointKind::Publisher)),
        service_servers: visible(of(EndpointKind::Service)),
        service_clients: visible(of(EndpointKind::Client)),
        action_servers: visible(graph.action_servers_of_node(node)),
        action_clients: visible(graph.action_clients_of_node(node)),
    }
}

fn text(report: &NodeReport) -> String {
    let mut text = format!("{}\n", foreign(&report.name));
    for (title, names) in [
        ("Subscribers", &report.subscribers),
        ("Publishers", &report.publishers),
        ("Service Servers", &report.service_servers),
        ("Service Clients", &report.service_clients),
        ("Action Servers", &report.action_servers),
        ("Action Clients", &report.action_clients),
    ] {
        let _ = writeln!(text, "  {title}:");
        for (name, types) in names {
            let types: Vec<_> = types.iter().map(|name| foreign(name)).collect();
            let _ = writeln!(text, "    {}: {}", foreign(name), types.join(", "));
        }
        // `ros2` prints an empty line for an empty list.
        if names.is_empty() {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_engine::EndpointInfo;

    fn endpoint(kind: EndpointKind, name: &str, type_name: &str) -> EndpointInfo {
        EndpointInfo::of_node(kind, name, type_name, NodeName::new("/ns", "n").unwrap())
    }

    #[test]
    fn text_is_that_of_ros2() {
        let graph = GraphSnapshot {
            endpoints: vec![
                endpoint(EndpointKind::Publisher, "/chatter", "std_msgs/msg/String"),
                endpoint(EndpointKind::Publisher, "/rosout", "rcl_interfaces/msg/Log"),
                endpoint(
                    EndpointKind::Publisher,
                    "/fib/_action/feedback",
                    "example_interfaces/action/Fibonacci_FeedbackMessage",
                ),
                endpoint(EndpointKind::Service, "/ns/n/get", "std_srvs/srv/Trigger"),
                endpoint(
                    EndpointKind::Service,
                    "/fib/_action/send_goal",
                    "example_interfaces/action/Fibonacci_SendGoal",
                ),
            ],
            ..GraphSnapshot::default()
        };
        let node = NodeName::new("/ns", "n").unwrap();
        assert_eq!(
            text(&report(&graph, &node, false)),
            "/ns/n\n  Subscribers:\n\n  Publishers:\n    /chatter: std_msgs/msg/String\n    /rosout: \
             rcl_interfaces/msg/Log\n  Service Servers:\n    /ns/n/get: std_srvs/srv/Trigger\n  Service Clients:\n\n  \
             Action Servers:\n    /fib: example_interfaces/action/Fibonacci\n  Action Clients:\n\n"
        );
        assert!(text(&report(&graph, &node, true)).contains("/fib/_action/send_goal"));
    }
}
