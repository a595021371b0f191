//! The figures of a running system that the page shows each second: topics, their matches with
//! their transports, nodes with the costs of their processes, services, actions, and the view's own
//! connections.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Instant, SystemTime};

use feros::{Durability, Reliability, Transport, TypeIdentity, transports_of_topic};
use feros_engine::graph::NamesAndTypes;
use feros_engine::{EndpointInfo, EndpointKind, FailureCounter, Gid, GraphSnapshot};
use feros_monitor::{
    DistributionAdvice, DistributionGroup, Distributions, NodeSummary, ProcessFigures,
    ProcessMeter, TopicFigures, TopicMeter, TopicSummary, nodes, topics,
};
use serde::Serialize;

use crate::server::access::host_name;
use crate::server::connection_graph::node_name;
use crate::server::hub::Hub;
use crate::server::layers::{EdgeLayers, LayerReader, LayersOfPairs, MedianAndP99, Traces};
use crate::server::outbox::Counts;

/// The limit on topics that are measured, since each costs a subscription.
pub(crate) const MAX_MEASURED: usize = 256;
/// The memory of processes is read once in this many readings, since that takes the system some
/// time.
const MEMORY_READINGS: u32 = 5;

/// Makes the figures repeatedly, and keeps the state between two readings.
#[derive(Default)]
pub(crate) struct FigureMaker {
    meters: BTreeMap<String, TopicMeter>,
    processes: ProcessMeter,
    layers: Option<LayerReader>,
    /// The memory of processes when it was last read.
    memory: HashMap<u32, u64>,
    readings: u32,
    last: Option<(Instant, Counts)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures<'a> {
    op: &'static str,
    time_nanos: String,
    host: String,
    topics: Vec<Topic<'a>>,
    edges: Vec<Edge<'a>>,
    nodes: Vec<Node>,
    distributions: Vec<Distribution>,
    distribution_advice: Vec<Advice>,
    services: Vec<Service>,
    actions: Vec<Service>,
    traces: Option<Traces>,
    connections: Connections,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Topic<'a> {
    name: &'a str,
    types: &'a [String],
    publishers: usize,
    subscriptions: usize,
    transports: Transports,
    rate_hz: Option<f64>,
    bytes_per_second: Option<f64>,
    size_bytes: Option<f64>,
    age_nanos: Option<MedianAndP99>,
    lost: Option<u64>,
    mismatches: Vec<Mismatch>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Transports {
    intra_process: usize,
    shared_memory: usize,
    network: usize,
    none: usize,
}

#[derive(Serialize)]
struct Mismatch {
    publisher: String,
    subscription: String,
    problem: String,
    cure: String,
}

#[derive(Serialize)]
struct Edge<'a> {
    topic: &'a str,
    publisher: String,
    subscription: String,
    transport: &'static str,
    why: Option<String>,
    reliability: &'static str,
    durability: &'static str,
    layers: Option<EdgeLayers>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    name: String,
    pid: Option<u32>,
    cpu: Option<f64>,
    pss_bytes: Option<u64>,
    is_lifecycle: bool,
    is_container: bool,
    distribution: Option<String>,
}

/// The participants whose announcements leave the same distributions of ROS 2.
#[derive(Serialize)]
struct Distribution {
    name: String,
    participants: usize,
    libraries: Vec<String>,
}

/// What to know about the distributions: the same sentences as those of `feros doctor`.
#[derive(Serialize)]
struct Advice {
    text: String,
    cure: Option<String>,
}

/// A service or an action.
#[derive(Serialize)]
struct Service {
    name: String,
    #[serde(rename = "type")]
    service_type: String,
    servers: BTreeSet<String>,
    clients: BTreeSet<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Connections {
    count: usize,
    sent_bytes_per_second: f64,
    dropped_messages: u64,
    left_out_messages: u64,
}

impl FigureMaker {
    /// Sends figures to all clients that want them; to be called about once per second.
    pub(crate) fn tell(&mut self, hub: &Hub, graph: &GraphSnapshot) {
        let clients = hub.clients.all();
        let wanting: Vec<_> = clients.iter().filter(|client| client.wants.lock().figures).collect();
        let summaries = topics(graph, hub.own());
        let wanted: Vec<_> =
            wanting.iter().map(|client| client.wants.lock().measured.clone()).collect();
        let reads_traces = wanted.iter().any(|topics| !topics.is_empty());
        let measured = measured_topics(wanted, &summaries);
        self.measure(hub, graph, &summaries, &measured);
        if wanting.is_empty() {
            *self = Self::default();
            return;
        }
        let text: std::sync::Arc<str> =
            self.text(hub, graph, &summaries, reads_traces.then_some(&measured)).into();
        wanting.iter().for_each(|client| client.outbox.tell_figures(text.clone()));
    }

