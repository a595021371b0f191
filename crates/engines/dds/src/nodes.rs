//! The state of a session: the participant, the graph and the announced nodes. All endpoints of the
//! session share this state, and it exists while any of them exists.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use feros_engine::dds::discovery_info::{NodeEntities, ParticipantEntities};
use feros_engine::{
    CreateEndpointError, Created, DiscoveryForm, Ending, FailureCounter, Gid, NodeId, NodeName,
    SessionOptions, Stamp,
};

use feros_sync::Mutex;

use crate::announcer::Announcer;
use crate::graph::Graph;
use crate::library::{Endpoint as _, Participant, Writer, WriterOf};

/// The pause after an announcement for each participant that gets it, and its limit.
const PAUSE_PER_READER: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// The state of a session.
pub(crate) struct SessionState<P: Participant> {
    // This is dropped first, because the readers that update the graph must end before the
    // participant.
    _discovery: P::Discovery,
    // This has a writer of the participant.
    announcer: Announcer<ParticipantEntities>,
    nodes: Mutex<Nodes>,
    pub(crate) graph: Arc<Graph>,
    pub(crate) participant: Arc<P>,
    pub(crate) domain_id: u32,
    pub(crate) ending: Ending,
    form: DiscoveryForm,
}

#[derive(Default)]
struct Nodes {
    next: u64,
    by_id: BTreeMap<NodeId, NodeEntities>,
}

impl<P: Participant> SessionState<P> {
    /// Creates the state of a session, and announces that it has no nodes yet, because stock ROS 2
    /// announces a context even before it has a node.
    pub(crate) fn announce(
        options: &SessionOptions,
        participant: Arc<P>,
        graph: Arc<Graph>,
        discovery: P::Discovery,
        writer: WriterOf<P>,
    ) -> Self {
        let writer = Arc::new(writer);
        let (readers, neighbours) = (writer.clone(), participant.clone());
        let from = participant.clone();
        let announcer = Announcer::new(
            move |entities| announce_to_others(&*from, &*writer, entities),
            move || pause_after(readers.matched_count() + neighbours.neighbours()),
        );
        let state = Self {
            _discovery: discovery,
            announcer,
            nodes: Mutex::default(),
            graph,
            ending: participant.ending(),
            participant,
            domain_id: options.domain_id,
            form: options.discovery_form,
        };
        state.change_nodes(|_| ());
        state
    }

    /// Announces a node.
    pub(crate) fn add_node(&self, name: &NodeName) -> NodeId {
        self.change_nodes(|nodes| {
            let id = NodeId(nodes.next);
            nodes.next += 1;
            nodes.by_id.insert(
                id,
                NodeEntities { name: name.clone(), readers: Vec::new(), writers: Vec::new() },
            );
            id
        })
    }

    /// Withdraws a node. An unknown id is ignored.
    pub(crate) fn remove_node(&self, node: NodeId) {
        if self.has_node(node) {
            self.take_from_nodes(|nodes| drop(nodes.by_id.remove(&node)));
        }
    }

    /// Changes the table of nodes and, like stock ROS 2, announces the whole table. The lock is
    /// held during both steps, so that announcements are in the order of the changes.
    fn change_nodes<T>(&self, change: impl FnOnce(&mut Nodes) -> T) -> T {
        let mut nodes = self.nodes.lock();
        let result = change(&mut nodes);
        self.announce_nodes(&nodes, true);
        result
    }

    /// Takes nodes or endpoints from the table. If the session is about to end, others learn of
    /// this only when no node is left: they remove all at once when the participant leaves.
    fn take_from_nodes(&self, take: impl FnOnce(&mut Nodes)) {
        let mut nodes = self.nodes.lock();
        take(&mut nodes);
        let is_told = !self.ending.has_begun() || nodes.by_id.is_empty();
        self.announce_nodes(&nodes, is_told);
    }

    /// Tells the graph of this session, and the other participants if `is_told`, which nodes there
    /// are.
    fn announce_nodes(&self, nodes: &Nodes, is_told: bool) {
        let entities = ParticipantEntities {
            form: self.form,
            participant: self.participant.gid(),
            nodes: nodes.by_id.values().cloned().collect(),
        };
        if is_told {
            self.announcer.announce(&entities);
        }
        self.graph.announced(entities);
    }

    pub(crate) fn has_node(&self, node: NodeId) -> bool {
        self.nodes.lock().by_id.contains_key(&node)
    }

    /// Assigns endpoints to a node until the returned value is dropped.
    pub(crate) fn join_node(
        self: &Arc<Self>,
        node: NodeId,
        name: &str,
        readers: Vec<Gid>,
        writers: Vec<Gid>,
    ) -> Created<NodeMember<P>> {
        let joined = self.change_nodes(|nodes| {
            nodes.by_id.get_mut(&node).map(|entities| {
                entities.readers.extend(&readers);
                entities.writers.extend(&writers);
            })
        });
        joined.ok_or_else(|| CreateEndpointError::NoNode { name: name.to_owned() })?;
        Ok(NodeMember { shared: self.clone(), node, gids: [readers, writers].concat() })
    }
}

/// Tells neighbours of the table of nodes, and writes it to the topic `ros_discovery_info`.
fn announce_to_others<P: Participant>(
    participant: &P,
    writer: &P::Writer,
    entities: &ParticipantEntities,
) {
    static FAILED: FailureCounter = FailureCounter::new();
    let failed = |error: &dyn std::fmt::Display| {
        if let Some(so_far) = FAILED.so_far() {
            tracing::error!(
                "nodes cannot be announced, so others will not see them: {error}{so_far}"
            );
        }
    };
    let table = match feros_cdr::to_vec(entities) {
        Ok(table) => table,
        Err(error) => return failed(&error),
    };
    participant.tell_neighbours(&table);
    let sample = writer.fill(table.len(), 0, &mut |memory| {
        memory.copy_from_slice(&table);
        Ok(())
    });
    if let Err(error) = sample.and_then(|sample| writer.write(sample, Stamp::now(), None)) {
        failed(&error);
    }
}

/// The pause after an announcement to so many participants. All participants together then send at
/// most a constant number of announcements in a given time.
fn pause_after(readers: usize) -> Duration {
    let readers = u32::try_from(readers).unwrap_or(u32::MAX);
    PAUSE_PER_READER.saturating_mul(readers).min(LONGEST_PAUSE)
}

impl<P: Participant> Drop for SessionState<P> {
    fn drop(&mut self) {
        self.graph.close();
    }
}

/// Assigns endpoints to their node while this value exists.
pub(crate) struct NodeMember<P: Participant> {
    shared: Arc<SessionState<P>>,
    node: NodeId,
    gids: Vec<Gid>,
}

impl<P: Participant> Drop for NodeMember<P> {
    fn drop(&mut self) {
        self.gids.iter().for_each(|gid| self.shared.graph.unwatch_type(*gid));
        // If the node has been withdrawn, its announcement has named these endpoints for the last
        // time.
        if !self.shared.has_node(self.node) {
            return;
        }
        self.shared.take_from_nodes(|nodes| {
            if let Some(entities) = nodes.by_id.get_mut(&self.node) {
                entities.readers.retain(|gid| !self.gids.contains(gid));
                entities.writers.retain(|gid| !self.gids.contains(gid));
            }
        });
    }
}
