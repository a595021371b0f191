//! `feros bag play`: publishes the messages of a bag as they were recorded.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use feros::{Arguments, Context, ContextOptions, Executor, NodeOptions, Outcome};
use feros_bag::player::MessageOrder;
use feros_bag::{Player, PlayerOptions};

use super::accepted::LogLevel;
use super::keys::{Key, Keys};
use super::missing::warn_of_missing;
use super::selection_args::SelectionArgs;
use super::storage_args::{INPUT, Input, InputArgs, StorageArgs};
use crate::error::CliError;
use crate::value_parsers::parse_seconds;
use crate::{ending, notices, output};

/// How often to check for keys and for the end of playing.
const PERIOD: Duration = Duration::from_millis(20);
/// The factor by which the keys for faster and slower change the rate.
const RATE_STEP: f64 = 1.1;
/// How far the key for going back jumps, in nanoseconds of the bag.
const SEEK_STEP: i64 = 5_000_000_000;

/// Publish the messages of a bag as they were recorded
#[derive(clap::Args)]
#[command(
    after_help = "The node offers the same services as rosbag2: ~/pause, ~/resume, ~/toggle_paused, ~/is_paused, ~/get_rate, \
                  ~/set_rate, ~/play_next, ~/burst, ~/seek, ~/play and ~/stop. Keys: SPACE pauses and continues, RIGHT \
                  publishes the next message while paused, LEFT goes 5 s back, UP and DOWN play faster and \
                  slower.\n\nExamples:\n  feros bag play my_bag --clock\n  feros bag play my_bag -r 0.5 -l --topics /scan\n  \
                  feros bag play my_bag --start-offset 30 --playback-duration 5 -m /scan:=/scan_old"
)]
pub(crate) struct Args {
    /// Folder of the bag, or one of its files
    #[arg(value_name = "BAG", required_unless_present = INPUT, conflicts_with = INPUT)]
    bag: Option<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    storage: StorageArgs,
    /// Speed of playing, as a multiple of the recorded speed
    #[arg(short, long, value_name = "RATE", default_value_t = 1.0)]
    rate: f64,
    /// Start again at the end
    #[arg(short, long)]
    r#loop: bool,
    /// Begin this many seconds into the bag; earlier latched messages are published first
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = parse_seconds)]
    start_offset: Duration,
    /// Play this many seconds of the bag
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, allow_hyphen_values = true)]
    playback_duration: Option<Limit>,
    /// Play until this time of the bag, in seconds since 1970
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, allow_hyphen_values = true)]
    playback_until_sec: Option<Limit>,
    /// Play until this time of the bag, in nanoseconds since 1970
    #[arg(long, value_name = "NANOSECONDS", allow_hyphen_values = true)]
    playback_until_nsec: Option<i64>,
    /// Wait this long before each start of the bag
    #[arg(short, long, value_name = "SECONDS", default_value = "0", value_parser = parse_seconds)]
    delay: Duration,
    /// Publish /clock with the time of the bag, this many times a second
    #[arg(long, value_name = "HERTZ", num_args = 0..=1, default_missing_value = "40")]
    clock: Option<f64>,
    /// Publish topics under other names
    #[arg(short = 'm', long, value_name = "OLD:=NEW", num_args = 1..)]
    remap: Vec<String>,
    /// A YAML file with QoS policies by topic, which replace the recorded ones
    #[arg(long, value_name = "FILE")]
    qos_profile_overrides_path: Option<PathBuf>,
    /// Play messages by the time of their receipt, or of their sending, which MCAP files record;
    /// for the latter, the bag is scanned first
    #[arg(long, value_name = "ORDER", default_value = "received")]
    message_order: Order,
    /// Begin in the paused state
    #[arg(short = 'p', long)]
    start_paused: bool,
    /// Wait at most this long for each topic to have a subscription before playing begins
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "31536000", value_parser = parse_seconds)]
    wait_for_subscriptions: Option<Duration>,
    /// At the end, wait at most this long for reliable subscriptions to have all messages; 0 waits
    /// forever
    #[arg(long, value_name = "MILLISECONDS")]
    wait_for_all_acked: Option<u64>,
    /// Ignore the keyboard
    #[arg(long)]
    disable_keyboard_controls: bool,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    accepted: Accepted,
}

/// Options of `ros2 bag play` that are accepted without effect.
#[derive(clap::Args)]
struct Accepted {
    /// Accepted for command lines written for `ros2`: 64 MiB are read ahead
    #[arg(long, value_name = "N", hide = true)]
    read_ahead_queue_size: Option<u64>,
    /// Accepted for command lines written for `ros2`: messages are never loaned
    #[arg(long, hide = true)]
    disable_loan_message: bool,
    /// Accepted for command lines written for `ros2`: there is no progress bar
    #[arg(long, value_name = "HERTZ", hide = true, allow_negative_numbers = true)]
    progress_bar_update_rate: Option<i64>,
    /// Accepted for command lines written for `ros2`: there is no progress bar
    #[arg(long, value_name = "N", hide = true)]
    progress_bar_separation_lines: Option<u64>,
    /// Accepted for command lines written for `ros2`
    #[arg(long, value_name = "LEVEL", hide = true)]
    log_level: Option<LogLevel>,
}

/// The orders of messages, as `ros2` names them.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    /// As they were received
    Received,
    /// As they were sent
    Sent,
}

/// A limit for playing; a negative number means no limit, as in `ros2`.
#[derive(Clone, Copy, Debug)]
struct Limit(Option<Duration>);

fn parse_limit(text: &str) -> Result<Limit, String> {
    let wrong = || "expected a number of seconds".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if seconds < 0.0 {
        return Ok(Limit(None));
    }
    // `parse_seconds` allows no more than a year, which a time since 1970 exceeds.
    Duration::try_from_secs_f64(seconds).map(|duration| Limit(Some(duration))).map_err(|_| wrong())
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    if !(args.rate.is_finite() && args.rate > 0.0) {
        return Err(CliError::usage(format!("--rate {}: give a number above 0", args.rate)));
    }
    // The flag also ends the opening of the bag: scanning a file may take long.
    let (is_ending, _listening) = ending::flag(|| {});
    let options = options(args)?;
    let bags = super::open_all(&inputs(args)?, &is_ending.into())?;
    let names: Vec<String> = bags.iter().map(|bag| bag.path().display().to_string()).collect();
    warn_of_missing(&bags, &options.selection, options.qos_overrides.keys());
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
    output::print_lines([format!("{}: {} messages played", names.join(", "), played.messages)])
}

/// The bags to play. `--storage` holds for each bag without a storage of its own.
fn inputs(args: &Args) -> Result<Vec<Input>, CliError> {
    let alone = args.bag.iter().map(|bag| Input { bag: bag.clone(), storage: None });
    let mut inputs: Vec<Input> = alone.chain(args.input.bags()?).collect();
    for input in &mut inputs {
        input.storage = input.storage.or(args.storage.named());
    }
    Ok(inputs)
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
                notices::note("RIGHT plays the next message only while paused: press SPACE first");
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