    /// Measures these topics, and stops measuring others.
    fn measure(
        &mut self,
        hub: &Hub,
        graph: &GraphSnapshot,
        summaries: &[TopicSummary],
        measured: &BTreeSet<String>,
    ) {
        self.meters.retain(|topic, _| measured.contains(topic));
        for summary in summaries {
            let is_wanted = measured.contains(&summary.name) && summary.publishers > 0;
            if !is_wanted || self.meters.contains_key(&summary.name) {
                continue;
            }
            // A topic with several types is not measured, since the figures would belong to no
            // single type; the mismatches report the types.
            let [type_name] = &summary.types[..] else { continue };
            let mut hashes: Vec<_> = graph
                .endpoints_of(EndpointKind::Publisher, &summary.name)
                .filter_map(|endpoint| endpoint.type_hash)
                .collect();
            hashes.dedup();
            let hash = if hashes.len() == 1 { hashes.pop() } else { None };
            let identity = TypeIdentity { name: type_name.clone(), hash };
            match TopicMeter::new(&hub.node, &summary.name, &identity) {
                Ok(meter) => {
                    self.meters.insert(summary.name.clone(), meter);
                }
                Err(error) => {
                    // The server tries again each second.
                    static UNMEASURED: FailureCounter = FailureCounter::new();
                    if let Some(so_far) = UNMEASURED.so_far() {
                        tracing::warn!("{} is not measured: {error}{so_far}", summary.name);
                    }
                }
            }
        }
    }

    fn text(
        &mut self,
        hub: &Hub,
        graph: &GraphSnapshot,
        summaries: &[TopicSummary],
        traced: Option<&BTreeSet<String>>,
    ) -> String {
        let own = hub.own();
        let (traces, mut layers) = self.read_layers(hub, traced);
        let services = service_names(graph, own);
        let distributions = Distributions::of(graph, &[own]);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let figures = Figures {
            op: "figures",
            time_nanos: since.as_nanos().to_string(),
            host: host_name(),
            topics: summaries.iter().map(|summary| self.topic(summary)).collect(),
            edges: summaries
                .iter()
                .flat_map(|summary| edges(graph, own, &summary.name, &mut layers))
                .collect(),
            nodes: self.nodes(nodes(graph, own), &services, &distributions),
            distributions: distributions.groups.iter().map(distribution).collect(),
            distribution_advice: distributions.advice().into_iter().map(advice).collect(),
            services: with_users(graph, own, &services),
            actions: actions(graph, own),
            traces,
            connections: self.connections(hub),
        };
        // Serializing fails only for maps with keys other than strings, and for values that return
        // an error themselves; figures have neither.
        serde_json::to_string(&figures).unwrap_or_default()
    }

    /// Reads the layers of these topics from the traces, if any client wants them.
    fn read_layers(
        &mut self,
        hub: &Hub,
        traced: Option<&BTreeSet<String>>,
    ) -> (Option<Traces>, LayersOfPairs) {
        let Some(folder) = &hub.options.traces else { return Default::default() };
        let Some(measured) = traced else {
            self.layers = None;
            return (Some(Traces::unread(folder)), LayersOfPairs::new());
        };
        let reader = self.layers.get_or_insert_with(|| LayerReader::new(folder));
        let (traces, layers) = reader.read(measured);
        (Some(traces), layers)
    }

