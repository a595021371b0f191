//! `feros service list`: the services that have a server or a client.

use feros_engine::EndpointKind;
use feros_engine::name::is_hidden;
use serde::Serialize;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// List the services that have a server or a client
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros service list -t\n  feros service list --json | jq -r '.[].name'"
)]
pub(crate) struct Args {
    /// Print the types as well
    #[arg(short = 't', long)]
    show_types: bool,
    /// Print only the number of services
    #[arg(short, long, alias = "count")]
    count_services: bool,
    /// Include hidden services, such as those of actions
    #[arg(short = 'a', long, alias = "all")]
    include_hidden_services: bool,
    /// Print a JSON array of objects with name, types, servers and clients
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

#[derive(Serialize)]
struct Service {
    name: String,
    types: Vec<String>,
    servers: usize,
    clients: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let graph = Connection::open()?.discover(&args.discovery)?;
    let services: Vec<Service> = graph
        .services()
        .into_iter()
        .filter(|(name, _)| args.include_hidden_services || !is_hidden(name))
        .map(|(name, types)| Service {
            servers: graph.count(EndpointKind::Service, &name),
            clients: graph.count(EndpointKind::Client, &name),
            name,
            types: types.into_iter().collect(),
        })
        .collect();
    if args.json {
        output::print_json(&services)
    } else if args.count_services {
        output::print_lines([services.len().to_string()])
    } else if args.show_types && output::is_terminal() && !services.is_empty() {
        let rows =
            services.iter().map(|service| vec![service.name.clone(), service.types.join(", ")]);
        output::print_table(&["service", "type"], rows)
    } else if args.show_types {
        output::print_lines(services.iter().map(|s| format!("{} [{}]", s.name, s.types.join(", "))))
    } else {
        output::print_lines(services.iter().map(|service| &service.name))
    }
}
