//! Snapshots of both sides, without the bridge's own endpoints.

use std::collections::{BTreeMap, BTreeSet};

use feros::Node;
use feros_engine::{Durability, EndpointInfo, EndpointKind, Reliability};
use feros_ros1::SystemState;

use crate::topic::Offered;

/// The nodes that the master knows, except the bridge.
#[derive(Debug, Default)]
pub(crate) struct Ros1Side {
    pub(crate) publishers: BTreeSet<String>,
    /// The topics that have subscribers, with the number of subscribing nodes.
    pub(crate) subscribers: BTreeMap<String, usize>,
    /// The services, with the node that serves each.
    pub(crate) services: BTreeMap<String, String>,
    /// The types of the topics whose nodes have stated one.
    pub(crate) types: BTreeMap<String, String>,
}

impl Ros1Side {
    pub(crate) fn of(state: SystemState, types: Vec<(String, String)>, own: &str) -> Self {
        let others = |all: Vec<(String, Vec<String>)>| {
            let has_other =
                |(_, nodes): &(String, Vec<String>)| nodes.iter().any(|node| node != own);
            all.into_iter().filter(has_other)
        };
        Self {
            publishers: others(state.publishers).map(|(name, _)| name).collect(),
            subscribers: others(state.subscribers)
                .map(|(name, nodes)| (name, nodes.iter().filter(|node| *node != own).count()))
                .collect(),
            services: others(state.services)
                .filter_map(|(name, nodes)| {
                    Some((name, nodes.into_iter().find(|node| node != own)?))
                })
                .collect(),
            types: types.into_iter().filter(|(_, ty)| ty != "*").collect(),
        }
    }

    pub(crate) fn topics(&self) -> impl Iterator<Item = &String> {
        self.publishers.iter().chain(self.subscribers.keys())
    }
}

/// A ROS 2 topic.
#[derive(Debug, Default)]
pub(crate) struct Ros2Topic {
    publishers: Vec<EndpointInfo>,
    subscriptions: Vec<EndpointInfo>,
}

impl Ros2Topic {
    pub(crate) fn subscribed_types(&self) -> Vec<&str> {
        names(&self.subscriptions)
    }

    /// Returns the types of the publishers and the QoS that all of them offer; `None` if there are
    /// no publishers.
    pub(crate) fn published(&self, topic: &str) -> Option<(Vec<&str>, Offered)> {
        let all = &self.publishers;
        let offered = Offered {
            is_reliable: all.iter().all(|one| one.qos.reliability == Reliability::Reliable),
            // A late subscriber to the ROS 1 log does not expect earlier messages.
            is_transient_local: topic != "/rosout"
                && all.iter().all(|one| one.qos.durability == Durability::TransientLocal),
        };
        (!all.is_empty()).then(|| (names(all), offered))
    }
}

fn names(endpoints: &[EndpointInfo]) -> Vec<&str> {
    let mut names: Vec<&str> = endpoints.iter().map(|one| &*one.type_name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The endpoints of other nodes in the ROS 2 graph.
#[derive(Debug, Default)]
pub(crate) struct Ros2Side {
    pub(crate) topics: BTreeMap<String, Ros2Topic>,
    /// The services that have a server, with the server's type.
    pub(crate) services: BTreeMap<String, String>,
}

impl Ros2Side {
    pub(crate) fn of(node: &Node) -> Self {
        let graph = node.context().graph();
        let own = node.context().session().gid();
        let mut side = Self::default();
        for endpoint in &graph.endpoints {
            if !endpoint.is_ros || endpoint.gid.is_of_session_of(&own) {
                continue;
            }
            match endpoint.kind {
                EndpointKind::Publisher => {
                    let topic = side.topics.entry(endpoint.name.clone()).or_default();
                    topic.publishers.push(endpoint.clone());
                }
                EndpointKind::Subscription => {
                    let topic = side.topics.entry(endpoint.name.clone()).or_default();
                    topic.subscriptions.push(endpoint.clone());
                }
                EndpointKind::Service => {
                    side.services.insert(endpoint.name.clone(), endpoint.type_name.clone());
                }
                EndpointKind::Client => {}
            }
        }
        side
    }
}
