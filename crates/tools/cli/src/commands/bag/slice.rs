//! `feros bag slice`: copies a stretch of a bag, or some of its topics, into a new bag.

use std::path::PathBuf;
use std::time::Duration;

use feros_bag::OutputBag;

use super::compression_args::CompressionArgs;
use super::new_bags;
use super::selection_args::SelectionArgs;
use crate::ending;
use crate::error::CliError;
use crate::types::InterfaceArgs;
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
    let (is_ending, _listening) = ending::flag(|| {});
    let bag =
        new_bags::opened(is_ending.into(), |interrupt| super::open(&args.bag, None, interrupt))?;
    let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    let bag_start = bag.metadata().time.map_or(0, |time| time.start);
    let by_offset = args.start_offset.map(|offset| bag_start.saturating_add(nanos(offset)));
    let start = args.start_time.or(by_offset);
    let from = start.unwrap_or(bag_start);
    let end = args.end_time.or(args.duration.map(|duration| from.saturating_add(nanos(duration))));
    let wanted = OutputBag {
        uri: args.output.clone(),
        writer: args.files.writer_options(),
        selection: args.selection.selection_of_bag(),
        start,
        end,
    };
    new_bags::make(&[bag], vec![wanted], interfaces)
}
