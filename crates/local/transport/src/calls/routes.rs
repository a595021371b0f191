//! The servers of a client, and the transport to each of them. Each call uses these routes. They
//! are found again when a match or a server of the process changes.

use std::num::NonZeroU64;
use std::sync::Arc;

use feros_engine::{Gid, ServerMatch};
use feros_shm::{
    Announced, Announcement, CallMemory, ClientChannel, Peer, Reason, Side, Transport, classify,
};

use crate::calls::inbox::{RequestQueue, SERVERS};
use crate::graph::{MatchTransport, network_is_allowed};

/// How to reach one server.
pub(crate) enum Way {
    IntraProcess(Arc<RequestQueue>),
    SharedMemory(Arc<ClientChannel>),
    /// Through the engine.
    Network,
    /// There is no possible transport that both sides allow.
    None,
}

/// A matching server whose process is not known to have ended.
pub(crate) struct ServerRoute {
    pub(crate) server: Gid,
    pub(crate) way: Way,
    /// The server's process, if it runs on this host.
    pub(crate) peer: Option<Arc<Peer>>,
    /// Whether the server has not opened a channel yet but will.
    is_pending: bool,
    /// Whether responses can reach the client through the engine.
    is_available: bool,
}

/// Identifies the state that the routes depend on, which consists of the matches of the engine and
/// the servers of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) matches: u64,
    pub(crate) registrations: u64,
}

/// The servers of one client. The whole value is replaced when the servers change.
pub(crate) struct ServerRoutes {
    pub(crate) generation: Generation,
    pub(crate) servers: Vec<ServerRoute>,
    /// The servers of this host whose processes have ended, although the engine still regards the
    /// servers as alive.
    pub(crate) ended: Vec<Gid>,
    /// The transports in the form that users see.
    pub(crate) transports: Vec<MatchTransport>,
    /// Whether at least one server can be reached only through the engine. In that case, the engine
    /// serves all servers.
    pub(crate) needs_engine: bool,
}

/// The data that is needed to find the routes.
pub(crate) struct Finder<'a> {
    pub(crate) announced: &'a Announced,
    pub(crate) memory: Option<&'a CallMemory>,
}

impl ServerRoutes {
    /// Makes routes that are never up to date, so that the first call finds the real routes.
    pub(crate) fn not_looked_yet() -> Self {
        let generation = Generation { matches: u64::MAX, registrations: u64::MAX };
        Self::new(generation)
    }

    fn new(generation: Generation) -> Self {
        Self {
            generation,
            servers: Vec::new(),
            ended: Vec::new(),
            transports: Vec::new(),
            needs_engine: false,
        }
    }

    /// Whether there is a server that can be called over the transport that a request would take
    /// now.
    pub(crate) fn is_available(&self) -> bool {
        self.servers.iter().any(|route| match route.way {
            Way::IntraProcess(_) | Way::SharedMemory(_) => !self.needs_engine || route.is_available,
            Way::Network => route.is_available,
            Way::None => false,
        })
    }

    /// Whether at least one server has not opened a channel yet but will.
    pub(crate) fn has_pending(&self) -> bool {
        self.servers.iter().any(|route| route.is_pending)
    }

    /// Whether the routes are still valid: each server can be reached over its transport, and no
    /// server has opened a channel in the meantime. This costs one system call for each server in
    /// another process of this host.
    pub(crate) fn hold(&self, memory: Option<&CallMemory>) -> bool {
        self.servers.iter().all(|route| {
            let is_alive = route.peer.as_ref().is_none_or(|peer| peer.is_alive());
            let holds = match &route.way {
                Way::SharedMemory(channel) => channel.is_open(),
                Way::IntraProcess(queue) => !queue.is_closed(),
                _ => !route.is_pending || !route.has_opened(memory),
            };
            is_alive && holds
        })
    }
}

