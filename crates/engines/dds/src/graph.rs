//! The tables of discovered participants, endpoints and nodes. Participants and endpoints are found
//! by the engine's discovery, and nodes by `ros_discovery_info`. The listeners of the engine update
//! the tables, so no thread polls.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use feros_engine::engine::{GraphChangeGuard, GraphListeners};
use feros_engine::graph::EndpointNode;
use feros_engine::{
    DiscoveryForm, EndpointInfo, EndpointKind, FailureCounter, Gid, GraphSnapshot, NodeInfo,
    Notify, ParticipantInfo, QosProfile,
};

use feros_engine::dds::discovery_info::{NodeEntities, ParticipantEntities};
use feros_engine::dds::library::Library;
use feros_engine::dds::names::{self, RosTopic};
use feros_engine::dds::user_data::{EndpointData, ParticipantData};
use feros_sync::Mutex;

use crate::announced_qos::as_announced;

/// An endpoint as the engine discovered it.
#[derive(Debug, Clone, PartialEq)]
pub struct WireEndpoint {
    /// The identity.
    pub gid: Gid,
    /// True if the endpoint is a writer, false if it is a reader.
    pub is_writer: bool,
    /// The topic on the wire.
    pub topic: String,
    /// The type on the wire.
    pub type_name: String,
    /// The announced policies.
    pub qos: QosProfile,
    /// The content of its USER_DATA.
    pub data: EndpointData,
}

/// A local endpoint that must be notified of endpoints of its topic with another type.
pub trait IncompatibleType: Send + Sync {
    /// This function is called once for each such endpoint.
    fn incompatible_type(&self);
}

struct LocalEndpoint {
    gid: Gid,
    is_writer: bool,
    topic: String,
    type_name: String,
    watcher: Weak<dyn IncompatibleType>,
}

impl LocalEndpoint {
    fn clashes_with(&self, other: &WireEndpoint) -> bool {
        self.topic == other.topic
            && self.is_writer != other.is_writer
            && self.type_name != other.type_name
    }
}

#[derive(Default)]
struct Participant {
    data: ParticipantData,
    /// The library that the participant announces, if the engine tells.
    library: Option<Library>,
    /// The form in which the participant announces its nodes.
    form: Option<DiscoveryForm>,
    /// The nodes that the participant has announced, or `None` before the first announcement.
    nodes: Option<Vec<NodeEntities>>,
}

#[derive(Default)]
struct State {
    generation: u64,
    snapshot: Option<Arc<GraphSnapshot>>,
    participants: HashMap<[u8; 12], (Gid, Participant)>,
    /// The endpoints are boxed because half of the slots of a B-tree are empty.
    endpoints: BTreeMap<Gid, Box<WireEndpoint>>,
    local: Vec<LocalEndpoint>,
}

/// The graph as one session knows it.
#[derive(Default)]
pub struct Graph {
    state: Mutex<State>,
    listeners: GraphListeners,
    /// Counts the announcements of nodes that could not be read.
    refused_announcements: FailureCounter,
}

impl Graph {
    /// Adds a participant, or updates it. `library` is the library that the participant announces,
    /// or `None` if the engine does not tell.
    pub fn participant_appeared(&self, gid: Gid, data: ParticipantData, library: Option<Library>) {
        self.change(|state| {
            let participant = state.participants.entry(gid.participant_prefix()).or_default();
            participant.0 = gid;
            participant.1.data = data;
            participant.1.library = library.or(participant.1.library);
        });
    }

    /// Removes a participant.
    pub fn participant_left(&self, gid: Gid) {
        self.change(|state| state.participants.remove(&gid.participant_prefix()));
    }

    /// Adds an endpoint, or updates it.
    pub fn endpoint_appeared(&self, endpoint: WireEndpoint) {
        let clashing = self.change(|state| {
            let known = state.endpoints.contains_key(&endpoint.gid);
            let clashes =
                state.local.iter().filter(|local| !known && local.clashes_with(&endpoint));
            let clashing = clashes.map(|local| local.watcher.clone()).collect::<Vec<_>>();
            state.endpoints.insert(endpoint.gid, Box::new(endpoint));
            clashing
        });
        clashing.iter().filter_map(Weak::upgrade).for_each(|watcher| watcher.incompatible_type());
    }

    /// Removes an endpoint.
    pub fn endpoint_left(&self, gid: Gid) {
        self.change(|state| state.endpoints.remove(&gid));
    }

    /// Sets the nodes of a participant, local or remote.
    pub fn announced(&self, entities: ParticipantEntities) {
        self.change(|state| {
            let prefix = entities.participant.participant_prefix();
            let participant = state.participants.entry(prefix).or_default();
            participant.0 = entities.participant;
            participant.1.form = Some(DiscoveryForm::SinceIron);
            participant.1.nodes = Some(entities.nodes);
        });
    }

