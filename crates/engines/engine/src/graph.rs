//! The ROS graph: the known nodes and endpoints, both local and remote.
//!
//! An engine returns an immutable [`GraphSnapshot`]. The snapshot implements all graph functions of
//! `rcl`, so that these functions give the same answers on every engine.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::buffer_backend::BufferBackend;
use crate::gid::Gid;
use crate::name::NodeName;
use crate::participant::ParticipantInfo;
use crate::qos::QosProfile;
use crate::type_hash::TypeHash;

/// The kind of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndpointKind {
    /// A publisher.
    Publisher,
    /// A subscription.
    Subscription,
    /// A service server.
    Service,
    /// A service client.
    Client,
}

/// A node that a participant announced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeInfo {
    /// The namespace and the name.
    pub name: NodeName,
    /// The security enclave of the node's context. It is empty if the participant announced no
    /// enclave.
    pub enclave: String,
    /// The participant to which the node belongs.
    pub participant: Gid,
}

/// An endpoint that a participant announced.
///
/// A service server or client consists of two endpoints on the wire, but it appears only once, with
/// the gid of the wire endpoint for requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointInfo {
    /// The kind of endpoint.
    pub kind: EndpointKind,
    /// The fully qualified ROS name. If the endpoint does not follow the ROS conventions, this is
    /// the wire name.
    pub name: String,
    /// The type, in the form `package/msg/Name` or `package/srv/Name`. If the endpoint does not
    /// follow the ROS conventions, this is the wire name.
    pub type_name: String,
    /// The hash of the message type, or of the request type. It is `None` if no hash was announced.
    pub type_hash: Option<TypeHash>,
    /// The identity.
    pub gid: Gid,
    /// The node to which the endpoint belongs, if its participant has announced it.
    pub node: EndpointNode,
    /// The announced policies.
    pub qos: QosProfile,
    /// Whether the endpoint's names follow the ROS conventions.
    pub is_ros: bool,
    /// The announcement. It is `None` for endpoints that announce nothing, such as endpoints of
    /// programs without Feros.
    pub announcement: Option<Arc<str>>,
    /// The buffer backends, sorted by name. It is `None` for endpoints that announce none, such as
    /// endpoints of Feros and of ROS 2 before Lyrical.
    pub buffer_backends: Option<Arc<[BufferBackend]>>,
}

impl EndpointInfo {
    /// A ROS endpoint of this node, with the default policies and without a gid, a type hash and an
    /// announcement.
    #[must_use]
    pub fn of_node(kind: EndpointKind, name: &str, type_name: &str, node: NodeName) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            type_hash: None,
            gid: Gid::default(),
            node: EndpointNode::Named(node),
            qos: QosProfile::default(),
            is_ros: true,
            announcement: None,
            buffer_backends: None,
        }
    }
}

/// The node to which an endpoint belongs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EndpointNode {
    /// The node with this name.
    Named(NodeName),
    /// The participant announces nodes, but has not announced yet which of them owns this endpoint.
    /// Stock ROS 2 shows `_NODE_NAME_UNKNOWN_`.
    Unknown,
    /// The participant announces no nodes. Stock ROS 2 shows `_CREATED_BY_BARE_DDS_APP_`.
    NotRos,
}

impl EndpointNode {
    /// The node's name, if it has one.
    pub fn name(&self) -> Option<&NodeName> {
        match self {
            Self::Named(name) => Some(name),
            Self::Unknown | Self::NotRos => None,
        }
    }
}

/// A snapshot of the graph.
#[derive(Debug, Clone, Default)]
pub struct GraphSnapshot {
    /// A number that increases with every change.
    pub generation: u64,
    /// All known participants, sorted by gid, or none if the engine does not discover participants.
    pub participants: Vec<ParticipantInfo>,
    /// All known nodes, sorted by name.
    pub nodes: Vec<NodeInfo>,
    /// All known endpoints, sorted by name.
    pub endpoints: Vec<EndpointInfo>,
}

/// Names, each with the types that are used with this name.
pub type NamesAndTypes = BTreeMap<String, BTreeSet<String>>;