impl ServerRoute {
    /// Whether the server has opened its channel since the routes were found.
    fn has_opened(&self, memory: Option<&CallMemory>) -> bool {
        let (Some(memory), Some(peer)) = (memory, &self.peer) else { return false };
        memory.channel(self.server.0, peer).is_some()
    }
}

impl Finder<'_> {
    /// Finds the routes to these servers.
    pub(crate) fn find(&self, servers: Vec<ServerMatch>, generation: Generation) -> ServerRoutes {
        let mut routes = ServerRoutes::new(generation);
        for ServerMatch { found, is_available } in servers {
            let announced = Announced::read(found.announcement.as_deref());
            let choice = classify(self.announced, &announced);
            let is_of_this_process = choice.transport == Some(Transport::IntraProcess);
            let peer = if is_of_this_process { Ok(None) } else { self.peer(&announced) };
            let Ok(peer) = peer else {
                routes.ended.push(found.gid);
                continue;
            };
            let network = network_is_allowed(self.announced, &announced);
            let (mut transport, mut reason) = (choice.transport, choice.reason);
            let mut is_pending = false;
            let way = match transport {
                Some(Transport::IntraProcess) => {
                    let queue = SERVERS.find_or_wait(found.gid);
                    match queue.filter(|queue| !queue.is_closed()) {
                        Some(queue) => Way::IntraProcess(queue),
                        None => continue, // the server is about to end
                    }
                }
                Some(Transport::SharedMemory) => {
                    match self.open_channel(found.gid, peer.as_ref()) {
                        Ok(channel) => Way::SharedMemory(channel),
                        Err(why_not) => {
                            is_pending = why_not == Reason::Pending;
                            transport = network.then_some(Transport::Network);
                            reason = Some(why_not);
                            if network { Way::Network } else { Way::None }
                        }
                    }
                }
                Some(Transport::Network) => Way::Network,
                None => Way::None,
            };
            routes.needs_engine |= matches!(way, Way::Network);
            routes.transports.push(MatchTransport { gid: found.gid, transport, reason });
            let server = found.gid;
            routes.servers.push(ServerRoute { server, way, peer, is_pending, is_available });
        }
        routes
    }

    /// The process of a server of this host. Returns `None` if the operating system cannot report
    /// the state of the process.
    ///
    /// # Errors
    /// The server's process has ended.
    fn peer(&self, server: &Announced) -> Result<Option<Arc<Peer>>, Ended> {
        let (Some(own), Some(server)) = (self.announced.feros(), server.feros()) else {
            return Ok(None);
        };
        if own.host.is_none() || own.host != server.host {
            return Ok(None);
        }
        match open_peer(server) {
            Ok(peer) if peer.is_alive() => Ok(Some(peer)),
            Ok(_) | Err(Reason::SubscriptionGone) => Err(Ended),
            Err(_) => Ok(None),
        }
    }

    fn open_channel(
        &self,
        server: Gid,
        peer: Option<&Arc<Peer>>,
    ) -> Result<Arc<ClientChannel>, Reason> {
        let memory = self.memory.ok_or(Reason::Pending)?;
        let peer = peer.ok_or(Reason::UnreadableAnnouncement { side: Side::Subscription })?;
        memory.channel(server.0, peer).ok_or(Reason::Pending)
    }
}

/// The error for a process that has ended.
struct Ended;

/// Opens the process that has announced a receiving endpoint.
pub(crate) fn open_peer(announced: &Announcement) -> Result<Arc<Peer>, Reason> {
    let unreadable = || Reason::UnreadableAnnouncement { side: Side::Subscription };
    let file = announced
        .shared_memory
        .map_err(|why| Reason::SharedMemoryUnavailable { by: Side::Subscription, why })?;
    let token = NonZeroU64::new(announced.token).ok_or_else(unreadable)?;
    Peer::open(announced.pid, file, token).map_err(|error| error.reason(Side::Subscription))
}
