//! `feros bridge`: topics and services between engines, or between domains.

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::engine::{DiscoveryForm, NamePrefix, NodeName, Selection, Session, SessionOptions};
use feros_engine::engine::known::{self, Wire};
use feros_engine_bridge::{Bridge, BridgeOptions, Bridged, Counts};
use feros_sync::{AtomicBool, Ordering};

use crate::ending;
use crate::error::CliError;
use crate::notices::{note, warn};
use crate::output;
use crate::value_parsers::{parse_count, parse_seconds};

/// The longest time between two checks of the graph.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// All changes within this time, as when a robot starts, are handled by one check of the graph.
const REST: Duration = Duration::from_millis(20);

/// Bridge topics, services and actions between engines or domains, until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros bridge --engines cyclonedds,zenoh\n  feros bridge --domains 1,2 --topics \
                  /tf,/tf_static,/scan --services ''\n  feros bridge --engines cyclonedds,zenoh --topics \
                  '/navigate/*' --services '/navigate/*'   # an action\n  feros bridge --domains 1,2 --distros \
                  humble,kilted\n  feros bridge --prefix /robot1   # join a fleet\nEnvironment: ROS_DOMAIN_ID, FEROS_ROS_DISTRO, and the variables of the engines."
)]
pub(crate) struct Args {
    /// The engine of each side; a single engine serves all sides
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = feros::ENGINE_NAMES)]
    engines: Vec<String>,
    /// The domain of each side, instead of ROS_DOMAIN_ID; a single domain serves all sides
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=232))]
    domains: Vec<u32>,
    /// The distribution of ROS 2 on each side, instead of FEROS_ROS_DISTRO; a single distribution
    /// serves all sides
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = DiscoveryForm::DISTRIBUTIONS)]
    distros: Vec<String>,
    /// Put this namespace before all names on one side, so that the robots of a fleet share a
    /// network: `/scan` is `/robot1/scan` there. It is the side on Zenoh, or the last side if not
    /// exactly one side is on Zenoh. The default sides are then `--engines cyclonedds,zenoh`
    #[arg(long, value_name = "NAMESPACE", value_parser = NamePrefix::new)]
    prefix: Option<NamePrefix>,
    /// Bridge only these topics; a `*` at the end of a name matches any text, and '' means no topic
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 0..)]
    topics: Option<Vec<String>>,
    /// Bridge only these services; a `*` at the end of a name matches any text, and '' means no
    /// service
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 0..)]
    services: Option<Vec<String>>,
    /// Bridge all topics to all sides, even those without a subscription
    #[arg(long)]
    all_topics: bool,
    /// The name of the bridge's node
    #[arg(long, value_name = "NAME", default_value = "feros_bridge")]
    name: String,
    /// The limit on messages of a topic that wait for the bridge
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_count)]
    queue: usize,
    /// Print the numbers of bridged messages and calls at this interval
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    status: Option<Duration>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let environment =
        SessionOptions::from_variables(|name| std::env::var_os(name)).map_err(CliError::usage)?;
    let sides = sides(args, environment.domain_id)?;
    let prefixes = args.prefix.iter().map(|prefix| (prefixed_side(&sides), prefix.clone()));
    let options = BridgeOptions {
        node: NodeName::new("/", &args.name).map_err(CliError::usage)?,
        topics: selection(args.topics.as_deref())?,
        services: selection(args.services.as_deref())?,
        prefixes: prefixes.collect(),
        all_topics: args.all_topics,
        queue_len: args.queue,
        ..BridgeOptions::default()
    };
    let names: Vec<String> = sides.iter().map(ToString::to_string).collect();
    let mut sessions = Vec::new();
    for (index, (side, name)) in sides.iter().zip(&names).enumerate() {
        let mut environment = environment.clone();
        let distro = args.distros.get(at(index, args.distros.len()));
        if let Some(form) = distro.and_then(|name| DiscoveryForm::of_distribution(name)) {
            environment.discovery_form = form;
        }
        environment.graph_below = options.prefixes.get(&index).cloned();
        sessions.push((name.clone(), side.open(&environment)?));
    }
    let described: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(index, name)| match options.prefixes.get(&index) {
            Some(prefix) => format!("{name} (names below {prefix})"),
            None => name.clone(),
        })
        .collect();
    let bridge = Bridge::new(sessions, options).map_err(CliError::failed)?;
    let waker = bridge.waker();
    let (is_ending, _listening) = ending::flag(move || waker.wake());
    note(format!("bridging {}; Ctrl-C ends the bridge", described.join(" and ")));
    watch(bridge, &names, &is_ending, args.status)
}

