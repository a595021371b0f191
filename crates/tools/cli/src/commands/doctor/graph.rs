//! The graph that this machine sees: the distributions in it, endpoints that do not match, and
//! matches on a longer transport than necessary.

use feros::{Reason, TransportBetween, transports_of_service, transports_of_topic};
use feros_engine::{Gid, GraphSnapshot};
use feros_monitor::Distributions;

use super::super::endpoint::node_name;
use super::discovery::Joined;
use super::finding::Finding;
use super::{distributions, mismatches};
use crate::connection::{Connection, DiscoveryArgs};

const AREA: &str = "transports";
/// The limit on findings of one kind; further findings are only counted.
const MOST_FINDINGS: usize = 10;

/// The findings about the graph, and what later checks need of it.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) findings: Vec<Finding>,
    /// `None` if the graph was not discovered.
    pub(super) distributions: Option<Distributions>,
    /// `None` if the graph was not discovered, or if the engine does not count what it receives.
    pub(super) joined: Option<Joined>,
}

/// Discovers the graph. `own` are the other participants of this process.
pub(super) fn examine(mut own: Vec<Gid>) -> Seen {
    // The engine has its own finding.
    let Ok(connection) = Connection::open() else { return Seen::default() };
    let discovered = connection.discover_nodes(&DiscoveryArgs::default());
    let Ok(graph) = discovered else { return Seen::default() };
    let session = connection.context.session();
    own.push(session.gid());
    let joined = Joined::new(&graph, &own, &**session);
    let found = Distributions::of(&graph, &own);
    let findings = [distributions::findings(&found), findings(&graph)].concat();
    Seen { findings, distributions: Some(found), joined }
}

fn findings(graph: &GraphSnapshot) -> Vec<Finding> {
    let more = "feros topic info -v TOPIC and feros doctor --report show them";
    let mut all = Vec::new();
    let names = graph.names_of_several_nodes();
    if !names.is_empty() {
        let cure = "give each node its own name (--ros-args -r __node:=NAME)";
        let text = format!(
            "several nodes have the same name, so that tools and parameters reach only one of them: \
             {}",
            names.join(", ")
        );
        all.push(Finding::warning("nodes", text, cure));
    }
    all.extend(at_most(mismatches::findings(graph), "more pairs do not match", |text| {
        Finding::error("topics", text, more)
    }));
    let more = "feros topic info -v TOPIC and feros service info -v SERVICE show them";
    let longer = "more matches do not take the shortest transport";
    all.extend(at_most(transports(graph), longer, |text| Finding::warning(AREA, text, more)));
    all
}

/// Keeps the first findings; if there are more, adds a finding with their number.
fn at_most(
    mut findings: Vec<Finding>,
    what: &str,
    others: impl FnOnce(String) -> Finding,
) -> Vec<Finding> {
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    findings.truncate(MOST_FINDINGS);
    findings.extend((more > 0).then(|| others(format!("{more} {what}"))));
    findings
}

fn transports(graph: &GraphSnapshot) -> Vec<Finding> {
    let (topics, services) = (graph.topics(), graph.services());
    let of_topics = topics.keys().flat_map(|topic| {
        let found = transports_of_topic(graph, topic).into_iter();
        found.filter_map(move |found| troubled(topic, &found, ToString::to_string))
    });
    let of_services = services.keys().flat_map(|service| {
        let found = transports_of_service(graph, service).into_iter();
        found.filter_map(move |found| troubled(service, &found, Reason::of_service))
    });
    of_topics.chain(of_services).collect()
}

/// A match that could take a shorter transport; `words` describes the reason.
fn troubled(
    name: &str,
    found: &TransportBetween<'_>,
    words: impl Fn(&Reason) -> String,
) -> Option<Finding> {
    let reason = found.reason.as_ref()?;
    let cure = cure(reason)?;
    let transport = match found.transport {
        Some(transport) => format!("takes the {} transport", transport.name()),
        None => "delivers no messages".to_owned(),
    };
    let (from, to) = (node_name(found.publisher), node_name(found.subscription));
    let text = format!("{name}: {from} -> {to} {transport}, because {}", words(reason));
    Some(Finding::warning(AREA, text, cure))
}

