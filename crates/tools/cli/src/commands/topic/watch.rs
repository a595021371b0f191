//! The shared parts of all verbs that listen: finding the topic's type, and spinning until the end.

use std::time::{Duration, Instant};

use feros::{Executor, Node, Outcome, TypeIdentity};
use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, GraphSnapshot};

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::notices;

/// The error that a topic does not exist, with the topics of similar names.
pub(super) fn no_such_topic(graph: &GraphSnapshot, name: &str) -> CliError {
    let topics = graph.topics();
    let likely =
        did_you_mean(name, topics.keys().map(String::as_str).filter(|name| !is_hidden(name)));
    CliError::failed(format!(
        "there is no topic {name}: it has no publishers or subscriptions in this domain{likely}{}",
        if topics.is_empty() {
            "; there are no topics at all: `feros doctor` helps if that is unexpected"
        } else {
            ""
        }
    ))
}

/// Finds the type of a topic in the graph. Without `patience`, it waits until the topic exists, and
/// prints a warning that it waits.
pub(super) fn find_type(
    connection: &Connection,
    discovery: &DiscoveryArgs,
    topic: &str,
    patience: Option<Duration>,
) -> Result<TypeIdentity, CliError> {
    let is_there = |graph: &GraphSnapshot| graph.topics().contains_key(topic);
    if !is_there(&*connection.discover(discovery)?) {
        if patience.is_none() {
            let likely = no_such_topic(&connection.context.graph(), topic);
            notices::warn(format!("{likely}; waiting for it"));
        }
        let forever = Duration::from_secs(31_536_000);
        if !connection.wait_until(patience.unwrap_or(forever), is_there)? {
            return Err(no_such_topic(&connection.context.graph(), topic));
        }
        // The endpoint that made the topic appear is announced together with others: after a short
        // wait, the QoS can be chosen to match all of them.
        connection.wait_until(Duration::from_millis(100), |_| false)?;
    }
    type_in(&connection.context.graph(), topic)
}

/// The type of a topic that is in the graph.
pub(in crate::commands) fn type_in(
    graph: &GraphSnapshot,
    topic: &str,
) -> Result<TypeIdentity, CliError> {
    let mut types = graph.topics().remove(topic).unwrap_or_default().into_iter();
    let (Some(name), None) = (types.next(), types.next()) else {
        let all: Vec<String> = graph.topics().remove(topic).into_iter().flatten().collect();
        return Err(CliError::failed(format!(
            "topic {topic} is used with several types, {}: name the right type after the topic; `feros topic info -v \
             {topic}` shows which node uses which type",
            all.join(" and ")
        )));
    };
    let mut hashes: Vec<_> = graph
        .endpoints_of(EndpointKind::Publisher, topic)
        .filter_map(|endpoint| endpoint.type_hash)
        .collect();
    hashes.dedup();
    // If publishers disagree, only the name of the type counts.
    let hash = if hashes.len() == 1 { hashes.pop() } else { None };
    Ok(TypeIdentity { name, hash })
}

/// The reason why watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum End {
    /// The awaited condition holds.
    Done,
    /// The time limit is over.
    TimedOut,
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// Runs a node's callbacks until `done` holds, time runs out or the user interrupts.
pub(in crate::commands) fn spin(
    node: &Node,
    timeout: Option<Duration>,
    done: impl FnMut() -> bool,
) -> Result<End, CliError> {
    let executor = Executor::new();
    executor.add_node(node)?;
    Ok(match executor.spin_until(timeout, done)? {
        Outcome::Completed(()) => End::Done,
        Outcome::TimedOut => End::TimedOut,
        Outcome::Stopped => End::Interrupted,
    })
}

/// Runs a node's callbacks, and calls `report` each second, until `report` fails or the user
/// interrupts.
pub(in crate::commands) fn report_each_second(
    node: &Node,
    mut report: impl FnMut() -> Result<(), CliError>,
) -> Result<(), CliError> {
    const PERIOD: Duration = Duration::from_secs(1);
    let executor = Executor::new();
    executor.add_node(node)?;
    let mut next = Instant::now();
    loop {
        next += PERIOD;
        let left = next.saturating_duration_since(Instant::now());
        match executor.spin_until(Some(left), || false)? {
            Outcome::TimedOut => report()?,
            Outcome::Completed(()) | Outcome::Stopped => return Ok(()),
        }
    }
}

/// The reason why no message came, as far as the graph shows it.
pub(super) fn why_silent(graph: &GraphSnapshot, topic: &str) -> String {
    let publishers = graph.count(EndpointKind::Publisher, topic);
    if publishers == 0 {
        return format!(
            "{topic} has no publishers; start a publisher, or see the names of \
             topics in `feros topic list`"
        );
    }
    match graph.mismatches(topic).first() {
        Some(mismatch) => mismatch.to_string(),
        None => {
            format!(
                "{topic} has publishers that match ({publishers}), but they have not sent a message"
            )
        }
    }
}