    fn topic<'a>(&self, summary: &'a TopicSummary) -> Topic<'a> {
        let figures = self.meters.get(&summary.name).map(TopicMeter::read);
        let of = |value: fn(&TopicFigures) -> f64| figures.as_ref().map(value);
        let matches = summary.matches;
        let is_moving = |figures: &&TopicFigures| figures.rate_hz > 0.0;
        Topic {
            name: &summary.name,
            types: &summary.types,
            publishers: summary.publishers,
            subscriptions: summary.subscriptions,
            transports: Transports {
                intra_process: matches.intra_process,
                shared_memory: matches.shared_memory,
                network: matches.network,
                none: matches.none,
            },
            rate_hz: of(|figures| figures.rate_hz),
            bytes_per_second: of(|figures| figures.bytes_per_second),
            size_bytes: figures
                .as_ref()
                .filter(is_moving)
                .map(|figures| figures.bytes_per_second / figures.rate_hz),
            age_nanos: figures.as_ref().and_then(age),
            lost: figures.as_ref().map(|figures| figures.lost),
            mismatches: summary.mismatches.iter().map(mismatch).collect(),
        }
    }

    fn nodes(
        &mut self,
        summaries: Vec<NodeSummary>,
        services: &NamesAndTypes,
        distributions: &Distributions,
    ) -> Vec<Node> {
        let pids: BTreeSet<u32> = summaries.iter().filter_map(|node| node.pid).collect();
        let costs: HashMap<u32, ProcessFigures> = self.processes.read(pids.iter().copied());
        if self.readings.is_multiple_of(MEMORY_READINGS) {
            let memory = |pid: &u32| Some((*pid, feros_monitor::proportional_memory_bytes(*pid)?));
            self.memory = pids.iter().filter_map(memory).collect();
        }
        self.readings = self.readings.wrapping_add(1);
        let node = |summary: NodeSummary| {
            let name = summary.name.fully_qualified();
            let serves = |service: &str, wanted: &str| {
                let types = services.get(&format!("{name}/{service}"));
                types.is_some_and(|types| types.contains(wanted))
            };
            Node {
                pid: summary.pid,
                cpu: summary
                    .pid
                    .and_then(|pid| costs.get(&pid)?.cpu_percent)
                    .map(|percent| percent / 100.0),
                pss_bytes: summary.pid.and_then(|pid| self.memory.get(&pid).copied()),
                is_lifecycle: serves("change_state", "lifecycle_msgs/srv/ChangeState"),
                is_container: serves("_container/load_node", "composition_interfaces/srv/LoadNode"),
                distribution: distributions.of_node(&summary.name).map(DistributionGroup::name),
                name,
            }
        };
        summaries.into_iter().map(node).collect()
    }

    fn connections(&mut self, hub: &Hub) -> Connections {
        let (now, counts) = (Instant::now(), hub.clients.counts());
        let former = self.last.replace((now, counts));
        let sent_bytes_per_second = former.map_or(0.0, |(before, former)| {
            let seconds = now.duration_since(before).as_secs_f64();
            #[allow(clippy::cast_precision_loss)] // far below 2^52
            let bytes = counts.sent_bytes.saturating_sub(former.sent_bytes) as f64;
            if seconds > 0.0 { bytes / seconds } else { 0.0 }
        });
        Connections {
            count: hub.clients.count(),
            sent_bytes_per_second,
            dropped_messages: counts.dropped,
            left_out_messages: counts.left_out,
        }
    }
}

fn distribution(group: &DistributionGroup) -> Distribution {
    Distribution {
        name: group.name(),
        participants: group.participants,
        libraries: group.libraries.iter().map(ToString::to_string).collect(),
    }
}

fn advice(DistributionAdvice { text, cure }: DistributionAdvice) -> Advice {
    Advice { text, cure }
}

/// Selects existing topics to measure, one from each client's list in turn.
fn measured_topics(wanted: Vec<BTreeSet<String>>, summaries: &[TopicSummary]) -> BTreeSet<String> {
    let known: BTreeSet<&str> = summaries.iter().map(|summary| summary.name.as_str()).collect();
    let is_known = |topic: &String| known.contains(topic.as_str());
    let mut in_turn: Vec<_> =
        wanted.into_iter().map(|topics| topics.into_iter().filter(is_known)).collect();
    let mut measured = BTreeSet::new();
    loop {
        let round: Vec<String> = in_turn.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            return measured;
        }
        for topic in round {
            if measured.len() < MAX_MEASURED {
                measured.insert(topic);
            }
        }
    }
}

fn age(figures: &TopicFigures) -> Option<MedianAndP99> {
    let nanos = |age: std::time::Duration| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
    Some(MedianAndP99 { p50: nanos(figures.age_p50?), p99: nanos(figures.age_p99?) })
}

fn mismatch(found: &feros_engine::graph::Mismatch) -> Mismatch {
    let [publisher, subscription] = found.sides();
    let cure = sentence(&found.cure);
    Mismatch { publisher, subscription, problem: found.reason.clone(), cure }
}

