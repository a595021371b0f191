//! The matches of a publisher by transport: what each publish looks at, made anew when a match or a
//! subscription of the process changes.

use std::sync::Arc;

use feros_rmw::Gid;
use feros_shm::{Announced, Choice, HostPublisher, Reason, Transport};
use feros_trace::{Endpoint, Point};

use crate::transports::host_sending::{HostRoute, Served};
use crate::transports::inbox::{AnyInbox, Envelope};

/// The matches of one publisher, sorted by transport. Replaced as a whole when they change.
pub(crate) struct Routes {
    pub(super) generation: Generation,
    pub(crate) process: Vec<ProcessRoute>,
    pub(super) host: Vec<HostRoute>,
    /// The publisher's shared memory, if one of them is served from it.
    pub(super) memory: Option<Arc<HostPublisher>>,
    /// Whether some host routes are still being set up.
    pub(super) has_pending: bool,
    /// What users are told.
    pub(super) transports: Vec<MatchTransport>,
    /// Whether the engine has to send: for a match on the network transport, or for a QoS that it
    /// implements by sending.
    pub(crate) needs_engine: bool,
}

impl Routes {
    /// Without a match yet.
    pub(super) fn new(generation: Generation, needs_engine: bool) -> Self {
        Self {
            generation,
            process: Vec::new(),
            host: Vec::new(),
            memory: None,
            has_pending: false,
            transports: Vec::new(),
            needs_engine,
        }
    }

    /// Whether a message that was prepared for these routes can be sent by the others: the same
    /// matches take the same transports.
    pub(super) fn send_like(&self, others: &Self) -> bool {
        self.generation == others.generation && self.transports == others.transports
    }

    /// Subscriptions that are served by shared memory.
    pub(super) fn served(&self) -> impl Iterator<Item = (&HostRoute, &Arc<Served>)> {
        self.host.iter().filter_map(|route| Some((route, route.served()?)))
    }

    /// Takes in a match that can be served by shared memory, and says which transport it takes now.
    pub(super) fn add_host(
        &mut self,
        route: Result<HostRoute, Reason>,
        declined: Option<Reason>,
        network_is_allowed: bool,
    ) -> Choice {
        let network = network_is_allowed.then_some(Transport::Network);
        match route {
            Ok(route) => {
                let is_served = route.served().is_some();
                self.has_pending |= !is_served;
                self.host.push(route);
                if is_served {
                    Choice { transport: Some(Transport::SharedMemory), reason: None }
                } else {
                    Choice { transport: network, reason: Some(declined.unwrap_or(Reason::Pending)) }
                }
            }
            Err(reason) => Choice { transport: network, reason: Some(reason) },
        }
    }
}

/// Whether both sides allow the network transport.
pub(crate) fn network_is_allowed(publisher: &Announced, subscription: &Announced) -> bool {
    let allows = |side: &Announced| {
        side.feros().is_none_or(|side| side.transports.contains(Transport::Network))
    };
    allows(publisher) && allows(subscription)
}

/// The transport that messages between two endpoints take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchTransport {
    /// The other endpoint.
    pub gid: Gid,
    /// The transport; `None`: no transport that both sides allow is possible, so nothing is
    /// delivered.
    pub transport: Option<Transport>,
    /// Why it is not a shorter one; `None`: there is no shorter one.
    pub reason: Option<Reason>,
}

/// A subscription of this process.
pub(crate) struct ProcessRoute {
    pub(crate) inbox: Arc<dyn AnyInbox>,
    pub(super) subscription: Gid,
    /// Number of the first message that it is sent on this transport.
    pub(super) since: u64,
    pub(super) traced: Endpoint,
}

impl ProcessRoute {
    /// The envelope of a message as this subscription gets it.
    pub(crate) fn address(&self, envelope: Envelope) -> Envelope {
        Envelope { since: self.since, ..envelope }
    }

    /// Wakes who takes from the inbox, where the message is by now.
    pub(crate) fn wake(&self, message: &Envelope) {
        feros_trace::pass(
            Point::Announced,
            feros_trace::Transport::IntraProcess,
            &self.traced,
            || message.id(),
        );
        self.inbox.wake();
    }
}

/// What the routes depend on: matches of the engine, subscriptions of this process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Generation {
    pub(super) matches: u64,
    pub(super) process: u64,
}
