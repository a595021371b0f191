//! `feros topic pub`: publishes a message once, several times, or at a rate.

use std::sync::Arc;
use std::time::Duration;

use feros::{Clock, GenericPublisher, QosProfile, Reliability};
use feros_message::dynamic::{DynamicMessage, DynamicType, PrintOptions, StampFields};
use feros_sync::Mutex;
use feros_wording::duration;

use super::watch::{self, End};
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::qos_args::QosArgs;
use crate::types::described;
use crate::types::values;
use crate::types::values::ValuesArgs;
use crate::types::{InterfaceArgs, Types, identity_of};
use crate::value_parsers::{parse_count, parse_seconds};
use crate::{notices, output};

/// The longest wait for subscriptions to confirm the last messages.
const CONFIRMATION: Duration = Duration::from_secs(2);

/// Publish a message
#[derive(clap::Args)]
#[command(mut_arg("use_sim_time", |arg| arg.hide(false).help("Stamp with the simulated time of /clock")))]
#[command(
    after_help = "Write `auto` for a std_msgs/Header, or `now` for a builtin_interfaces/Time, to insert the \
                        time of publication.\n\nExamples:\n  feros topic pub /chatter std_msgs/msg/String \
                        '{data: hello}' -r 10\n  \
                        feros topic pub /goal geometry_msgs/msg/PoseStamped '{header: auto, pose: {position: {x: 1}}}' \
                        --once\n  feros interface proto geometry_msgs/msg/Twist | feros topic pub /cmd_vel \
                        geometry_msgs/msg/Twist --stdin\n  feros topic echo /cmd_vel > driven.yaml; feros topic pub /cmd_vel \
                        geometry_msgs/msg/Twist --yaml-file driven.yaml"
)]
pub(crate) struct Args {
    /// Name of the topic
    topic: String,
    /// Type of the message, as package/msg/Name
    #[arg(value_name = "TYPE")]
    message_type: String,
    #[command(flatten)]
    values: ValuesArgs,
    /// Messages per second
    #[arg(short, long, value_name = "HZ", default_value = "1", value_parser = rate)]
    rate: f64,
    /// Publish one message and end
    #[arg(short = '1', long, conflicts_with = "times")]
    once: bool,
    /// Publish this many messages and end
    #[arg(short, long, value_name = "N", value_parser = parse_count)]
    times: Option<usize>,
    /// Wait until this many subscriptions match; 1 with --once and --times, otherwise 0
    #[arg(short, long, value_name = "N")]
    wait_matching_subscriptions: Option<usize>,
    /// Wait at most this long for subscriptions, and then fail
    #[arg(long, alias = "max-wait-time", value_name = "SECONDS", value_parser = parse_seconds)]
    max_wait_time_secs: Option<Duration>,
    /// Stay this long after the last message, so that late subscriptions can get it
    #[arg(long, value_name = "SECONDS", default_value = "0.1", value_parser = parse_seconds)]
    keep_alive: Duration,
    /// Print every Nth published message; 0 prints none
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    print: usize,
    /// Name of the publishing node
    #[arg(short, long, value_name = "NAME")]
    node_name: Option<String>,
    #[command(flatten)]
    discovery: DiscoveryArgs,
    #[command(flatten)]
    qos: QosArgs,
}

impl Args {
    /// The number of messages that ends the command; without a limit, Ctrl-C does.
    fn wanted(&self) -> Option<usize> {
        if self.once { Some(1) } else { self.times }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (1e-6..=1e6).contains(&rate) => Ok(rate),
        _ => Err("expected messages per second, from 0.000001 to 1000000".to_owned()),
    }
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    types.check_name(&args.message_type)?;
    // The arguments are checked before the network is used, as far as the type is known.
    let known = types.message(&args.message_type).ok();
    let read = |ty: DynamicType| Messages::read(&ty, args).map(|messages| (ty, messages));
    let known = known.map(read).transpose()?;
    let use_sim_time = args.discovery.use_sim_time;
    let connection = Connection::open_as(args.node_name.as_deref(), use_sim_time)?;
    let topic = connection.topic_name(&args.topic)?;
    let (ty, messages) = match known {
        Some(known) => known,
        None => {
            let name = &args.message_type;
            connection.discover(&DiscoveryArgs::default())?;
            read(described::message_of_topic(&connection, &types, &topic, name, None)?)?
        }
    };
    let expected =
        args.wait_matching_subscriptions.unwrap_or_else(|| usize::from(messages.wanted.is_some()));
    if expected == 0 && args.max_wait_time_secs.is_some() {
        return Err(CliError::usage(
            "--max-wait-time-secs limits the wait for subscriptions, but the command does not wait: set the number \
             with --wait-matching-subscriptions, or use --once or --times",
        ));
    }
    let qos = args.qos.over(QosProfile::default());
    let publisher = connection.node.create_generic_publisher(&topic, &identity_of(&ty), qos)?;
    let clock = use_sim_time.then(|| connection.node.clock().clone());
    let feed = Feed::new(publisher.clone(), messages, clock, args.print);
    let feed = Arc::new(Mutex::new(feed));
    if !wait_for_subscriptions(&connection, &publisher, expected, args)? {
        return Err(CliError::Interrupted);
    }
    output::print("publisher: beginning loop\n")?;
    feed.lock().publish();
    let timer = connection.node.create_wall_timer(Duration::from_secs_f64(1.0 / args.rate), {
        let feed = feed.clone();
        move || feed.lock().publish()
    })?;
    let end = watch::spin(&connection.node, None, || feed.lock().is_over())?;
    drop(timer);
    if let Some(failure) = feed.lock().failure.take() {
        return Err(failure);
    }
    if end == End::Done {
        let reliable = publisher.qos().reliability == Reliability::Reliable;
        if reliable && publisher.wait_for_all_acked(CONFIRMATION).is_err() {
            notices::warn(
                "not all subscriptions acknowledged the messages in time: they may miss some of \
                 them",
            );
        }
        watch::spin(&connection.node, Some(args.keep_alive), || false)?;
    }
    Ok(())
}

