//! `feros service find`: the services of one type.

use feros_engine::name::is_hidden;
use feros_interface::Namespace;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types, full_name};

/// List the services of one type
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros service find std_srvs/srv/SetBool")]
pub(crate) struct Args {
    /// The type, as package/srv/Name or package/Name
    #[arg(value_name = "TYPE")]
    service_type: String,
    /// Print only the number of services
    #[arg(short, long, alias = "count")]
    count_services: bool,
    /// Include hidden services
    #[arg(short = 'a', long, alias = "all")]
    include_hidden_services: bool,
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let wanted = full_name(&args.service_type, Namespace::Srv);
    let services = Connection::open()?.discover(&args.discovery)?.services();
    let names: Vec<String> = services
        .into_iter()
        .filter(|(name, types)| {
            types.contains(&wanted) && (args.include_hidden_services || !is_hidden(name))
        })
        .map(|(name, _)| name)
        .collect();
    if names.is_empty() {
        Types::load(interfaces)?.warn_of_unknown(&args.service_type, Namespace::Srv);
    }
    output::print_found(args.json, args.count_services, names)
}