/// Returns a sentence with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// Returns the matches of a topic, with their transports.
fn edges<'a>(
    graph: &'a GraphSnapshot,
    own: Gid,
    topic: &'a str,
    layers: &mut LayersOfPairs,
) -> Vec<Edge<'a>> {
    let is_own = |endpoint: &EndpointInfo| endpoint.gid.is_of_session_of(&own);
    let found = transports_of_topic(graph, topic).into_iter();
    let found = found.filter(|found| !is_own(found.publisher) && !is_own(found.subscription));
    let edge = |found: feros::TransportBetween<'a>| Edge {
        layers: layers.remove(&(found.publisher.gid, found.subscription.gid)),
        topic,
        publisher: node_name(found.publisher),
        subscription: node_name(found.subscription),
        transport: match found.transport {
            Some(Transport::IntraProcess) => "intraProcess",
            Some(Transport::SharedMemory) => "sharedMemory",
            Some(Transport::Network) => "network",
            None => "none",
        },
        why: found.reason.map(|reason| reason.to_string()),
        // A match has the policies that its subscription requests.
        reliability: match found.subscription.qos.reliability {
            Reliability::BestEffort => "best_effort",
            _ => "reliable",
        },
        durability: match found.subscription.qos.durability {
            Durability::TransientLocal => "transient_local",
            _ => "volatile",
        },
    };
    found.map(edge).collect()
}

/// Returns the services of other participants, with their types.
fn service_names(graph: &GraphSnapshot, own: Gid) -> NamesAndTypes {
    graph.names_and_types(|endpoint| {
        matches!(endpoint.kind, EndpointKind::Service | EndpointKind::Client)
            && !endpoint.gid.is_of_session_of(&own)
    })
}

fn with_users(graph: &GraphSnapshot, own: Gid, services: &NamesAndTypes) -> Vec<Service> {
    let mut found: BTreeMap<(&str, &str), Service> = BTreeMap::new();
    for (name, types) in services {
        for ty in types {
            let (servers, clients) = (BTreeSet::new(), BTreeSet::new());
            let service =
                Service { name: name.clone(), service_type: ty.clone(), servers, clients };
            found.insert((name, ty), service);
        }
    }
    for endpoint in &graph.endpoints {
        let key = (endpoint.name.as_str(), endpoint.type_name.as_str());
        let is_own = endpoint.gid.is_of_session_of(&own);
        let Some(service) = found.get_mut(&key).filter(|_| !is_own) else { continue };
        match endpoint.kind {
            EndpointKind::Service => service.servers.insert(node_name(endpoint)),
            EndpointKind::Client => service.clients.insert(node_name(endpoint)),
            EndpointKind::Publisher | EndpointKind::Subscription => continue,
        };
    }
    found.into_values().collect()
}

/// Returns the actions. A publisher of feedback counts as a server of the action, and a
/// subscription to feedback as a client.
fn actions(graph: &GraphSnapshot, own: Gid) -> Vec<Service> {
    let actions = graph.actions().into_iter();
    let actions =
        actions.flat_map(|(name, types)| types.into_iter().map(move |ty| (name.clone(), ty)));
    let action = |(name, service_type): (String, String)| {
        let topic = format!("{name}/_action/feedback");
        let users = |kind| {
            let endpoints = graph.endpoints_of(kind, &topic);
            let others = endpoints.filter(|endpoint| !endpoint.gid.is_of_session_of(&own));
            others.map(node_name).collect::<BTreeSet<_>>()
        };
        let (servers, clients) =
            (users(EndpointKind::Publisher), users(EndpointKind::Subscription));
        Service { name, service_type, servers, clients }
    };
    actions.map(action).filter(|found| found.servers.len() + found.clients.len() > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_of_each_client_are_measured_in_turn() {
        let topic = |name: &str| TopicSummary {
            name: name.to_owned(),
            types: Vec::new(),
            publishers: 1,
            subscriptions: 0,
            matches: feros_monitor::MatchesByTransport::default(),
            mismatches: Vec::new(),
        };
        let many: BTreeSet<String> = (0..1000).map(|number| format!("/a{number}")).collect();
        let mut there: Vec<_> = many.iter().map(|name| topic(name)).collect();
        there.push(topic("/z"));
        let one = |name: &str| BTreeSet::from([name.to_owned()]);
        let made_up = (0..256).map(|number| format!("/0{number}")).collect();
        let measured = measured_topics(vec![many, made_up, one("/z")], &there);
        assert_eq!(measured.len(), MAX_MEASURED);
        assert!(measured.contains("/z") && !measured.contains("/00"));
    }
}