/// Waits until enough subscriptions match; returns false if the user interrupted.
fn wait_for_subscriptions(
    connection: &Connection,
    publisher: &GenericPublisher,
    wanted: usize,
    args: &Args,
) -> Result<bool, CliError> {
    if wanted == 0 {
        return Ok(true);
    }
    let are_there = || publisher.subscription_count() >= wanted;
    // Discovery takes a moment: a wait this short needs no note.
    let soon = Duration::from_millis(500).min(args.max_wait_time_secs.unwrap_or(Duration::MAX));
    let mut end = watch::spin(&connection.node, Some(soon), are_there)?;
    if end == End::TimedOut {
        notices::note(format!("Waiting for at least {wanted} matching subscription(s)..."));
        let left = args.max_wait_time_secs.map(|time| time.saturating_sub(soon));
        end = watch::spin(&connection.node, left, are_there)?;
    }
    match end {
        End::Done => {
            // Waits until the subscriptions can receive; a subscription that has left again misses
            // nothing.
            let _ = publisher.wait_for_subscriptions(wanted, Duration::ZERO);
            Ok(true)
        }
        End::Interrupted => Ok(false),
        End::TimedOut => {
            let topic = publisher.topic_name();
            let graph = connection.context.graph();
            let mismatches = graph.mismatches(topic);
            let why = mismatches.first().map_or_else(String::new, |found| format!("; {found}"));
            Err(CliError::failed(format!(
                "{topic} has {} matching subscriptions, fewer than {wanted}, after {}{why}",
                publisher.subscription_count(),
                duration(args.max_wait_time_secs.unwrap_or_default())
            )))
        }
    }
}

/// The messages to publish.
struct Messages {
    /// A single message that is repeated, or the messages of a file.
    list: Vec<(DynamicMessage, StampFields)>,
    wanted: Option<usize>,
}

impl Messages {
    fn read(ty: &DynamicType, args: &Args) -> Result<Self, CliError> {
        match args.values.file_messages(ty)? {
            Some(list) if list.is_empty() => {
                Err(CliError::usage("--yaml-file: the file holds no message"))
            }
            Some(list) => {
                let wanted = args.wanted().unwrap_or(list.len()).min(list.len());
                Ok(Self { list, wanted: Some(wanted) })
            }
            None => {
                let list = vec![values::read(ty, &args.values.text()?)?];
                Ok(Self { list, wanted: args.wanted() })
            }
        }
    }
}

/// Publishes one message repeatedly, or several messages in turn.
struct Feed {
    publisher: GenericPublisher,
    messages: Messages,
    /// The simulated time, if stamps use it.
    clock: Option<Clock>,
    /// The serialized message at this position.
    encoded: Option<(usize, Vec<u8>)>,
    published: usize,
    print_every: usize,
    has_told_of_clock: bool,
    failure: Option<CliError>,
}

impl Feed {
    fn new(
        publisher: GenericPublisher,
        messages: Messages,
        clock: Option<Clock>,
        print_every: usize,
    ) -> Self {
        Self {
            publisher,
            messages,
            clock,
            encoded: None,
            published: 0,
            print_every,
            has_told_of_clock: false,
            failure: None,
        }
    }

    fn is_over(&self) -> bool {
        self.failure.is_some()
            || self.messages.wanted.is_some_and(|wanted| self.published >= wanted)
    }

    fn publish(&mut self) {
        if !self.is_over() {
            self.failure = self.publish_next().err();
        }
    }

    fn publish_next(&mut self) -> Result<(), CliError> {
        let position = self.published % self.messages.list.len().max(1);
        let Some((message, stamps)) = self.messages.list.get_mut(position) else { return Ok(()) };
        let is_encoded = self.encoded.as_ref().is_some_and(|(known, _)| *known == position);
        if !is_encoded || !stamps.is_empty() {
            let simulated = self.clock.as_ref().map(|clock| clock.now().as_nanos());
            if simulated == Some(0) && !stamps.is_empty() && !self.has_told_of_clock {
                self.has_told_of_clock = true;
                notices::warn("no time has come on /clock: stamps are 0 until a time comes");
            }
            let now = simulated.map(values::stamp);
            let (sec, nanosec) = now.unwrap_or_else(values::now);
            stamps.set(message, sec, nanosec);
            self.encoded = Some((position, message.to_cdr().map_err(CliError::usage)?));
        }
        if let Some((_, bytes)) = &self.encoded {
            self.publisher.publish_serialized(bytes)?;
        }
        self.published += 1;
        if self.print_every > 0 && self.published.is_multiple_of(self.print_every) {
            let options = PrintOptions {
                flow_style: true,
                truncate_length: Some(128),
                ..PrintOptions::default()
            };
            let shown = message.to_yaml(&options);
            output::print(&format!("publishing #{}: {}\n", self.published, shown.trim_end()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn rates_are_checked() {
        assert_eq!(rate("0.5"), Ok(0.5));
        for bad in ["0", "-1", "inf", "nan", "x", "1e9"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }
}