impl GraphSnapshot {
    /// The endpoints of one kind with this fully qualified name.
    pub fn endpoints_of<'a>(
        &'a self,
        kind: EndpointKind,
        name: &'a str,
    ) -> impl Iterator<Item = &'a EndpointInfo> {
        self.endpoints.iter().filter(move |e| e.kind == kind && e.name == name)
    }

    /// The number of endpoints of one kind with this fully qualified name.
    pub fn count(&self, kind: EndpointKind, name: &str) -> usize {
        self.endpoints_of(kind, name).count()
    }

    /// All topics with their types.
    pub fn topics(&self) -> NamesAndTypes {
        self.names_and_types(|e| {
            matches!(e.kind, EndpointKind::Publisher | EndpointKind::Subscription)
        })
    }

    /// All services that have a server or a client, with their types.
    pub fn services(&self) -> NamesAndTypes {
        self.names_and_types(|e| matches!(e.kind, EndpointKind::Service | EndpointKind::Client))
    }

    /// The names and types of one node's endpoints of one kind.
    pub fn of_node(&self, node: &NodeName, kind: EndpointKind) -> NamesAndTypes {
        self.names_and_types(|e| e.kind == kind && e.node.name() == Some(node))
    }

    /// All actions that have a server or a client, with their types. As in `rcl_action`, a
    /// publisher of feedback counts as an action server, and a subscription to feedback counts as
    /// an action client.
    pub fn actions(&self) -> NamesAndTypes {
        actions_among(&self.topics())
    }

    /// The actions for which one node has servers.
    pub fn action_servers_of_node(&self, node: &NodeName) -> NamesAndTypes {
        actions_among(&self.of_node(node, EndpointKind::Publisher))
    }

    /// The actions for which one node has clients.
    pub fn action_clients_of_node(&self, node: &NodeName) -> NamesAndTypes {
        actions_among(&self.of_node(node, EndpointKind::Subscription))
    }

    /// The names and types of the endpoints for which `wanted` returns true. Endpoints that do not
    /// follow the ROS conventions are omitted.
    pub fn names_and_types(&self, wanted: impl Fn(&EndpointInfo) -> bool) -> NamesAndTypes {
        let mut found = NamesAndTypes::new();
        for endpoint in self.endpoints.iter().filter(|e| e.is_ros && wanted(e)) {
            found.entry(endpoint.name.clone()).or_default().insert(endpoint.type_name.clone());
        }
        found
    }

    /// All matching pairs of a publisher and a subscription of one topic. Their announced policies
    /// and types decide whether they match.
    pub fn matches<'a>(&'a self, topic: &'a str) -> Vec<(&'a EndpointInfo, &'a EndpointInfo)> {
        let publishers = self.endpoints_of(EndpointKind::Publisher, topic);
        let pairs = publishers.flat_map(|publisher| {
            self.endpoints_of(EndpointKind::Subscription, topic)
                .map(move |subscription| (publisher, subscription))
        });
        pairs
            .filter(|(publisher, subscription)| MismatchKind::of(publisher, subscription).is_none())
            .collect()
    }

    /// All matching pairs of a client and a server of one service. Their announced policies and
    /// types decide whether they match.
    pub fn calls<'a>(&'a self, service: &'a str) -> Vec<(&'a EndpointInfo, &'a EndpointInfo)> {
        let clients = self.endpoints_of(EndpointKind::Client, service);
        let pairs = clients.flat_map(|client| {
            self.endpoints_of(EndpointKind::Service, service).map(move |server| (client, server))
        });
        pairs.filter(|(client, server)| MismatchKind::of(client, server).is_none()).collect()
    }

    /// The fully qualified names that several nodes have. Tools and parameters then reach only one
    /// of these nodes, and not always the same one.
    pub fn names_of_several_nodes(&self) -> Vec<String> {
        let pairs = self.nodes.windows(2).filter(|pair| pair[0].name == pair[1].name);
        let mut names: Vec<String> = pairs.map(|pair| pair[0].name.fully_qualified()).collect();
        names.dedup();
        names
    }

    /// All pairs of a publisher and a subscription of one topic that do not match, with the reason:
    /// different types, different type hashes, or incompatible QoS.
    pub fn mismatches(&self, topic: &str) -> Vec<Mismatch> {
        let publishers = alike(self.endpoints_of(EndpointKind::Publisher, topic));
        let subscriptions = alike(self.endpoints_of(EndpointKind::Subscription, topic));
        let mut found = Vec::new();
        let mut known = HashSet::new();
        for (publishers, subscriptions) in pairs(&publishers, &subscriptions) {
            let Some(kind) = MismatchKind::of(publishers[0], subscriptions[0]) else { continue };
            for (publisher, subscription) in pairs(publishers, subscriptions) {
                if known.insert((&publisher.node, &subscription.node, kind)) {
                    found.push(Mismatch {
                        topic: topic.to_owned(),
                        publisher: publisher.node.clone(),
                        subscription: subscription.node.clone(),
                        reason: kind.reason(publisher, subscription),
                        cure: kind.cure(publisher, subscription),
                    });
                }
            }
        }
        found
    }
}