/// The cure; `None` if these two endpoints have no shorter transport.
fn cure(reason: &Reason) -> Option<&'static str> {
    match reason {
        Reason::SharedMemoryUnavailable { .. } => Some(
            "run feros doctor on that host, as the node's user; the node has logged the reason",
        ),
        Reason::TooManySubscriptions { .. } => Some(
            "raise max_subscriptions in the publisher's options, or FEROS_MAX_SUBSCRIPTIONS for \
             all publishers of its process",
        ),
        Reason::TooManyPublishers { .. } => Some("let fewer publishers match one subscription"),
        Reason::IncompatibleVersion { .. } | Reason::UnreadableAnnouncement { .. } => {
            Some("use the same version of Feros for both")
        }
        Reason::NoTransport { .. } => Some(
            "allow the network transport, in FEROS_TRANSPORTS or in the options of the endpoint",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros::shm::format_version;
    use feros_engine::{EndpointInfo, EndpointKind, NodeInfo, NodeName};

    /// A publisher and a subscription with these announcements, which begin after the version.
    fn graph(announcements: [&str; 2]) -> GraphSnapshot {
        let endpoint = |kind: EndpointKind, node: &str, announcement: &str| EndpointInfo {
            gid: Gid([kind as u8; 16]),
            announcement: Some(format!("{:x},{announcement}", format_version()).into()),
            ..EndpointInfo::of_node(
                kind,
                "/image",
                "sensor_msgs/msg/Image",
                NodeName::new("/", node).unwrap(),
            )
        };
        let [publisher, subscription] = announcements;
        GraphSnapshot {
            endpoints: vec![
                endpoint(EndpointKind::Publisher, "camera", publisher),
                endpoint(EndpointKind::Subscription, "viewer", subscription),
            ],
            ..GraphSnapshot::default()
        }
    }

    #[test]
    fn nodes_of_one_name_are_told_once() {
        let node = |name| NodeInfo {
            name: NodeName::new("/", name).unwrap(),
            enclave: "/".to_owned(),
            participant: Gid([0; 16]),
        };
        let graph = |names: &[&'static str]| GraphSnapshot {
            nodes: names.iter().copied().map(node).collect(),
            ..GraphSnapshot::default()
        };
        assert_eq!(findings(&graph(&["amcl", "camera"])), []);
        let found = findings(&graph(&["amcl", "amcl", "amcl", "camera", "odom", "odom"]));
        assert_eq!(found.len(), 1);
        assert!(found[0].text.ends_with(": /amcl, /odom"), "{}", found[0].text);
    }

    #[test]
    fn matches_that_could_be_better_are_told_with_their_reason() {
        const CAMERA: &str = "1-2-3-4,3e8,2a,7,9,phn,5";
        assert_eq!(transports(&graph([CAMERA, "1-2-3-4,3e8,2b,8,a,phn,5"])), []);
        assert_eq!(transports(&graph([CAMERA, "ff-2-3-4,3e8,2b,8,a,phn,5"])), [], "another host");
        let found = transports(&graph([CAMERA, "1-2-3-4,3e8,2b,8,a,phn,5,9!subs-1"]));
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].text,
            "/image: /camera -> /viewer takes the network transport, because the publisher already \
             serves 1 subscriptions through shared memory, its limit"
        );
        let found = transports(&graph([CAMERA, "1-2-3-4,3e8,2b,8,a,phn,5,9!full"]));
        assert!(found[0].text.ends_with("its /dev/shm is full"), "{}", found[0].text);
        assert!(found[0].cure.is_some());
    }
}
