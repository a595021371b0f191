//! Neighbours: the participants of other processes of this host that this process learns of through
//! files in shared memory (`feros-neighbours`) and not through the network. The engine tells what
//! the participants of this process announce, and is told what those of the others announced. The
//! tables of nodes, which other participants send to the topic `ros_discovery_info`, take the same
//! way.
//!
//! A process without neighbours, for example because it has no shared memory, finds all others by
//! the network, and they find it there.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_cyclonedds_sys as sys;
use feros_dds::graph::Graph;
use feros_engine::Gid;
use feros_engine::engine::LOG_TARGET;
use feros_neighbours::{Kind, Learner, Neighbourhood, Prefix, Record};
use feros_sync::{Condvar, Mutex};

use crate::dds::check;

/// The variable that turns neighbours off.
const VARIABLE: &str = "FEROS_NEIGHBOURS";
/// The id of the table of nodes, of which a participant has only one.
const NODES: [u8; 16] = [0; 16];

/// The neighbours of one domain of this process.
pub(crate) struct Neighbours {
    /// The functions that the engine calls. Their argument is the neighbourhood.
    calls: Box<sys::feros_neighbours>,
    neighbourhood: Box<Neighbourhood>,
    link: Arc<Link>,
}

// SAFETY: the pointer in `calls` is that of `neighbourhood`, which threads may share.
unsafe impl Send for Neighbours {}
// SAFETY: see above.
unsafe impl Sync for Neighbours {}

impl Neighbours {
    /// Returns `None` if neighbours are turned off, or if the shared memory cannot be used, which
    /// is logged. Processes with different `circumstances` are no neighbours.
    pub(crate) fn join(domain_id: u32, circumstances: &str) -> Option<Self> {
        if std::env::var_os(VARIABLE).is_some_and(|value| value == "0") {
            return None;
        }
        let link = Arc::new(Link::default());
        let learner: Arc<dyn Learner> = link.clone();
        let joined = Neighbourhood::join(domain_id, circumstances, Arc::downgrade(&learner));
        let neighbourhood = match joined {
            Ok(neighbourhood) => Box::new(neighbourhood),
            Err(error) => {
                tracing::info!(
                    target: LOG_TARGET,
                    "processes of this host are found by the network, which takes longer: {error}"
                );
                return None;
            }
        };
        let calls = Box::new(sys::feros_neighbours {
            arg: std::ptr::from_ref(&*neighbourhood).cast_mut().cast(),
            announced: announce,
            pulsed: pulse,
            is_neighbour,
            processed,
        });
        Some(Self { calls, neighbourhood, link })
    }

    /// Makes the domain that this thread creates next use these neighbours, which must exist until
    /// that domain is deleted. [`created`](Self::created) must follow.
    pub(crate) fn prepare(neighbours: Option<&Self>) {
        let calls = neighbours.map_or(std::ptr::null(), |own| std::ptr::from_ref(&*own.calls));
        // SAFETY: the caller guarantees that the functions exist while the engine may call them.
        unsafe { sys::feros_neighbours_of_next_domain(calls) }
    }

    /// Tells which domain was created, or that there is none.
    pub(crate) fn created(&self, domain: Option<sys::dds_entity_t>) {
        self.link.set_domain(domain.map_or(Domain::Closed, Domain::Is));
    }

    /// Ends all calls of the engine, whose domain is about to be deleted. The engine may still call
    /// these neighbours.
    pub(crate) fn close(&self) {
        self.link.set_domain(Domain::Closed);
    }

    /// Updates the nodes of this graph while it exists.
    pub(crate) fn add_graph(&self, graph: &Arc<Graph>) {
        let mut nodes = self.link.nodes.lock();
        nodes.graphs.retain(|graph| graph.strong_count() > 0);
        nodes.graphs.push(Arc::downgrade(graph));
        // With the lock, so that no newer table comes between.
        for (participant, table) in &nodes.tables {
            graph.neighbour_announced(gid_of(*participant), table);
        }
    }

