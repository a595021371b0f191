//! `feros bag info`: the contents of a bag according to its files, even if its recorder was killed.

use std::path::PathBuf;

use clap::ValueEnum;
use feros_bag::Interrupt;
use serde_json::json;

use super::storage_args::StorageArgs;
use super::summary::{self, groups, plain_topics};
use crate::error::CliError;
use crate::output;

/// Print the contents of a bag
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  feros bag info my_bag\n  feros bag info my_bag_0.mcap --json")]
pub(crate) struct Args {
    /// Folder of the bag, or one of its files
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Print only the names of the topics
    #[arg(short, long)]
    topic_name: bool,
    /// Order of the topics
    #[arg(long, value_name = "ORDER", default_value = "name")]
    sort: Order,
    /// Print a JSON object; times in nanoseconds since 1970
    #[arg(long)]
    json: bool,
    /// Accepted for command lines written for `ros2`: services and actions are shown in any case
    #[arg(short, long, hide = true)]
    verbose: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    Name,
    Type,
    Count,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let bag = super::open(&args.bag, args.storage.named(), Interrupt::default())?;
    if args.topic_name {
        output::print_lines(bag.metadata().topics.iter().map(|topic| &topic.topic.name))
    } else if args.json {
        output::print_json(&object(&bag, args.sort))
    } else {
        output::print_lines(summary::lines(&bag))
    }
}

fn object(bag: &feros_bag::BagReader, order: Order) -> serde_json::Value {
    let metadata = bag.metadata();
    let mut topics: Vec<_> = plain_topics(&metadata.topics).collect();
    match order {
        Order::Name => topics.sort_by(|a, b| a.topic.name.cmp(&b.topic.name)),
        Order::Type => topics.sort_by(|a, b| a.topic.type_name.cmp(&b.topic.type_name)),
        Order::Count => topics.sort_by_key(|topic| std::cmp::Reverse(topic.message_count)),
    }
    let topics: Vec<_> = topics
        .iter()
        .map(|information| {
            let topic = &information.topic;
            json!({
                "name": topic.name,
                "type": topic.type_name,
                "count": information.message_count,
                "serialization_format": topic.serialization_format,
                "type_description_hash": topic.type_description_hash,
            })
        })
        .collect();
    let events = |of_actions| -> Vec<_> {
        let groups = groups(&metadata.topics, of_actions);
        let object = |group: &summary::Group<'_>| json!({ "name": group.name, "type": group.type_name, "event_count": group.events });
        groups.iter().map(object).collect()
    };
    json!({
        "files": metadata.files.iter().map(|file| &file.path).collect::<Vec<_>>(),
        "size_bytes": bag.size_bytes(),
        "storage_id": metadata.storage_identifier,
        "ros_distro": metadata.ros_distro,
        "duration": metadata.time.map(|time| time.duration()),
        "start": metadata.time.map(|time| time.start),
        "end": metadata.time.map(|time| time.end),
        "message_count": metadata.message_count,
        "is_indexed": bag.is_indexed(),
        "topics": topics,
        "services": events(false),
        "actions": events(true),
        "custom_data": metadata.custom_data,
    })
}
