//! The Feros engine for systems with a ROS 1 master. Nodes on this engine are ROS 1 nodes, and
//! messages are sent over TCPROS in the ROS 1 format, so stock ROS 1 nodes see no difference.
//!
//! | module | content |
//! |---|---|
//! | `session` | a session: its nodes, the creation of endpoints, and the refused requests |
//! | `participant`, `matches` | the endpoints of this process under one master, and their matches |
//! | `upkeep`, `bell`, `others` | the thread that queries the master, and the nodes of other processes |
//! | `node_topics`, `outgoing`, `incoming` | a node's TCPROS topics, which its endpoints share |
//! | `place` | the owner and the description of a new endpoint |
//! | `publisher`, `writer`, `subscription` | the endpoints of topics |
//! | `service`, `requests`, `client`, `caller` | the endpoints of services, and pending calls |
//! | `parameters`, `kept_parameters`, `followed`, `followed_parameters` | parameters in both directions between nodes and the master |
//! | `message` | the aligned bytes of messages, with their metadata |
//! | `name` | the name of the engine |
//!
//! Endpoints of the same process and under the same master pass messages to each other directly.
//! They know each other's announcements, so the intra-process transport can be used between them.
//! For other endpoints, the plan of the type converts messages, and only the information that ROS 1
//! provides is known.
//!
//! # Invariants
//!
//! For other nodes, this is plain ROS 1. Nodes of the same process exchange no messages over
//! TCPROS.
#![forbid(unsafe_code)]

mod bell;
mod caller;
mod client;
mod followed;
mod followed_parameters;
mod incoming;
mod kept_parameters;
mod matches;
mod message;
mod name;
mod node_topics;
mod others;
mod outgoing;
mod parameters;
mod participant;
mod place;
mod publisher;
mod requests;
mod service;
mod session;
mod subscription;
mod upkeep;
mod writer;

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use feros_engine::{Engine, OpenError, Session, SessionOptions};
use feros_sync::Mutex;

pub use name::ENGINE_NAME;

use participant::{MASTER_VARIABLE, Participant};

/// The participants of this process, stored by the address of the master. Sessions with the same
/// participant exchange messages without the master.
static PARTICIPANTS: Mutex<BTreeMap<String, Weak<Participant>>> = Mutex::new(BTreeMap::new());

/// Returns this process's participant for a master.
fn of_process(uri: &str) -> Result<Arc<Participant>, OpenError> {
    let mut all = PARTICIPANTS.lock();
    all.retain(|_, participant| participant.strong_count() > 0);
    if let Some(participant) = all.get(uri).and_then(Weak::upgrade) {
        return Ok(participant);
    }
    let participant = upkeep::participant(uri)?;
    all.insert(uri.to_owned(), Arc::downgrade(&participant));
    Ok(participant)
}

/// The engine for the master in `ROS_MASTER_URI`. All sessions of a process share one participant.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ros1Engine;

impl Engine for Ros1Engine {
    fn name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        let uri = std::env::var(MASTER_VARIABLE).ok().filter(|uri| !uri.is_empty());
        let uri = uri.unwrap_or_else(|| feros_ros1::DEFAULT_MASTER.to_owned());
        Ok(session::Ros1Session::open(options, of_process(&uri)?))
    }
}

/// The engine for a master that the program names. The sessions of two such engines reach each
/// other only over TCPROS, as if they were in different processes.
#[derive(Clone)]
pub struct ConfiguredRos1Engine(Arc<Participant>);

impl ConfiguredRos1Engine {
    /// Creates the engine for the master at this address.
    ///
    /// # Errors
    /// Returns an error if the address is malformed.
    pub fn new(master_uri: &str) -> Result<Self, OpenError> {
        upkeep::participant(master_uri).map(Self)
    }
}

impl Engine for ConfiguredRos1Engine {
    fn name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        Ok(session::Ros1Session::open(options, self.0.clone()))
    }
}
