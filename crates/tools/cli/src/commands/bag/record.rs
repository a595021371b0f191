//! `feros bag record`: records topics, services and actions into a bag.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use feros::{Executor, Outcome};
use feros_bag::recorder::Recording;
use feros_bag::{Recorder, RecorderOptions, TopicSelection};
use feros_interface::Namespace;

use super::accepted::{LogLevel, SerializationFormat};
use super::compression_args::CompressionArgs;
use super::keys::{Key, Keys};
use super::selection_args::SelectionArgs;
use super::time_text::file_name_text;
use crate::connection::Connection;
use crate::error::CliError;
use crate::silent_services::SilentServices;
use crate::types::described;
use crate::types::{InterfaceArgs, Types};
use crate::{ending, notices, output};

/// How often to check for keys.
const KEYS_PERIOD: Duration = Duration::from_millis(50);

/// Record topics, services and actions into a bag, until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "The node offers the same services as rosbag2: ~/pause, ~/resume, ~/is_paused, ~/split_bagfile, ~/snapshot, \
                  ~/stop, ~/record, ~/start_discovery, ~/stop_discovery and ~/is_discovery_running.\n\nExamples:\n  \
                  feros bag record -a\n  feros bag record --topics /scan /odom -o drive\n  feros bag record -a --exclude-regex \
                  image --compression-format zstd\n  feros bag record -a --snapshot-mode --max-cache-size 1000000000"
)]
pub(crate) struct Args {
    /// Topics to record, as --topics
    #[arg(value_name = "TOPIC")]
    named: Vec<String>,
    /// Folder to create for the bag; by default, one named after the time (UTC)
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Record all topics, services and actions that are not hidden
    #[arg(short, long)]
    all: bool,
    /// Record all topics that are not hidden
    #[arg(long)]
    all_topics: bool,
    /// Record all services, through their introspection topics
    #[arg(long)]
    all_services: bool,
    /// Record all actions, through their introspection topics, feedback and status
    #[arg(long)]
    all_actions: bool,
    /// Include topics that have no publisher yet
    #[arg(long)]
    include_unpublished_topics: bool,
    /// Include hidden topics
    #[arg(long)]
    include_hidden_topics: bool,
    /// Leave out topics without a subscription other than the recorder's
    #[arg(long)]
    ignore_leaf_topics: bool,
    /// Record only topics that exist at the beginning
    #[arg(long)]
    no_discovery: bool,
    /// A YAML file with QoS policies by topic, which replace the policies of the publishers
    #[arg(long, value_name = "FILE")]
    qos_profile_overrides_path: Option<PathBuf>,
    /// Bytes of messages that may wait to be written, or that snapshot mode keeps
    #[arg(long, value_name = "BYTES", default_value_t = 100 << 20)]
    max_cache_size: usize,
    /// Keep the newest messages in memory, and write them when ~/snapshot is called
    #[arg(long)]
    snapshot_mode: bool,
    /// Begin in the paused state
    #[arg(long)]
    start_paused: bool,
    /// Use the simulated time of /clock; nothing is recorded before its first message
    #[arg(long)]
    use_sim_time: bool,
    /// Name of the node
    #[arg(long, value_name = "NAME", default_value = "rosbag2_recorder")]
    node_name: String,
    /// Entries to add to the bag's metadata
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = parse_pair)]
    custom_data: Vec<(String, String)>,
    /// Do not pause when SPACE is pressed
    #[arg(long)]
    disable_keyboard_controls: bool,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    files: CompressionArgs,
    #[command(flatten)]
    accepted: Accepted,
}

