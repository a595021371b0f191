//! Topics and nodes of a graph, summarized for tools that watch them.

use std::collections::BTreeMap;

use feros::{Transport, transports_of_topic};
use feros_engine::graph::Mismatch;
use feros_engine::{EndpointInfo, EndpointKind, Gid, GraphSnapshot, NodeName};
use feros_shm::{Announced, HostId};

/// The number of a topic's matches on each transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchesByTransport {
    /// Within one process.
    pub intra_process: usize,
    /// Between processes of one host.
    pub shared_memory: usize,
    /// Over the network.
    pub network: usize,
    /// Without a transport: the two sides allow no common transport, so no message is delivered.
    pub none: usize,
}

/// A topic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TopicSummary {
    /// Its fully qualified name.
    pub name: String,
    /// The types of its endpoints; more than one type is a mistake in the system.
    pub types: Vec<String>,
    /// Its publishers.
    pub publishers: usize,
    /// Its subscriptions.
    pub subscriptions: usize,
    /// Its matches.
    pub matches: MatchesByTransport,
    /// Pairs that do not match, with the reasons.
    pub mismatches: Vec<Mismatch>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSummary {
    /// Its name.
    pub name: NodeName,
    /// Its process, if it is known and runs on this host; if several nodes share the name, the
    /// process of one of them.
    pub pid: Option<u32>,
    /// Its publishers.
    pub publishers: usize,
    /// Its subscriptions.
    pub subscriptions: usize,
    /// The number of its service servers.
    pub services: usize,
    /// The number of its service clients.
    pub clients: usize,
}

/// The topics of a graph, sorted by name, without the endpoints of the participant `own`: the
/// watcher is not part of the system that it watches.
pub fn topics(graph: &GraphSnapshot, own: Gid) -> Vec<TopicSummary> {
    let is_own = |gid: Gid| gid.is_of_session_of(&own);
    let mut topics: BTreeMap<&str, TopicSummary> = BTreeMap::new();
    for endpoint in graph.endpoints.iter().filter(|endpoint| !is_own(endpoint.gid)) {
        let is_publisher = match endpoint.kind {
            EndpointKind::Publisher => true,
            EndpointKind::Subscription => false,
            EndpointKind::Service | EndpointKind::Client => continue,
        };
        let topic = topics.entry(&endpoint.name).or_insert_with(|| TopicSummary {
            name: endpoint.name.clone(),
            ..TopicSummary::default()
        });
        topic.publishers += usize::from(is_publisher);
        topic.subscriptions += usize::from(!is_publisher);
        if !topic.types.contains(&endpoint.type_name) {
            topic.types.push(endpoint.type_name.clone());
        }
    }
    for (name, topic) in &mut topics {
        for found in transports_of_topic(graph, name) {
            if is_own(found.publisher.gid) || is_own(found.subscription.gid) {
                continue;
            }
            let matches = &mut topic.matches;
            *match found.transport {
                Some(Transport::IntraProcess) => &mut matches.intra_process,
                Some(Transport::SharedMemory) => &mut matches.shared_memory,
                Some(Transport::Network) => &mut matches.network,
                None => &mut matches.none,
            } += 1;
        }
        topic.mismatches = mismatches(graph, name, is_own);
    }
    topics.into_values().collect()
}

/// The mismatches between endpoints that are not the watcher's own.
fn mismatches(graph: &GraphSnapshot, topic: &str, is_own: impl Fn(Gid) -> bool) -> Vec<Mismatch> {
    let of_others = GraphSnapshot {
        generation: graph.generation,
        participants: Vec::new(),
        nodes: Vec::new(),
        endpoints: graph
            .endpoints
            .iter()
            .filter(|endpoint| endpoint.name == topic && !is_own(endpoint.gid))
            .cloned()
            .collect(),
    };
    of_others.mismatches(topic)
}