/// The actions whose feedback topics are in `topics`.
fn actions_among(topics: &NamesAndTypes) -> NamesAndTypes {
    let action = |(topic, types): (&String, &BTreeSet<String>)| {
        let name = topic.strip_suffix("/_action/feedback")?;
        let types = types.iter().filter_map(|name| name.strip_suffix("_FeedbackMessage"));
        Some((name.to_owned(), types.map(str::to_owned).collect()))
    };
    topics.iter().filter_map(action).collect()
}

/// A publisher and a subscription of one topic that do not match. The `Display` text names both
/// sides, the problem and how to solve it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The topic.
    pub topic: String,
    /// The publisher's node.
    pub publisher: EndpointNode,
    /// The subscription's node.
    pub subscription: EndpointNode,
    /// The reason, with the values of both sides.
    pub reason: String,
    /// How to solve the problem, as a sentence without its full stop.
    pub cure: String,
}

impl Mismatch {
    /// A sentence with the two nodes and the reason.
    pub fn problem(&self) -> String {
        let [publisher, subscription] = self.sides();
        let reason = &self.reason;
        format!("publisher in {publisher} and subscription in {subscription}: {reason}")
    }

    /// The names of the publisher's node and the subscription's node.
    pub fn sides(&self) -> [String; 2] {
        [&self.publisher, &self.subscription]
            .map(|node| node.name().map_or("a node without a name".into(), ToString::to_string))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.topic, self.problem(), self.cure)
    }
}

/// Groups the endpoints of one topic by type and QoS, so that all endpoints of a group match the
/// same endpoints. A topic may have hundreds of endpoints, but they form few groups.
fn alike<'a>(endpoints: impl Iterator<Item = &'a EndpointInfo>) -> Vec<Vec<&'a EndpointInfo>> {
    let mut sorted: Vec<Vec<&EndpointInfo>> = Vec::new();
    for endpoint in endpoints {
        let is_alike = |some: &&mut Vec<&EndpointInfo>| {
            let first = some[0];
            (first.qos, first.type_hash) == (endpoint.qos, endpoint.type_hash)
                && first.type_name == endpoint.type_name
        };
        match sorted.iter_mut().find(is_alike) {
            Some(some) => some.push(endpoint),
            None => sorted.push(vec![endpoint]),
        }
    }
    sorted
}

/// All pairs of an element of `left` and an element of `right`.
fn pairs<'a, T>(left: &'a [T], right: &'a [T]) -> impl Iterator<Item = (&'a T, &'a T)> {
    left.iter().flat_map(move |one| right.iter().map(move |other| (one, other)))
}

/// The reason why two endpoints do not match.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum MismatchKind {
    Type,
    Qos,
    Definition,
}

impl MismatchKind {
    fn of(publisher: &EndpointInfo, subscription: &EndpointInfo) -> Option<Self> {
        if publisher.type_name != subscription.type_name {
            return Some(Self::Type);
        }
        if !publisher.qos.incompatibilities(&subscription.qos).is_empty() {
            return Some(Self::Qos);
        }
        match (publisher.type_hash, subscription.type_hash) {
            (Some(a), Some(b)) if a != b => Some(Self::Definition),
            _ => None,
        }
    }

