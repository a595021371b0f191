//! The publishers, subscriptions and servers, in the form of Foxglove's connection graph, and their
//! changes.

use std::collections::BTreeMap;

use feros_engine::{EndpointInfo, EndpointKind, Gid, GraphSnapshot};

use crate::protocol::{ConnectionGraphUpdate, NamedIds};

type Nodes = BTreeMap<String, Vec<String>>;

/// The connection graph at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ConnectionGraph {
    published: Nodes,
    subscribed: Nodes,
    served: Nodes,
}

impl ConnectionGraph {
    /// Returns the connection graph of `graph`, without the server's own participant.
    pub(crate) fn of(graph: &GraphSnapshot, own: Gid) -> Self {
        let mut found = Self::default();
        for endpoint in graph.endpoints.iter().filter(|endpoint| endpoint.is_ros) {
            if endpoint.gid.is_of_session_of(&own) {
                continue;
            }
            let nodes = match endpoint.kind {
                EndpointKind::Publisher => &mut found.published,
                EndpointKind::Subscription => &mut found.subscribed,
                EndpointKind::Service => &mut found.served,
                EndpointKind::Client => continue,
            };
            let nodes = nodes.entry(endpoint.name.clone()).or_default();
            let node = node_name(endpoint);
            if let Err(place) = nodes.binary_search(&node) {
                nodes.insert(place, node);
            }
        }
        found
    }

    /// Returns the changes since `former`; `None` without changes.
    pub(crate) fn since(&self, former: &Self) -> Option<ConnectionGraphUpdate> {
        let has_topic = |graph: &Self, topic: &String| {
            graph.published.contains_key(topic) || graph.subscribed.contains_key(topic)
        };
        let topics = former.published.keys().chain(former.subscribed.keys());
        let mut removed_topics: Vec<_> =
            topics.filter(|topic| !has_topic(self, topic)).cloned().collect();
        removed_topics.sort();
        removed_topics.dedup();
        let removed_services =
            former.served.keys().filter(|name| !self.served.contains_key(*name)).cloned();
        let update = ConnectionGraphUpdate {
            published_topics: changed(&self.published, &former.published, |topic| {
                has_topic(self, topic)
            }),
            subscribed_topics: changed(&self.subscribed, &former.subscribed, |topic| {
                has_topic(self, topic)
            }),
            advertised_services: changed(&self.served, &former.served, |_| false),
            removed_topics,
            removed_services: removed_services.collect(),
        };
        (update != ConnectionGraphUpdate::default()).then_some(update)
    }
}

/// Returns the names whose nodes have changed, including names that lost all nodes but still exist.
fn changed(now: &Nodes, former: &Nodes, stays: impl Fn(&String) -> bool) -> Vec<NamedIds> {
    let others = now.iter().filter(|(name, nodes)| former.get(*name) != Some(*nodes));
    let others = others.map(|(name, ids)| NamedIds { name: name.clone(), ids: ids.clone() });
    let left = former.keys().filter(|name| !now.contains_key(*name) && stays(name));
    let left = left.map(|name| NamedIds { name: name.clone(), ids: Vec::new() });
    others.chain(left).collect()
}

/// Returns the name to show for an endpoint's node, or for its participant if the node is unknown.
pub(crate) fn node_name(endpoint: &EndpointInfo) -> String {
    match endpoint.node.name() {
        Some(name) => name.fully_qualified(),
        None => format!("(no node, participant {})", endpoint.gid),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_engine::NodeName;

    use super::*;

    fn endpoint(kind: EndpointKind, name: &str, node: &str) -> EndpointInfo {
        let node = NodeName::new("/", node).unwrap();
        EndpointInfo::of_node(kind, name, "std_msgs/msg/String", node)
    }

    fn graph(endpoints: Vec<EndpointInfo>) -> ConnectionGraph {
        let graph = GraphSnapshot { endpoints, ..GraphSnapshot::default() };
        ConnectionGraph::of(&graph, Gid([9; 16]))
    }

    #[test]
    fn only_changes_are_reported() {
        use EndpointKind::{Publisher, Service, Subscription};
        let first = graph(vec![
            endpoint(Publisher, "/a", "x"),
            endpoint(Publisher, "/a", "x"),
            endpoint(Subscription, "/a", "y"),
            endpoint(Service, "/s", "x"),
        ]);
        let named = |name: &str, ids: &[&str]| NamedIds {
            name: name.into(),
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        };
        let all = first.since(&ConnectionGraph::default()).unwrap();
        assert_eq!(all.published_topics, [named("/a", &["/x"])]);
        assert_eq!(all.subscribed_topics, [named("/a", &["/y"])]);
        assert_eq!(all.advertised_services, [named("/s", &["/x"])]);
        assert_eq!(first.since(&first), None);
        let second = graph(vec![endpoint(Subscription, "/a", "y"), endpoint(Publisher, "/b", "x")]);
        let update = second.since(&first).unwrap();
        assert_eq!(update.published_topics, [named("/b", &["/x"]), named("/a", &[])]);
        assert_eq!(update.subscribed_topics, []);
        assert_eq!(update.removed_services, ["/s"]);
        assert!(update.removed_topics.is_empty());
        let update = graph(Vec::new()).since(&second).unwrap();
        assert_eq!(update.removed_topics, ["/a", "/b"]);
        assert!(update.published_topics.is_empty() && update.subscribed_topics.is_empty());
    }
}