    /// Tells the neighbours which nodes a participant of this process has.
    pub(crate) fn tell_nodes(&self, participant: Gid, table: &[u8]) {
        let record =
            Record { kind: Kind::Nodes, is_alive: true, id: NODES, bytes: table.to_owned() };
        tell(&self.neighbourhood, participant.participant_prefix(), record);
    }

    /// The number of participants that are neighbours.
    pub(crate) fn count(&self) -> usize {
        self.neighbourhood.count()
    }

    /// Whether the neighbour `other` has processed all that `own` has announced so far. Waits at
    /// most `patience` for it. Returns `None` if `other` is no neighbour.
    pub(crate) fn is_announced_to(&self, own: Gid, other: Gid, patience: Duration) -> Option<bool> {
        let (own, other) = (own.participant_prefix(), other.participant_prefix());
        self.neighbourhood.is_announced_to(own, other, patience)
    }
}

impl std::fmt::Debug for Neighbours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} neighbours", self.count())
    }
}

/// What the thread of the neighbourhood works on.
#[derive(Default)]
struct Link {
    domain: Mutex<Domain>,
    /// Notified when the domain is created or cannot be created.
    created: Condvar,
    nodes: Mutex<Nodes>,
}

/// The engine's domain.
#[derive(Default)]
enum Domain {
    #[default]
    NotYet,
    Is(sys::dds_entity_t),
    Closed,
}

#[derive(Default)]
struct Nodes {
    /// The newest table of each neighbour, for graphs that are added later.
    tables: HashMap<Prefix, Vec<u8>>,
    graphs: Vec<Weak<Graph>>,
}

impl Link {
    /// Gives the graphs the table of nodes of a neighbour.
    fn nodes_came(&self, participant: Prefix, table: &[u8]) {
        let mut nodes = self.nodes.lock();
        nodes.tables.insert(participant, table.to_owned());
        for graph in nodes.graphs.iter().filter_map(Weak::upgrade) {
            graph.neighbour_announced(gid_of(participant), table);
        }
    }

    fn set_domain(&self, domain: Domain) {
        *self.domain.lock() = domain;
        self.created.notify_all();
    }

    /// Calls a function of the engine with the domain, as soon as that exists. Returns 0 if it does
    /// not exist any longer. The lock keeps the domain from being deleted meanwhile; the functions
    /// only enqueue work or renew a lease.
    fn with_domain(
        &self,
        call: impl FnOnce(sys::dds_entity_t) -> sys::dds_return_t,
    ) -> sys::dds_return_t {
        let mut domain = self.domain.lock();
        while matches!(*domain, Domain::NotYet) {
            domain = self.created.wait(domain);
        }
        let Domain::Is(entity) = *domain else { return 0 };
        check(call(entity)).unwrap_or_else(|code| {
            tracing::debug!(target: LOG_TARGET, %code, "a neighbour is not learned");
            code.0
        })
    }
}

impl Learner for Link {
    fn learn(&self, participant: Prefix, records: &[Record], through: u64) {
        for record in records.iter().filter(|record| record.kind == Kind::Nodes) {
            self.nodes_came(participant, &record.bytes);
        }
        let announcements: Vec<_> = records.iter().filter_map(as_announcement).collect();
        // SAFETY: the engine copies the announcements, whose bytes exist until the call returns.
        self.with_domain(|domain| unsafe {
            let (first, count) = (announcements.as_ptr(), announcements.len());
            sys::feros_learn(domain, &raw const participant, first, count, through)
        });
    }

    fn ended(&self, participant: Prefix) {
        let mut nodes = self.nodes.lock();
        nodes.tables.remove(&participant);
        for graph in nodes.graphs.iter().filter_map(Weak::upgrade) {
            graph.neighbour_ended(gid_of(participant));
        }
        drop(nodes);
        // SAFETY: the engine copies the prefix.
        self.with_domain(|domain| unsafe {
            sys::feros_neighbour_ended(domain, &raw const participant)
        });
    }

