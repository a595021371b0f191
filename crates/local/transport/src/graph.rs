//! The transports of matches between other processes, as far as they can be derived from the
//! announcements of the endpoints.

use feros_engine::{EndpointInfo, Gid, GraphSnapshot};
use feros_shm::{Announced, Reason, Transport, classify};

/// The transport that messages between two endpoints take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchTransport {
    /// The other endpoint.
    pub gid: Gid,
    /// The transport, or `None` if there is no possible transport that both sides allow. In that
    /// case, nothing is delivered.
    pub transport: Option<Transport>,
    /// The reason why a more direct transport is not used, or `None` if a more direct transport
    /// does not exist.
    pub reason: Option<Reason>,
}

/// Whether both sides allow the network transport.
pub(crate) fn network_is_allowed(publisher: &Announced, subscription: &Announced) -> bool {
    let allows = |side: &Announced| {
        side.feros().is_none_or(|side| side.transports.contains(Transport::Network))
    };
    allows(publisher) && allows(subscription)
}

/// The transport between a publisher and a subscription, as derived from their announcements.
///
/// Shared memory is set up during the first messages, and only the endpoints themselves know
/// whether it is already in use ([`Publisher::transports`](crate::Publisher::transports)).
#[derive(Debug, Clone, PartialEq)]
pub struct TransportBetween<'a> {
    /// The sending endpoint.
    pub publisher: &'a EndpointInfo,
    /// The receiving endpoint.
    pub subscription: &'a EndpointInfo,
    /// The transport, or `None` if there is no possible transport that both sides allow. In that
    /// case, nothing is delivered.
    pub transport: Option<Transport>,
    /// The reason why a more direct transport is not used, or `None` if a more direct transport
    /// does not exist.
    pub reason: Option<Reason>,
}

/// The transport of each match of a topic, in the form in which any observer of the graph sees it.
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

/// The transport of requests and responses between each client and each server of a service, in the
/// form in which any observer of the graph sees it. In the result, the client is the `publisher`,
/// and the server is the `subscription`.
///
/// If a client can reach at least one of its servers only over the network transport, the client's
/// requests take the network transport to all servers.
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
/// Returns a text that describes the obstacle and how to remove it.
pub fn check_shared_memory() -> Result<(), String> {
    feros_shm::ProcessSegment::of_this_process().map_err(|error| error.to_string())?;
    feros_shm::HostNode::shared().map_err(|error| error.to_string())?;
    Ok(())
}
