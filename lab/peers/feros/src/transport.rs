//! The transport that messages take: restricts it before the run, waits for it, and verifies it
//! afterwards.

use std::collections::BTreeMap;

use feros::{Durability, MatchTransport, Publisher, Reason, Subscription, Transport, TransportSet};
use feros_lab_contract::{Arguments, Failure, Output, Placement};

use crate::Task;
use crate::payload::Carrier;

/// The transport under test, if there is only one. Within a process, it depends on the placement:
/// the network transport stands for the ordinary transport of an engine.
fn only(arguments: &Arguments) -> Option<Transport> {
    match (arguments.placement, arguments.extra("--transport")) {
        (Placement::Composed, _) | (_, "network") => Some(Transport::Network),
        (Placement::Intra, _) => Some(Transport::IntraProcess),
        (_, "shared_memory") => Some(Transport::SharedMemory),
        _ => None,
    }
}

/// The transports that a context may use, among the transports that its environment allows.
pub(crate) fn restricted(
    arguments: &Arguments,
    allowed: TransportSet,
) -> Result<TransportSet, Failure> {
    match only(arguments) {
        Some(wanted) if !allowed.contains(wanted) => {
            let text = format!("the environment does not allow the {wanted} transport");
            Err(text.into())
        }
        // Within a process, the intra-process transport is the shortest, so it suffices to check
        // afterwards that messages took it.
        None | Some(Transport::IntraProcess) => Ok(allowed),
        Some(wanted) => Ok(wanted.into()),
    }
}

/// Whether a shorter transport of this match is still being set up.
pub(crate) fn is_pending(found: &MatchTransport) -> bool {
    found.reason == Some(Reason::Pending)
}

/// Fails if a match takes another transport than the one under test, with the reason.
pub(crate) fn check_matches(
    arguments: &Arguments,
    matches: &[MatchTransport],
) -> Result<(), Failure> {
    let Some(wanted) = only(arguments) else { return Ok(()) };
    let Some(found) = matches.iter().find(|found| found.transport != Some(wanted)) else {
        return Ok(());
    };
    let reason = found.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    Err(format!("the {wanted} transport is not possible here{reason}").into())
}

/// Fails if a message took another transport than the one under test.
pub(crate) fn check_published<M: Carrier>(
    task: &Task<'_>,
    publisher: &Publisher<M>,
) -> Result<(), Failure> {
    let counts = publisher.counts();
    let others = match only(task.arguments) {
        None => 0,
        Some(Transport::Network) => counts.intra_process.messages + counts.shared_memory.messages,
        // The engine also writes messages if the QoS requires it; messages that the transport under
        // test delivered still count as having taken it.
        Some(_)
            if task.arguments.deadline.is_some()
                || task.qos.durability == Durability::TransientLocal =>
        {
            0
        }
        Some(Transport::SharedMemory) => counts.intra_process.messages + counts.network.messages,
        Some(Transport::IntraProcess) => counts.network.messages + counts.shared_memory.messages,
    };
    if others == 0 {
        return Ok(());
    }
    let text =
        format!("{others} messages took another transport than the one under test: {counts:?}");
    Err(text.into())
}

/// Reports how many messages came on each transport.
pub(crate) fn tell_received<M: Carrier>(output: &Output, subscriptions: &[&Subscription<M>]) {
    let mut received = BTreeMap::new();
    for counts in subscriptions.iter().map(|subscription| subscription.counts()) {
        for (name, messages) in [
            ("received_intra_process", counts.intra_process.messages),
            ("received_shared_memory", counts.shared_memory.messages),
            ("received_network", counts.network.messages),
        ] {
            *received.entry(name).or_insert(0.0) += messages as f64;
        }
    }
    output.values(&received);
}

/// Returns the transport of a match that has no shorter transport, with the reason.
pub(crate) fn reason<M: Carrier>(publisher: &Publisher<M>) -> Option<String> {
    publisher.transports().into_iter().find_map(|found| {
        let reason = found.reason?;
        let taken = found.transport.map_or("no", Transport::name);
        Some(format!("the {taken} transport: {reason}"))
    })
}

/// Reports how many messages an asynchronous publisher dropped because its queue was full.
pub(crate) fn tell_published<M: Carrier>(output: &Output, publisher: &Publisher<M>) {
    let dropped = publisher.dropped_messages() as f64;
    output.values(&BTreeMap::from([("dropped_by_publisher", dropped)]));
}
