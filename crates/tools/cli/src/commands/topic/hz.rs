//! `feros topic hz`: measures how often messages arrive, without decoding them.
//!
//! The engine's arrival time counts, not the moment at which this program reads a message. The
//! publishers' own numbers show how many messages were lost on the way, so that a high rate or a
//! large image is not taken for a slow publisher.

mod arrivals;
mod report;

use std::sync::Arc;

use feros::{
    GenericSubscription, MessageInfo, Node, SerializedMessage, SubscriptionOptions, TypeIdentity,
};
use feros_engine::FailureCounter;
use feros_engine::name::is_hidden;
use feros_message::dynamic::DynamicType;
use feros_monitor::watching_qos;
use feros_sync::Mutex;

use self::arrivals::Arrivals;
use self::report::{Report, one_text, table};
use super::arrival::ArrivalClock;
use super::watch;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::filter::{Filter, parse_filter};
use crate::qos_args::QosArgs;
use crate::types::{InterfaceArgs, Types};
use crate::value_parsers::parse_count;
use crate::{notices, output};

/// Print how often messages arrive on topics, each second until Ctrl-C
#[derive(clap::Args)]
#[command(mut_arg("use_sim_time", |arg| arg.hide(false).help("Measure in the simulated time of /clock")))]
#[command(
    after_help = "The subscription is best effort and costs publishers no acknowledgements. Messages that it misses \
                        are counted as lost.\n\nExamples:\n  feros topic hz /scan\n  feros topic hz /imu -w 1000 --json\n  \
                        feros topic hz /scan /imu\n  feros topic hz --all\n  feros topic hz /rosout --filter 'm.level >= 30'"
)]
pub(crate) struct Args {
    /// Names of the topics; several are shown in a table
    #[arg(value_name = "TOPIC", required_unless_present = "all")]
    topics: Vec<String>,
    /// Measure all topics, including those that appear later
    #[arg(short, long, conflicts_with_all = ["topics", "filter"])]
    all: bool,
    /// Number of intervals to average over
    #[arg(short, long, value_name = "N", default_value_t = 10_000, value_parser = parse_count)]
    window: usize,
    /// Count only messages that satisfy an expression over the message m, such as m.level >= 30
    #[arg(long, value_name = "EXPRESSION", value_parser = parse_filter)]
    filter: Option<Arc<Filter>>,
    /// Measure in the time of this machine, even with --use-sim-time
    #[arg(long)]
    wall_time: bool,
    /// Print a JSON object for each topic each second; times in seconds
    #[arg(long)]
    json: bool,
    /// With --all, include hidden topics
    #[arg(long, hide = true)]
    include_hidden_topics: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
    #[command(flatten)]
    qos: QosArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let simulated = args.discovery.use_sim_time && !args.wall_time;
    let connection = Connection::open_as(None, simulated)?;
    let clock = ArrivalClock::new(&connection.node, simulated);
    // Only a filter decodes messages.
    let types = args.filter.as_ref().map(|_| Types::load(interfaces)).transpose()?;
    let mut watched = Vec::new();
    for name in &args.topics {
        let topic = connection.topic_name(name)?;
        let identity = watch::find_type(&connection, &args.discovery, &topic, None)?;
        let ty = types.as_ref().map(|types| types.message(&identity.name)).transpose()?;
        watched.push(Watched::new(&connection.node, args, &clock, topic, &identity, ty)?);
    }
    if args.all {
        connection.discover(&args.discovery)?;
        watch_new(&connection, args, &clock, &mut watched)?;
    }
    watch::report_each_second(&connection.node, || {
        report(args, &watched)?;
        if args.all { watch_new(&connection, args, &clock, &mut watched) } else { Ok(()) }
    })
}

