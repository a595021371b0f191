//! `feros ros1 bridge`: topics, services and actions between a master of ROS 1 and ROS 2.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use feros::Executor;
use feros_ros1::{Catalog, DEFAULT_MASTER, Master, MasterError, Rules, Value};
use feros_ros1_bridge::{Bridge, BridgeOptions, Bridged, Counts, Selection};

use crate::commands::bridge::selection;
use crate::connection::Connection;
use crate::ending;
use crate::error::CliError;
use crate::notices::{note, warn};
use crate::output;
use crate::types::{InterfaceArgs, Types};
use crate::value_parsers::{parse_count, parse_seconds};

/// The limit on names of one kind that are printed after one check of the graphs.
const MOST_NAMED: usize = 256;

/// The longest time between two checks of the graphs.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Bridge topics, services and actions between a ROS 1 master and ROS 2, until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros ros1 bridge\n  feros ros1 bridge --topics /scan,/tf,/camera/* --services ''\n\
                  Environment: ROS_MASTER_URI, ROS_HOSTNAME, ROS_IP, ROS_PACKAGE_PATH (definitions of ROS 1)."
)]
pub(crate) struct Args {
    /// The ROS 1 master
    #[arg(long, value_name = "URI", env = "ROS_MASTER_URI", default_value = DEFAULT_MASTER)]
    master: String,
    /// The name of the bridge in both systems
    #[arg(long, value_name = "NAME", default_value = "feros_ros1_bridge")]
    name: String,
    /// Bridge only these topics; a `*` at the end of a name matches any text
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    topics: Option<Vec<String>>,
    /// Bridge only these services; with an empty list, no services
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 0..)]
    services: Option<Vec<String>>,
    /// Bridge only these actions; with an empty list, no actions
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 0..)]
    actions: Option<Vec<String>>,
    /// Bridge all topics of both sides, even without a subscription on the other side
    #[arg(long)]
    bridge_all_topics: bool,
    /// Bridge all topics of ROS 1 to ROS 2, even without a subscription there
    #[arg(long)]
    bridge_all_1to2_topics: bool,
    /// Bridge all topics of ROS 2 to ROS 1, even without a subscription there
    #[arg(long)]
    bridge_all_2to1_topics: bool,
    /// Bridge the topics and services that parameters of ROS 1 list, as ros1_bridge's
    /// parameter_bridge does: /topics, /services_1_to_2 and /services_2_to_1
    #[arg(long, conflicts_with_all = ["topics", "services", "actions"])]
    from_parameters: bool,
    /// A file with mapping rules, in the format of ros1_bridge; may be repeated
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// The limit on messages that wait in a queue
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_count)]
    queue: usize,
    /// Print the numbers of bridged messages and calls at this interval
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    status: Option<Duration>,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    ending::in_peace();
    let types = Types::load(interfaces)?;
    types.warn_of_faults();
    let mut rules = Rules::default();
    for path in &args.rules {
        rules.add_file(path).map_err(CliError::usage)?;
    }
    let path = std::env::var_os("ROS_PACKAGE_PATH").unwrap_or_default();
    let catalog = Catalog::with_package_path(&path);
    let mut options = options(args)?;
    let connection = Connection::open_as(Some(&args.name), false)?;
    let ros1 = feros_ros1::Node::new(&format!("/{}", args.name), &args.master);
    let ros1 = ros1.map_err(CliError::usage)?;
    if args.from_parameters {
        let master = ros1.master();
        options.topics = listed(master, &["/topics"], "topic")?;
        options.actions = Selection::none();
        options.services = listed(master, &["/services_1_to_2", "/services_2_to_1"], "service")?;
    }
    note(format!("bridging the ROS 1 master at {} and ROS 2; Ctrl-C ends the bridge", args.master));
    let executor = Executor::new();
    executor.add_node(&connection.node)?;
    let stopper = executor.stopper();
    let bridge =
        Bridge::new(ros1, connection.node.clone(), (types.set().clone(), catalog, rules), options);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("feros-ros1".to_owned());
        let spinning = thread.spawn_scoped(scope, || executor.spin());
        let spinning = spinning.map_err(|error| {
            CliError::failed(format!("failed to start a thread for ROS 2: {error}"))
        })?;
        let ended = watch(bridge, &connection, args.status);
        stopper.stop();
        let _ = spinning.join();
        ended
    })
}

