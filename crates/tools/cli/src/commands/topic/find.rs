//! `feros topic find`: the topics of one type.

use feros_engine::name::is_hidden;
use feros_interface::Namespace;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types, full_name};

/// List the topics of one type
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros topic find sensor_msgs/msg/Image")]
pub(crate) struct Args {
    /// The type, as package/msg/Name or package/Name
    #[arg(value_name = "TYPE")]
    message_type: String,
    /// Print only the number of topics
    #[arg(short, long, alias = "count")]
    count_topics: bool,
    /// Include hidden topics
    #[arg(short = 'a', long, alias = "all")]
    include_hidden_topics: bool,
    /// Print a JSON array of names
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let wanted = full_name(&args.message_type, Namespace::Msg);
    let topics = Connection::open()?.discover(&args.discovery)?.topics();
    let names: Vec<String> = topics
        .into_iter()
        .filter(|(name, types)| {
            types.contains(&wanted) && (args.include_hidden_topics || !is_hidden(name))
        })
        .map(|(name, _)| name)
        .collect();
    if names.is_empty() {
        Types::load(interfaces)?.warn_of_unknown(&args.message_type, Namespace::Msg);
    }
    output::print_found(args.json, args.count_topics, names)
}
