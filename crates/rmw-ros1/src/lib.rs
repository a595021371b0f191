//! The Feros engine under a master of ROS 1: nodes are nodes of ROS 1, messages travel by TCPROS in
//! the form of ROS 1, and stock nodes cannot tell them apart.
//!
//! | module | holds |
//! |---|---|
//! | `session` | a session: its nodes, the factory of endpoints, what is refused |
//! | `participant` | the endpoints of this process under one master, and who of them matches |
//! | `upkeep`, `bell`, `others` | the thread that asks the master, what it says of other processes |
//! | `node_topics`, `outgoing`, `incoming` | a node's topics of TCPROS, which its endpoints share |
//! | `place` | where an endpoint is made, and what it is |
//! | `publisher`, `writer`, `subscription` | the endpoints of topics |
//! | `service`, `requests`, `client`, `caller` | the endpoints of services; who waits for answers |
//! | `parameters`, `kept_parameters` | parameters of the master as those of nodes, and the other way round |
//! | `message` | bytes that lie well, with what is known of them |
//!
//! Endpoints of one process and master hand messages to each other as they are, with their
//! announcements, so that the intra-process transport finds them. To all others, messages are
//! converted by the plan of their type, and only what ROS 1 says of a peer is known of it.
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

use feros_rmw::{Engine, OpenError, Session, SessionOptions};
use feros_sync::Mutex;

use participant::Participant;

/// Short name of the engine.
pub const ENGINE_NAME: &str = "ros1";

/// The variable that says where the master is.
const MASTER_VARIABLE: &str = "ROS_MASTER_URI";

/// The participants of this process: messages between sessions of one process need no master.
static PARTICIPANTS: Mutex<BTreeMap<String, Weak<Participant>>> = Mutex::new(BTreeMap::new());

/// The one of this process under this master.
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

/// The engine under the master of `ROS_MASTER_URI`. Sessions of one process are one participant.
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

/// The engine under a master that the program names. Its sessions meet those of other engines by
/// TCPROS alone, as those of another process do.
#[derive(Clone)]
pub struct ConfiguredRos1Engine(Arc<Participant>);

impl ConfiguredRos1Engine {
    /// Under the master at this address.
    ///
    /// # Errors
    /// When the address is none.
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