/// Options of `ros2 bag record` that are accepted without effect.
#[derive(clap::Args)]
struct Accepted {
    /// Accepted for command lines written for `ros2`: the graph reports its changes and is not
    /// polled
    #[arg(short = 'p', long, value_name = "MS", hide = true)]
    polling_interval: Option<u64>,
    /// Accepted for command lines written for `ros2`: messages are recorded as they come
    #[arg(short = 'f', long, value_name = "FORMAT", hide = true)]
    serialization_format: Option<SerializationFormat>,
    /// Accepted for command lines written for `ros2`
    #[arg(long, value_name = "LEVEL", hide = true)]
    log_level: Option<LogLevel>,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let selection = selection(args);
    if selection.is_empty() {
        return Err(CliError::usage(
            "nothing is selected to record: use --all, --topics, --services, --actions, --topic-types or --regex",
        ));
    }
    ending::in_peace();
    let types = Types::load(interfaces)?;
    let connection = Connection::open_as(Some(&args.node_name), args.use_sim_time)?;
    for name in selection.topic_types.iter().chain(&selection.exclude_topic_types) {
        types.warn_of_unknown(name, Namespace::Msg);
    }
    let options = options(args, selection, types, &connection)?;
    let recorder = Recorder::start(&connection.node, options.clone()).map_err(CliError::failed)?;
    notices::note(format!(
        "recording into {}: Ctrl-C ends the recording",
        options.output.display()
    ));
    let keys = if args.disable_keyboard_controls { None } else { Keys::read() };
    if keys.is_some() {
        notices::note("press SPACE to pause, and again to continue");
    }
    // With --all, services are recorded besides topics, and need no warnings.
    let silent = match args.all_services {
        true => SilentServices::selected(&connection, &options.selection),
        false => SilentServices::among(&connection, &options.selection.services),
    };
    spin(&connection, &recorder, keys.as_ref(), silent)?;
    drop(keys);
    match recorder.stop()? {
        Some(recording) => tell(&recording),
        None => Ok(()),
    }
}

fn selection(args: &Args) -> TopicSelection {
    let mut named = args.selection.clone();
    named.topics.extend_from_slice(&args.named);
    TopicSelection {
        all_topics: args.all || args.all_topics,
        all_services: args.all || args.all_services,
        all_actions: args.all || args.all_actions,
        include_hidden_topics: args.include_hidden_topics,
        ..named.selection()
    }
}

fn options(
    args: &Args,
    selection: TopicSelection,
    types: Types,
    connection: &Connection,
) -> Result<RecorderOptions, CliError> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_nanos()).unwrap_or(0);
    let named = || PathBuf::from(format!("rosbag2_{}", file_name_text(now)));
    let mut writer = args.files.writer_options();
    writer.custom_data = args.custom_data.iter().cloned().collect::<BTreeMap<_, _>>();
    let (connection, types) = (connection.clone(), Arc::new(types));
    let own = types.clone();
    let schemas = move |_: &str, type_name: &str, hash| {
        described::own_schema(&own, type_name, hash).unwrap_or_default()
    };
    let asked = move |topic: &str, type_name: &str, hash| {
        described::schema_of_topic(&connection, &types, topic, type_name, hash).unwrap_or_default()
    };
    let output = args.output.clone().unwrap_or_else(named);
    Ok(RecorderOptions {
        writer,
        selection,
        qos_overrides: super::read_qos_overrides(args.qos_profile_overrides_path.as_deref())?,
        max_cache_bytes: args.max_cache_size,
        snapshot_mode: args.snapshot_mode,
        start_paused: args.start_paused,
        discovery: !args.no_discovery,
        include_unpublished_topics: args.include_unpublished_topics,
        ignore_leaf_topics: args.ignore_leaf_topics,
        schemas: Arc::new(schemas),
        asked: Some(Arc::new(asked)),
        ..RecorderOptions::new(output)
    })
}

/// Receives until the user interrupts, or until writing the bag fails.
fn spin(
    connection: &Connection,
    recorder: &Recorder,
    keys: Option<&Keys>,
    mut silent: SilentServices,
) -> Result<(), CliError> {
    let executor = Executor::new();
    executor.add_node(&connection.node)?;
    loop {
        if executor.spin_until(Some(KEYS_PERIOD), || false)? == Outcome::Stopped
            || recorder.has_failed()
        {
            return Ok(());
        }
        silent.look(&connection.context.graph());
        while let Some(key) = keys.and_then(Keys::next) {
            if key == Key::Space && recorder.is_paused() {
                recorder.resume();
                notices::note("recording");
            } else if key == Key::Space {
                recorder.pause();
                notices::note("paused");
            }
        }
    }
}

/// Prints a summary of the recorded and the lost messages.
fn tell(recording: &Recording) -> Result<(), CliError> {
    if !recording.lost.is_empty() {
        let total: u64 = recording.lost.values().sum();
        let topics = recording.lost.iter().map(|(topic, lost)| format!("{topic} {lost}"));
        notices::warn(format!(
            "{total} messages were lost, because receiving or the disk was too slow: {}. Record fewer topics, or use a \
             faster disk",
            topics.collect::<Vec<_>>().join(", ")
        ));
    }
    output::print_lines([format!(
        "{}: {} messages of {} topics",
        recording.output.display(),
        recording.metadata.message_count,
        recording.metadata.topics.len()
    )])
}