/// The names in parameters that hold lists; a list that is not set is empty.
fn listed(master: &Master, lists: &[&str], key: &str) -> Result<Selection, CliError> {
    let mut names = Vec::new();
    for list in lists {
        let found = match master.parameter(list) {
            Ok(found) => found,
            Err(MasterError::Refused { .. }) => continue,
            Err(error) => return Err(CliError::failed(error)),
        };
        for entry in found.as_list() {
            let name = entry.member(key).and_then(Value::as_text).ok_or_else(|| {
                CliError::failed(format!("an entry of the ROS 1 parameter {list} has no `{key}`"))
            })?;
            names.push(format!("/{}", name.trim_start_matches('/')));
        }
    }
    Selection::of(&names).map_err(CliError::failed)
}

fn options(args: &Args) -> Result<BridgeOptions, CliError> {
    Ok(BridgeOptions {
        topics: selection(args.topics.as_deref())?,
        services: selection(args.services.as_deref())?,
        actions: selection(args.actions.as_deref())?,
        all_of_ros1: args.bridge_all_topics || args.bridge_all_1to2_topics,
        all_of_ros2: args.bridge_all_topics || args.bridge_all_2to1_topics,
        queue_len: args.queue,
    })
}

/// Follows both graphs until the user interrupts, and prints their changes.
fn watch(
    mut bridge: Bridge,
    connection: &Connection,
    status: Option<Duration>,
) -> Result<(), CliError> {
    let mut known = Bridged::default();
    let mut last = (Instant::now(), bridge.counts());
    loop {
        bridge.update(&|| !connection.context.is_ok()).map_err(CliError::failed)?;
        let now = bridge.bridged();
        say_changes(&known, &now)?;
        known = now;
        if status.is_some_and(|period| last.0.elapsed() >= period) {
            let counts = bridge.counts();
            output::print(&format!("{}\n", text_of(&counts, Some(&last.1))))?;
            last = (Instant::now(), counts);
        }
        let generation = connection.context.graph().generation;
        match connection.wait_until(LOOK_EVERY, |graph| graph.generation != generation) {
            Ok(_) => {}
            Err(CliError::Interrupted) => break,
            Err(error) => return Err(error),
        }
    }
    let counts = bridge.counts();
    drop(bridge);
    output::print(&format!("{}\n", text_of(&counts, None)))?;
    if counts.losses() > 0 {
        warn(format!("{} messages or calls did not arrive", counts.losses()));
    }
    Ok(())
}

fn say_changes(before: &Bridged, now: &Bridged) -> Result<(), CliError> {
    type Names = fn(&Bridged) -> &BTreeSet<String>;
    let kinds: [(&str, &str, Names); 6] = [
        ("topic", "from ROS 1 to ROS 2", |all| &all.to_ros2),
        ("topic", "from ROS 2 to ROS 1", |all| &all.to_ros1),
        ("service", "of ROS 1, for ROS 2", |all| &all.services_of_ros1),
        ("service", "of ROS 2, for ROS 1", |all| &all.services_of_ros2),
        ("action", "of ROS 1, for ROS 2", |all| &all.actions_of_ros1),
        ("action", "of ROS 2, for ROS 1", |all| &all.actions_of_ros2),
    ];
    for (kind, way, names) in kinds {
        let (before, now) = (names(before), names(now));
        output::print(&difference("bridged", (kind, way), now.difference(before)))?;
        output::print(&difference("no longer bridged", (kind, way), before.difference(now)))?;
    }
    Ok(())
}

/// Lines for the names that are bridged now, or no longer. If there are very many names, which a
/// remote node may have made up, only the number of the remaining ones is printed.
fn difference<'a>(
    what: &str,
    (kind, way): (&str, &str),
    names: impl Iterator<Item = &'a String>,
) -> String {
    let names: Vec<&String> = names.collect();
    let said = names.iter().take(MOST_NAMED);
    let line = |name: &&String| format!("{what}: {kind} {} {way}\n", output::foreign(name));
    let mut lines: String = said.map(line).collect();
    if let Some(more) = names.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        lines.push_str(&format!("{what}: {more} more {kind}s {way}\n"));
    }
    lines
}

/// The counts of the bridge, in total or since an earlier time.
fn text_of(counts: &Counts, before: Option<&Counts>) -> String {
    let before = before.copied().unwrap_or_default();
    format!(
        "to ROS 2: {}, to ROS 1: {}, calls: {}; malformed: {}, lost in ROS 2: {}, dropped for ROS 1: {}, failed: {}",
        counts.to_ros2 - before.to_ros2,
        counts.to_ros1 - before.to_ros1,
        counts.calls - before.calls,
        counts.malformed - before.malformed,
        counts.lost_in_ros2 - before.lost_in_ros2,
        counts.dropped_for_ros1.saturating_sub(before.dropped_for_ros1),
        counts.failed - before.failed,
    )
}
