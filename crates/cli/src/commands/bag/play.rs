//! `feros bag play`: the messages of a bag, published as they were.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use feros::{Arguments, Context, ContextOptions, Executor, NodeOptions, Outcome};
use feros_bag::player::MessageOrder;
use feros_bag::{BagReader, Player, PlayerOptions, TopicKind, TopicMetadata, topic_kind};

use super::keys::{Key, Keys};
use super::selection_args::SelectionArgs;
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::value_parsers::parse_seconds;
use crate::{ending, notices, output};

/// How often keys and the end are looked for.
const PERIOD: Duration = Duration::from_millis(20);
/// What a press of the keys for faster and slower does.
const RATE_STEP: f64 = 1.1;
/// How far a press of the key for back goes, in nanoseconds of the bag.
const SEEK_STEP: i64 = 5_000_000_000;

/// Publish the messages of a bag as they were
#[derive(clap::Args)]
#[command(
    after_help = "The node serves what rosbag2 serves: ~/pause, ~/resume, ~/toggle_paused, ~/is_paused, ~/get_rate, \
                  ~/set_rate, ~/play_next, ~/burst, ~/seek, ~/play and ~/stop. Keys: SPACE pauses and goes on, RIGHT \
                  publishes the next message while paused, LEFT goes 5 s back, UP and DOWN play faster and \
                  slower.\n\nExamples:\n  feros bag play my_bag --clock\n  feros bag play my_bag -r 0.5 -l --topics /scan\n  \
                  feros bag play my_bag --start-offset 30 --playback-duration 5 -m /scan:=/scan_old"
)]
pub(crate) struct Args {
    /// Folder of the bag, or one of its files
    #[arg(value_name = "BAG", required_unless_present = "input")]
    bag: Option<PathBuf>,
    /// Folder of a bag; several are played as one, in the order of time. A storage behind it, such
    /// as sqlite3, is accepted for command lines written for `ros2`
    #[arg(short, long, value_name = "BAG", num_args = 1..=2, action = clap::ArgAction::Append, conflicts_with = "bag")]
    input: Vec<PathBuf>,
    /// How many times as fast as it was recorded
    #[arg(short, long, value_name = "RATE", default_value_t = 1.0)]
    rate: f64,
    /// Begin again at the end
    #[arg(short, long)]
    r#loop: bool,
    /// Begin so many seconds into the bag; what is latched before that is published first
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = parse_seconds)]
    start_offset: Duration,
    /// Play so many seconds of the bag
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, allow_hyphen_values = true)]
    playback_duration: Option<Limit>,
    /// Play until this time of the bag, in seconds since 1970
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, allow_hyphen_values = true)]
    playback_until_sec: Option<Limit>,
    /// Play until this time of the bag, in nanoseconds since 1970
    #[arg(long, value_name = "NANOSECONDS", allow_hyphen_values = true)]
    playback_until_nsec: Option<i64>,
    /// Wait before it begins, each time
    #[arg(short, long, value_name = "SECONDS", default_value = "0", value_parser = parse_seconds)]
    delay: Duration,
    /// Publish /clock with the time of the bag, so many times a second
    #[arg(long, value_name = "HERTZ", num_args = 0..=1, default_missing_value = "40")]
    clock: Option<f64>,
    /// Publish topics under other names
    #[arg(short = 'm', long, value_name = "OLD:=NEW", num_args = 1..)]
    remap: Vec<String>,
    /// A YAML file with QoS policies by topic, which replace those that were recorded
    #[arg(long, value_name = "FILE")]
    qos_profile_overrides_path: Option<PathBuf>,
    /// Play messages in the order and at the times of their receipt, or of their sending, which
    /// MCAP files tell; the bag is looked through first for this
    #[arg(long, value_name = "ORDER", default_value = "received")]
    message_order: Order,
    /// Begin paused
    #[arg(short = 'p', long)]
    start_paused: bool,
    /// Wait for each topic to have a subscription before it begins, no longer than this
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "31536000", value_parser = parse_seconds)]
    wait_for_subscriptions: Option<Duration>,
    /// At the end, wait for reliable subscriptions to have all messages, no longer than this; 0 for
    /// ever
    #[arg(long, value_name = "MILLISECONDS")]
    wait_for_all_acked: Option<u64>,
    /// Keys steer nothing
    #[arg(long)]
    disable_keyboard_controls: bool,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    accepted: Accepted,
}

/// Options of `ros2 bag play` that have nothing to choose here.
#[derive(clap::Args)]
struct Accepted {
    /// Accepted for command lines written for `ros2`: the files say what they are
    #[arg(short, long, value_name = "STORAGE", hide = true)]
    storage: Option<String>,
    /// Accepted for command lines written for `ros2`: 64 MiB are read ahead
    #[arg(long, value_name = "N", hide = true)]
    read_ahead_queue_size: Option<u64>,
    /// Accepted for command lines written for `ros2`: nothing is lent
    #[arg(long, hide = true)]
    disable_loan_message: bool,
    /// Accepted for command lines written for `ros2`: there is no bar
    #[arg(long, value_name = "HERTZ", hide = true, allow_negative_numbers = true)]
    progress_bar_update_rate: Option<i64>,
    /// Accepted for command lines written for `ros2`: there is no bar
    #[arg(long, value_name = "N", hide = true)]
    progress_bar_separation_lines: Option<u64>,
    /// Accepted for command lines written for `ros2`
    #[arg(long, value_name = "LEVEL", hide = true)]
    log_level: Option<String>,
}

/// The words of `ros2` for orders of messages.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    /// As they were received
    Received,
    /// As they were sent
    Sent,
}

