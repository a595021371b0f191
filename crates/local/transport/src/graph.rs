//! The transports of matches between other processes, as far as the announcements of the endpoints
//! reveal them.

use feros_engine::{EndpointInfo, Gid, GraphSnapshot};
use feros_shm::{Announced, Reason, Transport, classify};

/// The transport that messages between two endpoints take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchTransport {
    /// The other endpoint.
    pub gid: Gid,
    /// The transport. `None` if no transport that both sides allow is possible, so that nothing is
    /// delivered.
    pub transport: Option<Transport>,
    /// Why the transport is not a shorter one; `None`: there is no shorter one.
    pub reason: Option<Reason>,
}

/// Whether both sides allow the network transport.
pub(crate) fn network_is_allowed(publisher: &Announced, subscription: &Announced) -> bool {
    let allows = |side: &Announced| {
        side.feros().is_none_or(|side| side.transports.contains(Transport::Network))
    };
    allows(publisher) && allows(subscription)
}

/// The transport between a publisher and a subscription, according to their announcements.
///
/// Only the endpoints themselves know whether shared memory is already in use
/// ([`Publisher::transports`](crate::Publisher::transports)), because it is set up during the first
/// messages.
#[derive(Debug, Clone, PartialEq)]
pub struct TransportBetween<'a> {
    /// The sender.
    pub publisher: &'a EndpointInfo,
    /// The receiver.
    pub subscription: &'a EndpointInfo,
    /// The transport. `None` if no transport that both sides allow is possible, so that nothing is
    /// delivered.
    pub transport: Option<Transport>,
    /// Why the transport is not a shorter one; `None`: there is no shorter one.
    pub reason: Option<Reason>,
}

/// The transport of each match of a topic, as any observer of the graph sees it.
///
/// ```no_run
/// # let graph: feros_engine::GraphSnapshot = unimplemented!();
/// for found in feros_transport::transports_of_topic(&graph, "/image") {
///     println!("{} -> {}: {:?}", found.publisher.gid, found.subscription.gid, found.transport);
/// }
/// ```
pub fn transports_of_topic<'a>(
    graph: &'a GraphSnapshot,
    topic: &'a str,
) -> Vec<TransportBetween<'a>> {
    let matches = graph.matches(topic).into_iter();
    matches.map(|(publisher, subscription)| between(publisher, subscription)).collect()
}

fn between<'a>(
    publisher: &'a EndpointInfo,
    subscription: &'a EndpointInfo,
) -> TransportBetween<'a> {
    let announced = |endpoint: &EndpointInfo| Announced::read(endpoint.announcement.as_deref());
    let choice = classify(&announced(publisher), &announced(subscription));
    let (transport, reason) = (choice.transport, choice.reason);
    TransportBetween { publisher, subscription, transport, reason }
}

/// The transport of requests and responses between each client and each server of a service, as any
/// observer of the graph sees it. In the result, the client is the `publisher` and the server is
/// the `subscription`.
///
/// As long as a client can reach one of its servers only over the network transport, its requests
/// take the network transport to all servers.
pub fn transports_of_service<'a>(
    graph: &'a GraphSnapshot,
    service: &'a str,
) -> Vec<TransportBetween<'a>> {
    let pairs = graph.calls(service).into_iter();
    pairs.map(|(client, server)| between(client, server)).collect()
}

/// Checks whether this process can share memory with other processes.
///
/// # Errors
/// The obstacle and its remedy.
pub fn check_shared_memory() -> Result<(), String> {
    feros_shm::ProcessSegment::of_this_process().map_err(|error| error.to_string())?;
    feros_shm::HostNode::shared().map_err(|error| error.to_string())?;
    Ok(())
}