/// Watches the topics that are not watched yet.
fn watch_new(
    connection: &Connection,
    args: &Args,
    clock: &ArrivalClock,
    watched: &mut Vec<Watched>,
) -> Result<(), CliError> {
    let graph = connection.context.graph();
    for (topic, types) in graph.topics() {
        let is_wanted = args.include_hidden_topics || !is_hidden(&topic);
        if !is_wanted || types.len() != 1 || watched.iter().any(|known| known.topic == topic) {
            continue;
        }
        let identity = watch::type_in(&graph, &topic)?;
        watched.push(Watched::new(&connection.node, args, clock, topic, &identity, None)?);
    }
    Ok(())
}

fn report(args: &Args, watched: &[Watched]) -> Result<(), CliError> {
    let wrong = watched.iter().find_map(|watched| watched.arrivals.lock().wrong_filter.take());
    if let Some(wrong) = wrong {
        return Err(CliError::usage(format!("--filter: {wrong}")));
    }
    let reports: Vec<(&str, Option<Report>)> = watched
        .iter()
        .map(|watched| (watched.topic.as_str(), watched.arrivals.lock().report()))
        .collect();
    if args.json {
        return reports
            .iter()
            .filter_map(|(topic, report)| Some(report.as_ref()?.object(topic)))
            .try_for_each(|object| output::print_json(&object));
    }
    match reports.as_slice() {
        [(_, report)] if !args.all => match report {
            Some(report) => output::print(&one_text(report)),
            None => output::print("no new messages\n"),
        },
        several => {
            let print = if args.all { output::print_anew } else { output::print };
            print(&table(several))
        }
    }
}

/// A topic that the command listens to, until this is dropped.
struct Watched {
    topic: String,
    arrivals: Arc<Mutex<Arrivals>>,
    _subscription: GenericSubscription,
}

impl Watched {
    fn new(
        node: &Node,
        args: &Args,
        clock: &ArrivalClock,
        topic: String,
        identity: &TypeIdentity,
        ty: Option<DynamicType>,
    ) -> Result<Self, CliError> {
        let arrivals = Arc::new(Mutex::new(Arrivals::new(args.window)));
        let qos = args.qos.over(watching_qos());
        let options = SubscriptionOptions::from(qos).log_lost_messages(false);
        let selection = args.filter.clone().zip(ty).map(Selection::new);
        let (clock, heard) = (clock.clone(), arrivals.clone());
        let subscription = node.create_generic_subscription(
            &topic,
            identity,
            options,
            move |message: SerializedMessage, info: MessageInfo| {
                let mut arrivals = heard.lock();
                arrivals.losses.came(&info);
                let is_meant = match selection.as_ref().map(|selection| selection.has(&message)) {
                    None => true,
                    Some(Ok(has)) => has,
                    Some(Err(wrong)) => {
                        arrivals.wrong_filter = Some(wrong);
                        false
                    }
                };
                if let (true, Some(now)) = (is_meant, clock.arrival(&info)) {
                    arrivals.arrived(now);
                }
            },
        )?;
        Ok(Self { topic, arrivals, _subscription: subscription })
    }
}

/// The messages that a filter accepts.
struct Selection {
    filter: Arc<Filter>,
    ty: DynamicType,
    refused: FailureCounter,
}

impl Selection {
    fn new((filter, ty): (Arc<Filter>, DynamicType)) -> Self {
        Self { filter, ty, refused: FailureCounter::new() }
    }

    /// Whether the filter accepts a message; malformed messages are counted, rarely reported, and
    /// never accepted.
    ///
    /// # Errors
    /// When the expression does not fit messages of this type.
    fn has(&self, message: &[u8]) -> Result<bool, String> {
        match self.ty.decode(message) {
            Ok(message) => self.filter.accepts(&Arc::new(message), None),
            Err(error) => {
                if let Some(refused) = self.refused.count() {
                    notices::warn(format!(
                        "{refused} messages have been refused so far; the last error: {error}"
                    ));
                }
                Ok(false)
            }
        }
    }
}
