//! `feros action info`: the nodes that have a server or a client of an action.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use feros_engine::{EndpointKind, GraphSnapshot};
use serde::Serialize;

use super::no_such_action;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output::{self, foreign};

/// Show the nodes that have a server or a client of an action
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros action info -t /fibonacci")]
pub(crate) struct Args {
    /// Name of the action
    action: String,
    /// Print the types as well
    #[arg(short = 't', long)]
    show_types: bool,
    /// Print only the number of clients and of servers
    #[arg(short, long)]
    count: bool,
    /// Print a JSON object: types by node under clients and servers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

/// Types by node.
type Nodes = BTreeMap<String, BTreeSet<String>>;

#[derive(Serialize)]
struct Report {
    name: String,
    clients: Nodes,
    servers: Nodes,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let name = connection.topic_name(&args.action)?;
    let graph = connection.discover_nodes(&args.discovery)?;
    if !graph.actions().contains_key(&name) {
        return Err(no_such_action(&graph, &name));
    }
    let report = Report {
        clients: nodes(&graph, &name, EndpointKind::Subscription),
        servers: nodes(&graph, &name, EndpointKind::Publisher),
        name,
    };
    if args.json { output::print_json(&report) } else { output::print(&text(&report, args)) }
}

/// As in `rcl_action`, a publisher of feedback counts as a server, and a subscription as a client.
fn nodes(graph: &GraphSnapshot, action: &str, kind: EndpointKind) -> Nodes {
    let topic = format!("{action}/_action/feedback");
    let mut nodes = Nodes::new();
    for endpoint in graph.endpoints_of(kind, &topic) {
        let node =
            endpoint.node.name().map_or("_NODE_NAME_UNKNOWN_".to_owned(), ToString::to_string);
        let name = endpoint.type_name.strip_suffix("_FeedbackMessage");
        nodes.entry(node).or_default().extend(name.map(str::to_owned));
    }
    nodes
}

fn text(report: &Report, args: &Args) -> String {
    let mut text = format!("Action: {}\n", foreign(&report.name));
    for (title, nodes) in [("clients", &report.clients), ("servers", &report.servers)] {
        let _ = writeln!(text, "Action {title}: {}", nodes.len());
        for (node, types) in nodes.iter().filter(|_| !args.count) {
            let types: Vec<_> = types.iter().map(|name| foreign(name)).collect();
            let types =
                if args.show_types { format!(" [{}]", types.join(", ")) } else { String::new() };
            let _ = writeln!(text, "    {}{types}", foreign(node));
        }
    }
    text
}
