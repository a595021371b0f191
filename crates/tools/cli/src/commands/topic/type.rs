//! `feros topic type`: the type of one topic.

use super::watch::no_such_topic;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;

/// Print the type of a topic
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros topic type /scan | feros interface show -")]
pub(crate) struct Args {
    /// Name of the topic
    topic: String,
    /// Print a JSON array of types
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let name = connection.topic_name(&args.topic)?;
    let graph = connection.discover(&args.discovery)?;
    let topics = graph.topics();
    let types = topics.get(&name).ok_or_else(|| no_such_topic(&graph, &name))?;
    output::print_texts(args.json, types)
}