/// An end of playing; `ros2` has negative numbers for none.
#[derive(Clone, Copy, Debug)]
struct Limit(Option<Duration>);

fn parse_limit(text: &str) -> Result<Limit, String> {
    let wrong = || "expected a number of seconds".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if seconds < 0.0 {
        return Ok(Limit(None));
    }
    // Not `parse_seconds`: a time since 1970 is more than a year.
    Duration::try_from_secs_f64(seconds).map(|duration| Limit(Some(duration))).map_err(|_| wrong())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    if !(args.rate.is_finite() && args.rate > 0.0) {
        return Err(CliError::usage(format!("--rate {}: give a number above 0", args.rate)));
    }
    // Also while the bag is opened: a file may have much to look through.
    let (is_ending, _listening) = ending::flag(|| {});
    let options = options(args)?;
    let words = args.bag.as_ref().map_or(&args.input[..], std::slice::from_ref);
    let bags = super::open_all(words, &is_ending.into())?;
    if bags.is_empty() {
        return Err(CliError::usage("name the bag that is to be played"));
    }
    let names: Vec<String> = bags.iter().map(|bag| bag.path().display().to_string()).collect();
    tell_what_is_not_there(&bags, &options);
    let rules = args.remap.iter().flat_map(|rule| ["-r".to_owned(), rule.clone()]);
    let line = std::iter::once("--ros-args".to_owned()).chain(rules);
    let (arguments, _) = Arguments::parse(line).map_err(CliError::usage)?;
    let context = ContextOptions::from_variables().map_err(CliError::usage)?;
    let context = Context::new(ContextOptions { handle_signals: true, arguments, ..context })?;
    let node = NodeOptions::new("rosbag2_player")
        .enable_rosout(false)
        .start_parameter_event_publisher(false)
        .parameter_overrides([("start_type_description_service", false)]);
    let node = context.create_node_with(node)?;
    let executor = Executor::new();
    executor.add_node(&node)?;
    let player = Player::start_merged(&node, bags, options).map_err(CliError::failed)?;
    let keys = if args.disable_keyboard_controls { None } else { Keys::read() };
    while !player.has_ended() {
        match executor.spin_until(Some(PERIOD), || player.has_ended())? {
            Outcome::Stopped => player.stop(),
            Outcome::Completed(()) | Outcome::TimedOut => {}
        }
        while let Some(key) = keys.as_ref().and_then(Keys::next) {
            press(key, &player);
        }
        if !context.is_ok() {
            player.stop();
            break;
        }
    }
    drop(keys);
    let played = player.wait().map_err(CliError::failed)?;
    output::print_lines([format!("{}: {} messages played", names.join(", "), played.messages)])?;
    Ok(ExitCode::SUCCESS)
}

/// Warns of topics that were named and are in no bag: nothing of them is played.
fn tell_what_is_not_there(bags: &[BagReader], options: &PlayerOptions) {
    let topics = bags.iter().flat_map(BagReader::topics);
    let topics: Vec<_> = topics.map(|topic| &topic.metadata).collect();
    let known = || topics.iter().map(|topic| topic.name.as_str());
    for name in options.selection.topics.iter().chain(options.qos_overrides.keys()) {
        if known().all(|known| known != name) {
            notices::warn(format!("the bag has no topic {name}{}", did_you_mean(name, known())));
        }
    }
    for (noun, names) in
        [("service", &options.selection.services), ("action", &options.selection.actions)]
    {
        for name in names {
            let is_of = |topic: &&TopicMetadata| match topic_kind(&topic.name, &topic.type_name) {
                TopicKind::Service(service) => noun == "service" && service == name,
                TopicKind::Action(action) => noun == "action" && action == name,
                TopicKind::Topic => false,
            };
            if !topics.iter().copied().any(|topic| is_of(&topic)) {
                notices::warn(format!("the bag has no events of the {noun} {name}"));
            }
        }
    }
}

fn options(args: &Args) -> Result<PlayerOptions, CliError> {
    let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    let by_seconds = args.playback_until_sec.and_then(|limit| limit.0).map(nanos);
    Ok(PlayerOptions {
        selection: args.selection.selection(),
        rate: args.rate,
        start_offset: args.start_offset,
        duration: args.playback_duration.and_then(|limit| limit.0),
        until: args.playback_until_nsec.filter(|time| *time >= 0).or(by_seconds),
        is_looping: args.r#loop,
        delay: args.delay,
        clock_frequency: args.clock,
        start_paused: args.start_paused,
        qos_overrides: super::read_qos_overrides(args.qos_profile_overrides_path.as_deref())?,
        wait_for_subscriptions: args.wait_for_subscriptions,
        wait_for_all_acked: args.wait_for_all_acked.map(|ms| match ms {
            0 => Duration::from_secs(31_536_000),
            ms => Duration::from_millis(ms),
        }),
        message_order: match args.message_order {
            Order::Received => MessageOrder::Received,
            Order::Sent => MessageOrder::Sent,
        },
        ..PlayerOptions::default()
    })
}

fn press(key: Key, player: &Player) {
    match key {
        Key::Space => {
            player.toggle_paused();
            notices::note(if player.is_paused() { "paused" } else { "playing" });
        }
        Key::Right => {
            if !player.play_next() {
                notices::note(
                    "the next message is played by RIGHT while paused: press SPACE first",
                );
            }
        }
        Key::Left => {
            player.seek(player.now().saturating_sub(SEEK_STEP));
        }
        Key::Up | Key::Down => {
            let step = if key == Key::Up { RATE_STEP } else { 1.0 / RATE_STEP };
            player.set_rate(player.rate() * step);
            notices::note(format!("rate {:.2}", player.rate()));
        }
    }
}