/// One side of the bridge: an engine in a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SideArgs {
    engine: Option<String>,
    domain_id: u32,
    shows_domain: bool,
}

impl SideArgs {
    fn engine_name(&self) -> &str {
        self.engine.as_deref().unwrap_or_default()
    }

    /// The protocol by which the nodes of both sides discover each other without a bridge, if they
    /// do.
    fn shared_wire(&self, other: &Self) -> Option<Wire> {
        let wire = |side: &Self| known::by_name(side.engine_name()).map(|engine| engine.wire);
        wire(self).filter(|own| self.domain_id == other.domain_id && wire(other) == Some(*own))
    }

    fn open(&self, environment: &SessionOptions) -> Result<Arc<dyn Session>, CliError> {
        let engine = match &self.engine {
            Some(name) => feros::engine(name),
            None => feros::chosen_engine(),
        };
        let options = SessionOptions { domain_id: self.domain_id, ..environment.clone() };
        let engine = engine.map_err(CliError::failed)?;
        refuse_no_side(engine.name())?; // FEROS_ENGINE may name it
        engine.open(&options).map_err(CliError::failed)
    }
}

/// Refuses an engine that announces nothing to other processes: two bridges on such an engine would
/// not recognize each other.
fn refuse_no_side(engine: &str) -> Result<(), CliError> {
    if known::by_name(engine).is_none_or(|engine| engine.announces) {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{engine} cannot be a side of this bridge: it announces nothing to other processes, so messages would arrive \
         twice if a second bridge runs. `feros ros1 bridge` joins a ROS 1 master and ROS 2"
    )))
}

impl std::fmt::Display for SideArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.engine, self.shows_domain) {
            (Some(engine), false) => f.write_str(engine),
            (Some(engine), true) => write!(f, "{engine} in domain {}", self.domain_id),
            (None, _) => write!(f, "domain {}", self.domain_id),
        }
    }
}

/// The engines of the sides, if the line names any. A bridge with a prefix joins a robot on DDS to
/// a fleet on Zenoh, unless the line names other sides.
fn engines(args: &Args) -> Vec<String> {
    let is_joining = args.prefix.is_some() && args.domains.len() < 2;
    if args.engines.is_empty() && is_joining {
        return known::example_pair().split(',').map(str::to_owned).collect();
    }
    args.engines.clone()
}

/// The side whose names have the prefix: the only side on Zenoh, or else the last side.
fn prefixed_side(sides: &[SideArgs]) -> usize {
    let is_on_zenoh = |side: &&SideArgs| {
        known::by_name(side.engine_name()).is_some_and(|engine| engine.wire == Wire::Zenoh)
    };
    let last = sides.len() - 1;
    let only = sides.iter().filter(is_on_zenoh).count() == 1;
    sides.iter().position(|side| only && is_on_zenoh(&side)).unwrap_or(last)
}

/// The place of a side's entry in a list with this many entries: a single entry is for all sides.
fn at(side: usize, given: usize) -> usize {
    if given == 1 { 0 } else { side }
}