/// The nodes of a graph, sorted by name, without the nodes of the participant `own`.
pub fn nodes(graph: &GraphSnapshot, own: Gid) -> Vec<NodeSummary> {
    let mut nodes: BTreeMap<&NodeName, NodeSummary> = BTreeMap::new();
    for node in &graph.nodes {
        if !node.participant.is_of_session_of(&own) {
            nodes.entry(&node.name).or_insert_with(|| NodeSummary {
                name: node.name.clone(),
                pid: None,
                publishers: 0,
                subscriptions: 0,
                services: 0,
                clients: 0,
            });
        }
    }
    let here = HostId::of_this_process();
    for endpoint in &graph.endpoints {
        let Some(node) = endpoint.node.name().and_then(|name| nodes.get_mut(name)) else {
            continue;
        };
        *match endpoint.kind {
            EndpointKind::Publisher => &mut node.publishers,
            EndpointKind::Subscription => &mut node.subscriptions,
            EndpointKind::Service => &mut node.services,
            EndpointKind::Client => &mut node.clients,
        } += 1;
        node.pid = node.pid.or_else(|| pid_on(here, endpoint));
    }
    nodes.into_values().collect()
}

/// The process id of an endpoint, if that id means the same process on this host.
fn pid_on(here: Option<HostId>, endpoint: &EndpointInfo) -> Option<u32> {
    let announced = Announced::read(endpoint.announcement.as_deref());
    let process = announced.feros()?;
    let (here, there) = (here?, process.host?);
    let is_here = (here.boot, here.pid_namespace) == (there.boot, there.pid_namespace);
    is_here.then_some(process.pid)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros::QosProfile;
    use feros_engine::NodeInfo;
    use feros_shm::{Announcement, TransportSet};

    use super::*;

    fn endpoint(kind: EndpointKind, participant: u8, number: u8, node: &str) -> EndpointInfo {
        let mut gid = [participant; 16];
        gid[15] = number;
        let node = NodeName::new("/", node).unwrap();
        EndpointInfo {
            gid: Gid(gid),
            qos: QosProfile::default().with_system_defaults_resolved(),
            ..EndpointInfo::of_node(kind, "/scan", "sensor_msgs/msg/LaserScan", node)
        }
    }

    #[test]
    fn topics_and_nodes_are_counted_without_who_watches() {
        const WATCHER: u8 = 9;
        let announcement = Announcement::of_this_process(7, TransportSet::ALL, None).encode();
        let mut publisher = endpoint(EndpointKind::Publisher, 1, 1, "lidar");
        publisher.announcement = Some(announcement.into());
        publisher.qos = publisher.qos.best_effort();
        let reliable = endpoint(EndpointKind::Subscription, 2, 1, "slam");
        let mut best_effort = endpoint(EndpointKind::Subscription, 2, 2, "slam");
        best_effort.qos = best_effort.qos.best_effort();
        let own = endpoint(EndpointKind::Subscription, WATCHER, 1, "watcher");
        let node = |name, participant| NodeInfo {
            name: NodeName::new("/", name).unwrap(),
            enclave: "/".into(),
            participant: Gid([participant; 16]),
        };
        let graph = GraphSnapshot {
            generation: 1,
            participants: Vec::new(),
            nodes: vec![node("lidar", 1), node("slam", 2), node("watcher", WATCHER)],
            endpoints: vec![publisher, reliable, best_effort, own],
        };
        let own = Gid([WATCHER; 16]);
        let topics = topics(&graph, own);
        assert_eq!(topics.len(), 1);
        assert_eq!((topics[0].publishers, topics[0].subscriptions), (1, 2));
        let network = MatchesByTransport { network: 1, ..MatchesByTransport::default() };
        assert_eq!(topics[0].matches, network);
        assert_eq!(
            topics[0].mismatches.len(),
            1,
            "the subscription requests reliable, the publisher offers best effort"
        );
        let nodes = nodes(&graph, own);
        let names: Vec<_> = nodes.iter().map(|node| node.name.to_string()).collect();
        assert_eq!(names, ["/lidar", "/slam"]);
        assert_eq!((nodes[0].pid, nodes[1].pid), (Some(std::process::id()), None));
        assert_eq!((nodes[0].publishers, nodes[1].subscriptions), (1, 2));
    }
}