    fn reason(self, publisher: &EndpointInfo, subscription: &EndpointInfo) -> String {
        let hash = |of: &EndpointInfo| of.type_hash.map_or(String::new(), |hash| hash.to_string());
        match self {
            Self::Type => format!(
                "the publisher has type {}, the subscription {}: they never match",
                publisher.type_name, subscription.type_name
            ),
            Self::Qos => {
                let list = publisher.qos.incompatibilities(&subscription.qos);
                let list: Vec<_> = list.iter().map(ToString::to_string).collect();
                format!("QoS does not match: {}", list.join("; "))
            }
            Self::Definition => format!(
                "both have type {}, but were built from different definitions (publisher {}, \
                 subscription {})",
                publisher.type_name,
                hash(publisher),
                hash(subscription)
            ),
        }
    }
    fn cure(self, publisher: &EndpointInfo, subscription: &EndpointInfo) -> String {
        match self {
            Self::Type => "give one of them the other's type".to_owned(),
            Self::Qos => {
                let side = |endpoint: &EndpointInfo, otherwise: &str| {
                    endpoint.node.name().map_or(otherwise.to_owned(), ToString::to_string)
                };
                let (publishing, subscribing) =
                    (side(publisher, "the publisher"), side(subscription, "the subscription"));
                let list = publisher.qos.incompatibilities(&subscription.qos);
                let cures: Vec<_> =
                    list.iter().map(|one| one.cure(&publishing, &subscribing)).collect();
                cures.join("; ")
            }
            Self::Definition => "rebuild one of them with the other's definition".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(kind: EndpointKind, name: &str, type_name: &str, node: &str) -> EndpointInfo {
        let node = NodeName::new("/", node).expect("valid");
        EndpointInfo::of_node(kind, name, type_name, node)
    }

    #[test]
    fn questions_of_the_graph() {
        let mut graph = GraphSnapshot {
            endpoints: vec![
                endpoint(EndpointKind::Publisher, "/a", "std_msgs/msg/String", "x"),
                endpoint(EndpointKind::Subscription, "/a", "std_msgs/msg/Bool", "y"),
                endpoint(EndpointKind::Service, "/s", "std_srvs/srv/Empty", "y"),
            ],
            ..GraphSnapshot::default()
        };
        assert_eq!(graph.topics()["/a"].len(), 2);
        assert_eq!(graph.count(EndpointKind::Publisher, "/a"), 1);
        assert!(graph.services().contains_key("/s"));
        let y = NodeName::new("/", "y").expect("valid");
        assert_eq!(graph.of_node(&y, EndpointKind::Subscription).len(), 1);
        assert!(graph.mismatches("/a")[0].reason.contains("std_msgs/msg/Bool"));

        graph.endpoints[1].type_name = "std_msgs/msg/String".into();
        assert_eq!(graph.mismatches("/a"), vec![]);
        graph.endpoints[0].qos = QosProfile::sensor_data();
        assert!(graph.mismatches("/a")[0].reason.contains("RELIABILITY"));
        assert_eq!(
            graph.mismatches("/a")[0].to_string(),
            "/a: publisher in /x and subscription in /y: QoS does not match: RELIABILITY: the \
             publisher offers BEST_EFFORT, the subscription requests RELIABLE; let /x publish \
             reliably, or let /y request best effort"
        );
        graph.endpoints[0].qos = QosProfile::default();
        graph.endpoints[0].type_hash = Some(TypeHash([1; 32]));
        graph.endpoints[1].type_hash = Some(TypeHash([2; 32]));
        assert!(graph.mismatches("/a")[0].reason.contains("RIHS01_01"));
    }

    #[test]
    fn actions_are_known_by_their_feedback() {
        let feedback = "/fib/_action/feedback";
        let fibonacci = "example_interfaces/action/Fibonacci_FeedbackMessage";
        let graph = GraphSnapshot {
            endpoints: vec![
                endpoint(EndpointKind::Publisher, feedback, fibonacci, "server"),
                endpoint(EndpointKind::Subscription, feedback, fibonacci, "client"),
                endpoint(EndpointKind::Publisher, "/fib/_action/status", "a/msg/B", "server"),
                endpoint(EndpointKind::Publisher, "/other/feedback", fibonacci, "server"),
            ],
            ..GraphSnapshot::default()
        };
        let fib = [("/fib".to_owned(), ["example_interfaces/action/Fibonacci".to_owned()].into())];
        let fib = NamesAndTypes::from(fib);
        let (none, node) = (NamesAndTypes::new(), |name| NodeName::new("/", name).expect("valid"));
        assert_eq!(graph.actions(), fib);
        let servers = ["server", "client"].map(|name| graph.action_servers_of_node(&node(name)));
        assert_eq!(servers, [fib.clone(), none.clone()]);
        let clients = ["server", "client"].map(|name| graph.action_clients_of_node(&node(name)));
        assert_eq!(clients, [none, fib]);
    }

    #[test]
    fn a_mismatch_is_one_per_pair_of_nodes_and_kind() {
        let mut graph = GraphSnapshot::default();
        for deadline in [20, 30] {
            let mut publisher = endpoint(EndpointKind::Publisher, "/a", "std_msgs/msg/String", "x");
            publisher.qos.deadline = std::time::Duration::from_millis(deadline).into();
            let mut wants = endpoint(EndpointKind::Subscription, "/a", "std_msgs/msg/String", "y");
            wants.qos.deadline = std::time::Duration::from_micros(1500).into();
            graph.endpoints.extend([publisher, wants]);
        }
        let found = graph.mismatches("/a");
        assert_eq!(found.len(), 1, "{found:?}");
        let expected = "the publisher offers 20 ms, the subscription requests 1.5 ms";
        assert!(found[0].reason.contains(expected), "{found:?}");
    }
}
