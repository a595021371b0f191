//! Endpoints whose announcements prevent a match: publishers and subscriptions that do not match,
//! and names that are used with several types.

use std::collections::{BTreeMap, BTreeSet};

use feros_engine::graph::NamesAndTypes;
use feros_engine::{EndpointKind, GraphSnapshot};

use super::super::endpoint::node_name;
use super::finding::Finding;

pub(super) fn findings(graph: &GraphSnapshot) -> Vec<Finding> {
    let (topics, services) = (graph.topics(), graph.services());
    let mismatches = topics.keys().flat_map(|topic| graph.mismatches(topic));
    let mut findings: Vec<Finding> = mismatches
        .map(|found| {
            let text = format!("{}: {}", found.topic, found.problem());
            Finding::error("topics", text, found.cure)
        })
        .collect();
    let of_topics = [EndpointKind::Publisher, EndpointKind::Subscription];
    let of_services = [EndpointKind::Service, EndpointKind::Client];
    let several = |area, what, kinds, names: &NamesAndTypes| -> Vec<Finding> {
        let names = names.iter().filter(|(_, types)| types.len() > 1).map(|(name, _)| name);
        // A pair that cannot match has a separate finding with more detail.
        let untold = names.filter(|name| graph.mismatches(name).is_empty());
        untold.map(|name| several_types(graph, area, what, kinds, name)).collect()
    };
    findings.extend(several("topics", "topic", of_topics, &topics));
    findings.extend(several("services", "service", of_services, &services));
    findings
}

fn several_types(
    graph: &GraphSnapshot,
    area: &'static str,
    what: &str,
    kinds: [EndpointKind; 2],
    name: &str,
) -> Finding {
    let mut users: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for endpoint in kinds.into_iter().flat_map(|kind| graph.endpoints_of(kind, name)) {
        users.entry(&endpoint.type_name).or_default().insert(node_name(endpoint));
    }
    let users = users.into_iter().map(|(type_name, nodes)| {
        let nodes: Vec<_> = nodes.into_iter().collect();
        format!("{type_name} by {}", nodes.join(" and "))
    });
    let users: Vec<_> = users.collect();
    Finding::error(
        area,
        format!("{what} {name} is used with several types: {}", users.join(", ")),
        format!("use one of them everywhere, or give one {what} another name"),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_engine::{EndpointInfo, Gid, NodeName, QosProfile};

    fn endpoint(kind: EndpointKind, name: &str, ty: &str, node: &str) -> EndpointInfo {
        let (ty, node) = (format!("std_msgs/msg/{ty}"), NodeName::new("/", node).unwrap());
        let gid = Gid([kind as u8; 16]);
        EndpointInfo { gid, ..EndpointInfo::of_node(kind, name, &ty, node) }
    }

    fn told(endpoints: Vec<EndpointInfo>) -> Vec<(String, String)> {
        let found = findings(&GraphSnapshot { endpoints, ..GraphSnapshot::default() });
        found.into_iter().map(|found| (found.text, found.cure.unwrap())).collect()
    }

    #[test]
    fn mismatches_are_reported_with_both_endpoints_and_the_cure() {
        let publisher = || endpoint(EndpointKind::Publisher, "/scan", "Byte", "lidar");
        let subscription = || endpoint(EndpointKind::Subscription, "/scan", "Byte", "slam");
        assert_eq!(told(vec![publisher(), subscription()]), []);
        let mut weak = publisher();
        weak.qos = QosProfile::sensor_data();
        let text = "/scan: publisher in /lidar and subscription in /slam: QoS does not match: \
                    RELIABILITY: the publisher offers BEST_EFFORT, the subscription requests RELIABLE";
        let cure = "let /lidar publish reliably, or let /slam request best effort";
        assert_eq!(told(vec![weak, subscription()]), [(text.to_owned(), cure.to_owned())]);
        let other = endpoint(EndpointKind::Subscription, "/scan", "Bool", "slam");
        let text = "/scan: publisher in /lidar and subscription in /slam: the publisher has type \
                    std_msgs/msg/Byte, the subscription std_msgs/msg/Bool: they never match";
        let cure = "give one of them the other's type";
        assert_eq!(told(vec![publisher(), other]), [(text.to_owned(), cure.to_owned())]);
    }

    #[test]
    fn several_types_are_told_where_no_pair_tells_them() {
        let publisher = |ty, node| endpoint(EndpointKind::Publisher, "/scan", ty, node);
        let text = "topic /scan is used with several types: std_msgs/msg/Bool by /c, \
                    std_msgs/msg/Byte by /a and /b";
        let found =
            told(vec![publisher("Byte", "b"), publisher("Byte", "a"), publisher("Bool", "c")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, text);
        let call = |kind, ty, node| endpoint(kind, "/set", ty, node);
        let found = told(vec![
            call(EndpointKind::Service, "Byte", "a"),
            call(EndpointKind::Client, "Bool", "b"),
        ]);
        assert!(found[0].0.starts_with("service /set is used with several types: "), "{found:?}");
    }
}