    /// Counts an announcement of nodes that cannot be read, or that a participant sent on behalf of
    /// another participant.
    pub fn announcement_refused(&self, from: Gid) {
        if let Some(so_far) = self.refused_announcements.so_far() {
            tracing::warn!(
                "a malformed announcement of nodes came from participant {from}{so_far}: it is \
                 older than ROS 2 Iron, or faulty; its nodes are not shown"
            );
        }
    }

    /// Notifies `watcher` once for each endpoint of the topic with another type. This includes
    /// endpoints that are already known and endpoints that are discovered later.
    pub fn watch_type(
        &self,
        gid: Gid,
        is_writer: bool,
        topic: &str,
        type_name: &str,
        watcher: Weak<dyn IncompatibleType>,
    ) {
        let (topic, type_name) = (topic.to_owned(), type_name.to_owned());
        let local = LocalEndpoint { gid, is_writer, topic, type_name, watcher };
        let (clashes, watcher) = {
            let mut state = self.state.lock();
            let clashes =
                state.endpoints.values().filter(|other| local.clashes_with(other)).count();
            let watcher = local.watcher.upgrade();
            state.local.push(local);
            (clashes, watcher)
        };
        if let Some(watcher) = watcher {
            (0..clashes).for_each(|_| watcher.incompatible_type());
        }
    }

    /// Ends the notifications that `watch_type` started.
    pub fn unwatch_type(&self, gid: Gid) {
        self.state.lock().local.retain(|local| local.gid != gid);
    }

    /// Returns the endpoint with this gid, if it is known.
    pub fn endpoint(&self, gid: Gid) -> Option<WireEndpoint> {
        self.state.lock().endpoints.get(&gid).map(|endpoint| WireEndpoint::clone(endpoint))
    }

    /// Returns the policies of all writers, or of all readers, of one wire topic.
    pub fn profiles(&self, topic: &str, of_writers: bool) -> Vec<QosProfile> {
        let state = self.state.lock();
        let endpoints =
            state.endpoints.values().filter(|e| e.topic == topic && e.is_writer == of_writers);
        endpoints.map(|endpoint| endpoint.qos).collect()
    }

    /// Returns the current graph. While nothing changes, all calls return the same object.
    pub fn snapshot(&self) -> Arc<GraphSnapshot> {
        let mut state = self.state.lock();
        if let Some(snapshot) = &state.snapshot {
            return snapshot.clone();
        }
        let snapshot = Arc::new(state.make_snapshot());
        state.snapshot = Some(snapshot.clone());
        snapshot
    }

    /// Calls `notify` after each change of the graph until the returned guard is dropped.
    pub fn on_change(&self, notify: Notify) -> GraphChangeGuard {
        self.listeners.add(notify)
    }

    /// Ends all notifications.
    pub fn close(&self) {
        self.listeners.close();
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = {
            let mut state = self.state.lock();
            state.generation += 1;
            state.snapshot = None;
            change(&mut state)
        };
        self.listeners.notify();
        result
    }
}

impl State {
    fn make_snapshot(&self) -> GraphSnapshot {
        let mut nodes = Vec::new();
        let mut owners = HashMap::new();
        for (gid, participant) in self.participants.values() {
            for node in participant.nodes.iter().flatten() {
                owners
                    .extend(node.readers.iter().chain(&node.writers).map(|gid| (*gid, &node.name)));
                nodes.push(NodeInfo {
                    name: node.name.clone(),
                    enclave: participant.data.enclave.clone(),
                    participant: *gid,
                });
            }
        }
        nodes.sort();
        let owner = |gid: &Gid| match owners.get(gid) {
            Some(name) => EndpointNode::Named((*name).clone()),
            None => match self.participants.get(&gid.participant_prefix()) {
                Some((_, Participant { nodes: Some(_), .. })) => EndpointNode::Unknown,
                _ => EndpointNode::NotRos,
            },
        };
        let mut endpoints: Vec<_> =
            self.endpoints.values().filter_map(|e| endpoint_info(e, &owner)).collect();
        endpoints.sort_by(|a, b| (&a.name, a.kind, a.gid).cmp(&(&b.name, b.kind, b.gid)));
        let participants = self.participant_infos();
        GraphSnapshot { generation: self.generation, participants, nodes, endpoints }
    }

