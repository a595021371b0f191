//! `feros bag slice`: copies a stretch of a bag, or some of its topics, into a new bag.

use std::path::PathBuf;
use std::time::Duration;

use feros_bag::{BagWriter, MessageFilter, copy};

use super::compression_args::CompressionArgs;
use super::missing::warn_of_missing;
use super::selection_args::SelectionArgs;
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};
use crate::value_parsers::parse_seconds;

/// Copy a stretch of a bag, or some of its topics
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros bag slice my_bag -o crash --start-offset 30 --duration 5\n  \
                  feros bag slice my_bag -o camera --topics /image /camera_info"
)]
pub(crate) struct Args {
    /// Folder of the bag, or one of its files
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Folder to create for the new bag
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Begin this many seconds into the bag
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    start_offset: Option<Duration>,
    /// Copy this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    duration: Option<Duration>,
    /// Begin at this time, in nanoseconds since 1970
    #[arg(long, value_name = "NANOSECONDS", conflicts_with = "start_offset")]
    start_time: Option<i64>,
    /// End at this time, in nanoseconds since 1970
    #[arg(long, value_name = "NANOSECONDS", conflicts_with = "duration")]
    end_time: Option<i64>,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    files: CompressionArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let bag = super::open(&args.bag)?;
    let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    let bag_start = bag.metadata().time.map_or(0, |time| time.start);
    let by_offset = args.start_offset.map(|offset| bag_start.saturating_add(nanos(offset)));
    let start = args.start_time.or(by_offset);
    let from = start.unwrap_or(bag_start);
    let end = args.end_time.or(args.duration.map(|duration| from.saturating_add(nanos(duration))));
    let selection = args.selection.selection_of_bag();
    warn_of_missing(std::slice::from_ref(&bag), &selection, []);
    let topics = bag.topics().iter().map(|topic| &topic.metadata);
    let wanted = topics.filter(|topic| selection.has(&topic.name, &topic.type_name));
    let topics = Some(wanted.map(|topic| topic.name.clone()).collect());
    let types = Types::load(interfaces)?;
    let mut writer = BagWriter::create(&args.output, args.files.writer_options())?;
    let filter = MessageFilter { start, end, topics };
    let copied = copy(&[bag], &filter, &mut writer, |topic| super::completed(topic, &types))?;
    writer.finish()?;
    output::print_lines([format!("{}: {copied} messages", args.output.display())])
}