    fn lives(&self, participant: Prefix, is_manual: bool) -> bool {
        // SAFETY: the engine copies the prefix.
        let known = self.with_domain(|domain| unsafe {
            sys::feros_neighbour_lives(domain, &raw const participant, is_manual)
        });
        known != 0
    }
}

/// Returns an announcement in the engine's form, or `None` for a table of nodes.
fn as_announcement(record: &Record) -> Option<sys::feros_announcement> {
    let kind = match record.kind {
        Kind::Participant => sys::FEROS_ANNOUNCES_PARTICIPANT,
        Kind::Writer => sys::FEROS_ANNOUNCES_WRITER,
        Kind::Reader => sys::FEROS_ANNOUNCES_READER,
        Kind::Nodes => return None,
    };
    let (bytes, size) = (record.bytes.as_ptr(), record.bytes.len());
    Some(sys::feros_announcement { kind, is_alive: record.is_alive, guid: record.id, bytes, size })
}

/// A gid of the participant with this prefix.
fn gid_of(participant: Prefix) -> Gid {
    let mut gid = [0; 16];
    gid[..12].copy_from_slice(&participant);
    Gid(gid)
}

fn tell(neighbourhood: &Neighbourhood, participant: Prefix, record: Record) {
    // If the neighbourhood has no neighbours any longer, it logs this itself.
    if let Err(error) = neighbourhood.announce(participant, record) {
        tracing::debug!(target: LOG_TARGET, %error, "neighbours are not told");
    }
}

/// # Safety
/// `arg` must be the argument of [`Neighbours::join`]'s functions, and the others pointers to
/// memory of these sizes.
unsafe extern "C" fn announce(
    arg: *mut c_void,
    kind: u32,
    is_alive: bool,
    guid: *const [u8; 16],
    bytes: *const u8,
    size: usize,
) {
    // SAFETY: the engine calls this with the argument, a GUID, and a parameter list of this size.
    let (neighbourhood, guid, bytes) =
        unsafe { (&*arg.cast::<Neighbourhood>(), *guid, std::slice::from_raw_parts(bytes, size)) };
    let kind = match kind {
        sys::FEROS_ANNOUNCES_PARTICIPANT => Kind::Participant,
        sys::FEROS_ANNOUNCES_WRITER => Kind::Writer,
        _ => Kind::Reader,
    };
    let record = Record { kind, is_alive, id: guid, bytes: bytes.to_owned() };
    tell(neighbourhood, Gid(guid).participant_prefix(), record);
}

/// # Safety
/// See [`announce`].
unsafe extern "C" fn pulse(arg: *mut c_void, prefix: *const [u8; 12], is_manual: bool) {
    // SAFETY: the engine calls this with the argument and a prefix.
    let (neighbourhood, prefix) = unsafe { (&*arg.cast::<Neighbourhood>(), *prefix) };
    neighbourhood.pulse(prefix, is_manual);
}

/// # Safety
/// See [`announce`].
unsafe extern "C" fn is_neighbour(arg: *mut c_void, prefix: *const [u8; 12]) -> bool {
    // SAFETY: the engine calls this with the argument and a prefix.
    let (neighbourhood, prefix) = unsafe { (&*arg.cast::<Neighbourhood>(), *prefix) };
    neighbourhood.is_neighbour(prefix)
}

/// # Safety
/// See [`announce`].
unsafe extern "C" fn processed(
    arg: *mut c_void,
    prefix: *const [u8; 12],
    through: u64,
    is_known: bool,
) {
    // SAFETY: the engine calls this with the argument and a prefix.
    let (neighbourhood, prefix) = unsafe { (&*arg.cast::<Neighbourhood>(), *prefix) };
    if is_known {
        neighbourhood.processed(prefix, through);
    } else {
        neighbourhood.lost(prefix, through);
    }
}