    /// The participants, sorted by gid, with what they and their endpoints announce. This includes
    /// endpoints that `make_snapshot` leaves out.
    fn participant_infos(&self) -> Vec<ParticipantInfo> {
        let mut infos: Vec<_> = self
            .participants
            .iter()
            .map(|(prefix, (gid, participant))| ParticipantInfo {
                form: participant.form,
                library: Some(
                    participant.library.unwrap_or_else(|| Library::of_guid_prefix(*prefix)),
                ),
                is_feros: participant.data.is_feros,
                ..ParticipantInfo::new(*gid)
            })
            .collect();
        infos.sort_by_key(|info| info.gid);
        for endpoint in self.endpoints.values() {
            let prefix = endpoint.gid.participant_prefix();
            // Gids are sorted by their prefixes, and a participant has a single gid.
            let found = infos.binary_search_by_key(&prefix, |info| info.gid.participant_prefix());
            let Ok(place) = found else { continue };
            let (info, data) = (&mut infos[place], &endpoint.data);
            info.is_feros |= data.announcement.is_some();
            info.has_type_hashes |= data.type_hash.is_some();
            info.has_buffer_backends |= data.buffer_backends.is_some();
        }
        infos
    }
}

/// Converts an endpoint to its form in ROS. Returns `None` for endpoints that are used only for
/// discovery or replies.
fn endpoint_info(
    endpoint: &WireEndpoint,
    owner: &dyn Fn(&Gid) -> EndpointNode,
) -> Option<EndpointInfo> {
    let topic_kind = || {
        if endpoint.is_writer { EndpointKind::Publisher } else { EndpointKind::Subscription }
    };
    let (kind, name, type_name, is_ros) = match names::demangle_topic(&endpoint.topic) {
        RosTopic::Topic(name) => {
            (topic_kind(), name, names::demangle_type(&endpoint.type_name), true)
        }
        RosTopic::Request(name) => {
            let kind =
                if endpoint.is_writer { EndpointKind::Client } else { EndpointKind::Service };
            (kind, name, names::demangle_service_type(&endpoint.type_name), true)
        }
        RosTopic::Reply(_) | RosTopic::Other(names::DISCOVERY_TOPIC) => return None,
        RosTopic::Other(name) => (topic_kind(), name, endpoint.type_name.clone(), false),
    };
    Some(EndpointInfo {
        kind,
        name: name.to_owned(),
        type_name,
        type_hash: endpoint.data.type_hash,
        gid: endpoint.gid,
        node: owner(&endpoint.gid),
        qos: as_announced(&endpoint.gid, endpoint.qos),
        is_ros,
        announcement: endpoint.data.announcement.clone(),
        buffer_backends: endpoint.data.buffer_backends.clone(),
    })
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Graph")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use feros_engine::NodeName;

    use super::*;

    fn gid(participant: u8, entity: u8) -> Gid {
        let mut bytes = [participant; 16];
        bytes[15] = entity;
        Gid(bytes)
    }

    fn announced(data: &str) -> ParticipantData {
        ParticipantData::parse(data.as_bytes())
    }

    fn endpoint(gid: Gid, is_writer: bool, topic: &str, type_name: &str) -> WireEndpoint {
        WireEndpoint {
            gid,
            is_writer,
            topic: topic.into(),
            type_name: type_name.into(),
            qos: QosProfile::default(),
            data: EndpointData::default(),
        }
    }

    #[test]
    fn nodes_and_endpoints_are_put_together() {
        let graph = Graph::default();
        graph.participant_appeared(gid(1, 0), announced("enclave=/;"), None);
        graph.endpoint_appeared(endpoint(gid(1, 3), true, "rt/a", "p::msg::dds_::A_"));
        graph.endpoint_appeared(endpoint(
            gid(1, 4),
            false,
            "rq/sRequest",
            "p::srv::dds_::S_Request_",
        ));
        graph.endpoint_appeared(endpoint(
            gid(1, 5),
            true,
            "rr/sReply",
            "p::srv::dds_::S_Response_",
        ));
        graph.endpoint_appeared(endpoint(
            gid(1, 6),
            true,
            "ros_discovery_info",
            names::DISCOVERY_TYPE,
        ));
        assert_eq!(graph.snapshot().endpoints[0].node, EndpointNode::NotRos);

        let name = NodeName::new("/", "n").unwrap();
        let node = NodeEntities { name: name.clone(), readers: vec![gid(1, 4)], writers: vec![] };
        graph.announced(ParticipantEntities { participant: gid(1, 0), nodes: vec![node] });
        let snapshot = graph.snapshot();
        let found: Vec<_> =
            snapshot.endpoints.iter().map(|e| (e.kind, e.name.as_str(), &e.node)).collect();
        let expected = [
            (EndpointKind::Publisher, "/a", &EndpointNode::Unknown),
            (EndpointKind::Service, "/s", &EndpointNode::Named(name)),
        ];
        assert_eq!(found, expected);
        assert_eq!(snapshot.endpoints[1].type_name, "p/srv/S");
        assert_eq!(snapshot.nodes[0].enclave, "/");
        assert!(Arc::ptr_eq(&snapshot, &graph.snapshot()), "nothing changed");

        graph.participant_left(gid(1, 0));
        graph.endpoint_left(gid(1, 3));
        let later = graph.snapshot();
        assert!(
            later.nodes.is_empty()
                && later.endpoints.len() == 1
                && later.generation > snapshot.generation
        );
    }

    /// Participants made by hand, from what the distributions announce.
    #[test]
    fn participants_are_shown_with_what_they_and_their_endpoints_announce() {
        const HASH: &str =
            "typehash=RIHS01_c62fbb99d94e1b25e8ef9e109f9581956bb1b3361a45a4e5810c36a90d29932e;";
        let graph = Graph::default();
        let writer = |participant, topic: &str, data: &str| WireEndpoint {
            data: EndpointData::parse(data.as_bytes()),
            ..endpoint(gid(participant, 3), true, topic, "p::msg::dds_::A_")
        };
        let nodes = |participant| ParticipantEntities {
            participant: gid(participant, 0),
            nodes: Vec::new(),
        };
        let fast_dds = Library::parse("01.0f 3.2.2.0");
        graph.participant_appeared(gid(3, 0), announced("enclave=/;"), fast_dds);
        graph.announced(nodes(3));
        graph.endpoint_appeared(writer(3, "rt/a", HASH));
        let lyrical = format!("{HASH}bufbe=cpu:,gpu:device=0;");
        graph.participant_appeared(gid(2, 0), announced("enclave=/;"), None);
        graph.endpoint_appeared(writer(2, "rt/image", &lyrical));
        graph.participant_appeared(gid(4, 0), announced("enclave=/;feros=0.1.0;"), None);
        graph.endpoint_appeared(writer(5, "rt/of_a_participant_that_is_not_known", HASH));

        let snapshot = graph.snapshot();
        let [second, third, fourth] = &snapshot.participants[..] else {
            panic!("three participants: {:?}", snapshot.participants)
        };
        assert_eq!([second.gid, third.gid, fourth.gid], [2, 3, 4].map(|number| gid(number, 0)));
        assert!(second.has_buffer_backends && second.has_type_hashes && second.form.is_none());
        assert_eq!(second.library, Some(Library::of_guid_prefix([2; 12])));
        assert!(third.has_type_hashes && !third.has_buffer_backends && !third.is_feros);
        assert_eq!((third.form, third.library), (Some(DiscoveryForm::SinceIron), fast_dds));
        assert!(fourth.is_feros && !fourth.has_type_hashes);
        let image = snapshot.endpoints.iter().find(|endpoint| endpoint.name == "/image").unwrap();
        assert!(image.type_hash.is_some());
        let backends = image.buffer_backends.iter().flat_map(|all| all.iter());
        let backends: Vec<_> = backends.map(ToString::to_string).collect();
        assert_eq!(backends, ["cpu", "gpu(device=0)"]);

        // A later announcement does not name the library again, and is no reason to forget it.
        graph.participant_appeared(gid(3, 0), announced("enclave=/;"), None);
        assert_eq!(graph.snapshot().participants[1].library, fast_dds);
        graph.participant_left(gid(3, 0));
        assert_eq!(graph.snapshot().participants.len(), 2);
    }

    #[test]
    fn guards_end_notifications() {
        let graph = Arc::new(Graph::default());
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = calls.clone();
        let guard = graph.on_change(Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        }));
        graph.participant_appeared(gid(1, 0), ParticipantData::default(), None);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        drop(guard);
        graph.participant_left(gid(1, 0));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn types_clash_once_per_endpoint_whoever_comes_first() {
        #[derive(Default)]
        struct Count(AtomicUsize);
        impl IncompatibleType for Count {
            fn incompatible_type(&self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let graph = Graph::default();
        let count = Arc::new(Count::default());
        let weak: Weak<dyn IncompatibleType> = Arc::<Count>::downgrade(&count);
        graph.endpoint_appeared(endpoint(gid(1, 3), true, "rt/a", "A"));
        graph.watch_type(gid(2, 4), false, "rt/a", "B", weak);
        graph.endpoint_appeared(endpoint(gid(1, 3), true, "rt/a", "A"));
        graph.endpoint_appeared(endpoint(gid(1, 5), true, "rt/a", "A"));
        graph.endpoint_appeared(endpoint(gid(1, 6), false, "rt/a", "A"));
        graph.endpoint_appeared(endpoint(gid(1, 7), true, "rt/a", "B"));
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        graph.unwatch_type(gid(2, 4));
        graph.endpoint_appeared(endpoint(gid(1, 8), true, "rt/a", "A"));
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
    }
    #[test]
    fn announcements_that_cannot_be_read_fill_no_log() {
        let graph = Graph::default();
        let lines = feros_test_support::log_lines(|| {
            for _ in 0..100 {
                graph.announcement_refused(gid(1, 3));
            }
        });
        assert_eq!(lines.len(), 7, "{lines:?}");
        assert!(lines[6].contains("(64 so far)"), "{lines:?}");
    }
}