/// Makes as many sides as the longer list has entries; a single entry applies to all sides.
fn sides(args: &Args, domain_id: u32) -> Result<Vec<SideArgs>, CliError> {
    let engines = engines(args);
    let count = engines.len().max(args.domains.len());
    for (option, given) in [
        ("--engines", engines.len()),
        ("--domains", args.domains.len()),
        ("--distros", args.distros.len()),
    ] {
        if given > 1 && given != count {
            return Err(CliError::usage(format!(
                "{option} has {given} entries for {count} sides; give one entry for each side, or \
                 a single entry for all sides"
            )));
        }
    }
    if count < 2 {
        return Err(CliError::usage(format!(
            "name at least two sides, such as `--engines {}` or `--domains 1,2`",
            known::example_pair()
        )));
    }
    let side = |side: usize| SideArgs {
        engine: engines.get(at(side, engines.len())).cloned(),
        domain_id: *args.domains.get(at(side, args.domains.len())).unwrap_or(&domain_id),
        shows_domain: !args.domains.is_empty(),
    };
    let sides: Vec<SideArgs> = (0..count).map(side).collect();
    engines.iter().try_for_each(|engine| refuse_no_side(engine))?;
    for (index, side) in sides.iter().enumerate() {
        if sides[..index].contains(side) {
            return Err(CliError::usage(format!(
                "two sides are the same ({side}), so there is nothing to bridge between them"
            )));
        }
        let shared =
            |other: &SideArgs| Some((other.engine_name().to_owned(), other.shared_wire(side)?));
        if let Some((other, wire)) = sides[..index].iter().find_map(shared) {
            return Err(CliError::usage(format!(
                "{other} and {} both speak {wire}, and their nodes meet in domain {} without a bridge; give each side \
                 its own domain, such as `--domains 1,2`",
                side.engine_name(),
                side.domain_id
            )));
        }
    }
    Ok(sides)
}

/// The names that an option gives; all names without the option.
pub(super) fn selection(names: Option<&[String]>) -> Result<Selection, CliError> {
    let Some(names) = names else { return Ok(Selection::all()) };
    let names: Vec<String> = names.iter().filter(|name| !name.is_empty()).cloned().collect();
    Selection::of(&names).map_err(CliError::usage)
}

/// Follows the graph until the user interrupts, and prints its changes.
fn watch(
    mut bridge: Bridge,
    sides: &[String],
    is_ending: &AtomicBool,
    status: Option<Duration>,
) -> Result<(), CliError> {
    let mut known = Vec::new();
    let mut printed = Instant::now();
    while !is_ending.load(Ordering::Acquire) {
        bridge.update();
        let now = bridge.bridged();
        say_changes(&bridge, (&known, &now), sides)?;
        known = now;
        if status.is_some_and(|period| printed.elapsed() >= period) {
            say_counts(&bridge.counts(), sides)?;
            printed = Instant::now();
        }
        bridge.wait_for_change(status.unwrap_or(LOOK_EVERY).min(LOOK_EVERY));
        std::thread::sleep(REST);
    }
    let counts = bridge.finish();
    say_counts(&counts, sides)?;
    let missing: u64 = counts.values().map(|counts| counts.lost + counts.failed).sum();
    if missing > 0 {
        warn(format!("{missing} messages or calls did not arrive"));
    }
    Ok(())
}

fn say_changes(
    bridge: &Bridge,
    (before, now): (&[Bridged], &[Bridged]),
    sides: &[String],
) -> Result<(), CliError> {
    let text = |one: &Bridged| {
        let kind = if one.is_service { "service" } else { "topic" };
        let [name, there] = [one.from, one.to].map(|side| bridge.name_on(side, &one.name));
        let there = if there == name { String::new() } else { format!(" as {there}") };
        let (ty, [from, to]) = (&one.type_name, [one.from, one.to].map(|side| &sides[side]));
        format!("{kind} {name} ({ty}) from {from} to {to}{there}")
    };
    for one in now.iter().filter(|one| !before.contains(one)) {
        output::print_lines([format!("bridged: {}", text(one))])?;
    }
    for one in before.iter().filter(|one| !now.contains(one)) {
        output::print_lines([format!("no longer bridged: {}", text(one))])?;
    }
    Ok(())
}

type AllCounts = std::collections::BTreeMap<(usize, usize), Counts>;

fn say_counts(counts: &AllCounts, sides: &[String]) -> Result<(), CliError> {
    if counts.is_empty() {
        return output::print("nothing went over the bridge\n");
    }
    for ((from, to), Counts { messages, calls, lost, failed }) in counts {
        output::print(&format!(
            "from {} to {}: {messages} messages, {calls} calls; lost before: {lost}, failed: {failed}\n",
            sides[*from], sides[*to]
        ))?;
    }
    Ok(())
}
