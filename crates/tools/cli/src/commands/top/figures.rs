//! The current figures of the system: from the graph, from the topics that the command listens to,
//! and from the processes of nodes.

use std::collections::{BTreeMap, HashMap};

use feros_engine::GraphSnapshot;
use feros_engine::name::is_hidden;
use feros_monitor::{
    NodeSummary, ProcessFigures, ProcessMeter, TopicFigures, TopicMeter, TopicSummary, nodes,
    topics,
};

use super::super::topic::watch::type_in;
use crate::connection::Connection;

/// Watches a system.
pub(super) struct Watcher<'a> {
    connection: &'a Connection,
    pub(super) graph: std::sync::Arc<GraphSnapshot>,
    pub(super) topics: Vec<TopicSummary>,
    pub(super) nodes: Vec<NodeSummary>,
    meters: BTreeMap<String, TopicMeter>,
    /// The topics that the command cannot listen to, with the reasons.
    refused: BTreeMap<String, String>,
    figures: BTreeMap<String, TopicFigures>,
    processes: ProcessMeter,
    process_figures: HashMap<u32, ProcessFigures>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        Self {
            connection,
            graph: connection.context.graph(),
            topics: Vec::new(),
            nodes: Vec::new(),
            meters: BTreeMap::new(),
            refused: BTreeMap::new(),
            figures: BTreeMap::new(),
            processes: ProcessMeter::default(),
            process_figures: HashMap::new(),
        }
    }

    /// Updates all figures; call this about once a second.
    pub(super) fn look(&mut self, with_hidden: bool) {
        self.graph = self.connection.context.graph();
        let own = self.connection.context.session().gid();
        self.topics = topics(&self.graph, own);
        self.topics.retain(|topic| with_hidden || !is_hidden(&topic.name));
        self.nodes = nodes(&self.graph, own);
        self.nodes.retain(|node| with_hidden || !is_hidden(&node.name.to_string()));
        let read = |(topic, meter): (&String, &TopicMeter)| (topic.clone(), meter.read());
        self.figures = self.meters.iter().map(read).collect();
        let pids: std::collections::BTreeSet<u32> =
            self.nodes.iter().filter_map(|node| node.pid).collect();
        self.process_figures = self.processes.read(pids);
    }

    /// Listens to all topics, for output that shows them all.
    pub(super) fn listen_to_all(&mut self) {
        let all: Vec<String> = self.topics.iter().map(|topic| topic.name.clone()).collect();
        self.listen_to(&all);
    }

    /// Listens to these topics, and no longer to others.
    pub(super) fn listen_to(&mut self, wanted: &[String]) {
        self.meters.retain(|topic, _| wanted.contains(topic));
        self.refused.retain(|topic, _| wanted.contains(topic));
        for topic in wanted {
            let has_publisher =
                self.topics.iter().any(|known| known.name == *topic && known.publishers > 0);
            if !has_publisher || self.meters.contains_key(topic) || self.refused.contains_key(topic)
            {
                continue;
            }
            let made = type_in(&self.graph, topic)
                .and_then(|identity| Ok(TopicMeter::new(&self.connection.node, topic, &identity)?));
            match made {
                Ok(meter) => {
                    self.meters.insert(topic.clone(), meter);
                }
                Err(error) => {
                    self.refused.insert(topic.clone(), error.to_string());
                }
            }
        }
    }

    /// Returns the figures of a topic's messages, or `None` if the command does not subscribe to
    /// the topic.
    pub(super) fn figures(&self, topic: &str) -> Option<TopicFigures> {
        self.figures.get(topic).copied()
    }

    /// Whether an endpoint belongs to this command.
    pub(super) fn is_own(&self, endpoint: &feros_engine::EndpointInfo) -> bool {
        let own = self.connection.context.session().gid();
        endpoint.gid.is_of_session_of(&own)
    }

    /// The reason why the command cannot listen to a topic.
    pub(super) fn refusal(&self, topic: &str) -> Option<&str> {
        self.refused.get(topic).map(String::as_str)
    }

    /// The costs of a node's process, if it runs on this host.
    pub(super) fn process(&self, node: &NodeSummary) -> Option<ProcessFigures> {
        self.process_figures.get(&node.pid?).copied()
    }
}
