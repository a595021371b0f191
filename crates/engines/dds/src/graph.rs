//! The tables of discovered participants, endpoints and nodes. Participants and endpoints are found
//! by the engine's discovery, and nodes by `ros_discovery_info`. The listeners of the engine update
//! the tables, so no thread polls.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::sync::{Arc, Weak};

use feros_engine::engine::{GraphChangeGuard, GraphListeners, LOG_TARGET};
use feros_engine::graph::EndpointNode;
use feros_engine::{
    DiscoveryForm, EndpointInfo, EndpointKind, FailureCounter, Gid, GraphSnapshot, NodeInfo,
    Notify, OtherForms, ParticipantInfo, QosProfile,
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
    /// Its USER_DATA, or `None` before the participant itself is discovered.
    data: Option<ParticipantData>,
    /// The library that the participant announces, if the engine tells.
    library: Option<Library>,
    /// The form in which the participant announces its nodes.
    form: Option<DiscoveryForm>,
    /// The nodes that the participant has announced, or `None` before the first announcement.
    nodes: Option<Vec<NodeEntities>>,
}

impl Participant {
    fn enclave(&self) -> String {
        self.data.as_ref().map(|data| data.enclave.clone()).unwrap_or_default()
    }

    fn is_feros(&self) -> bool {
        self.data.as_ref().is_some_and(|data| data.is_feros)
    }

    /// The form, if it is known and the participant is known not to run Feros, which reads both
    /// forms.
    fn form_of_other_library(&self) -> Option<DiscoveryForm> {
        self.form.filter(|_| self.data.is_some() && !self.is_feros())
    }
}

#[derive(Default)]
struct State {
    generation: u64,
    snapshot: Option<Arc<GraphSnapshot>>,
    participants: HashMap<[u8; 12], (Gid, Participant)>,
    /// The newest announcements of participants that are found without the network. They hold from
    /// when the participant is discovered, which may be later, or once more.
    neighbours: HashMap<[u8; 12], ParticipantEntities>,
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
    other_forms: OtherForms,
}

/// What follows from a participant with a form that is not the form of this process.
fn consequence(form: DiscoveryForm) -> &'static str {
    match form {
        DiscoveryForm::Humble => {
            "it does not see the nodes of this process, and may run out of memory when it reads \
             about them"
        }
        DiscoveryForm::SinceIron => {
            "it does not see the nodes of this process, and nodes of Humble may run out of memory \
             when they read about its nodes"
        }
    }
}

impl Graph {
    /// The graph of a session that announces itself in this form.
    pub fn new(form: DiscoveryForm) -> Self {
        Self { other_forms: OtherForms::new(form), ..Self::default() }
    }

    /// Adds a participant, or updates it. `library` is the library that the participant announces,
    /// or `None` if the engine does not tell.
    pub fn participant_appeared(&self, gid: Gid, data: ParticipantData, library: Option<Library>) {
        let other = self.change(|state| {
            let participant = state.participants.entry(gid.participant_prefix()).or_default();
            participant.0 = gid;
            participant.1.data = Some(data);
            participant.1.library = library.or(participant.1.library);
            if let Some(entities) = state.neighbours.get(&gid.participant_prefix()) {
                participant.1.form = Some(entities.form);
                participant.1.nodes = Some(entities.nodes.clone());
            }
            participant.1.form_of_other_library()
        });
        self.see_form(gid, other);
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

    /// Reads the nodes of another participant from a sample of `ros_discovery_info`. A sample that
    /// cannot be read is counted.
    pub fn announcement_came(&self, writer: Gid, sample: &[u8]) {
        if let Some(entities) = self.read_announcement(writer, sample) {
            self.announced(entities);
        }
    }

    /// Reads a sample of `ros_discovery_info` from this participant, or counts it as refused.
    fn read_announcement(&self, from: Gid, sample: &[u8]) -> Option<ParticipantEntities> {
        match ParticipantEntities::parse(sample) {
            Ok(read) if read.participant.participant_prefix() == from.participant_prefix() => {
                return Some(read);
            }
            Ok(_) => self.refuse_announcement(from, "it is about another participant"),
            Err(error) => self.refuse_announcement(from, error),
        }
        None
    }

    /// Reads the nodes of a participant that is found without the network, from a sample of
    /// `ros_discovery_info`. They count while the participant is known.
    pub fn neighbour_announced(&self, participant: Gid, sample: &[u8]) {
        let prefix = participant.participant_prefix();
        let Some(entities) = self.read_announcement(participant, sample) else { return };
        let is_known = {
            let mut state = self.state.lock();
            state.neighbours.insert(prefix, entities.clone());
            state.participants.get(&prefix).is_some_and(|(_, known)| known.data.is_some())
        };
        if is_known {
            self.announced(entities);
        }
    }

    /// Forgets what [`neighbour_announced`](Self::neighbour_announced) has read.
    pub fn neighbour_ended(&self, participant: Gid) {
        self.state.lock().neighbours.remove(&participant.participant_prefix());
    }

    /// Sets the nodes of a participant, local or remote.
    pub(crate) fn announced(&self, entities: ParticipantEntities) {
        let ParticipantEntities { form, participant: gid, nodes } = entities;
        let other = self.change(|state| {
            let participant = state.participants.entry(gid.participant_prefix()).or_default();
            participant.0 = gid;
            participant.1.form = Some(form);
            participant.1.nodes = Some(nodes);
            participant.1.form_of_other_library()
        });
        self.see_form(gid, other);
    }

    /// Warns if a participant of another library uses the form that this session does not use.
    fn see_form(&self, participant: Gid, form: Option<DiscoveryForm>) {
        if let Some(form) = form {
            self.other_forms.see(participant, form, consequence(form));
        }
    }

    fn refuse_announcement(&self, from: Gid, reason: impl Display) {
        if let Some(so_far) = self.refused_announcements.so_far() {
            tracing::warn!(
                target: LOG_TARGET,
                "an announcement of nodes came from participant {from}, and cannot be \
                 read{so_far}: {reason}; the nodes of this participant are not shown"
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
                    enclave: participant.enclave(),
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
                is_feros: participant.is_feros(),
                is_neighbour: self.neighbours.contains_key(prefix),
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
mod tests;
