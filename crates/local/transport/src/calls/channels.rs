//! The clients of a server in other processes of the same host. The server finds these clients
//! among the matches of the engine, claims a channel in the memory of each client, and tells each
//! client where to ring.
//!
//! A server without such clients has no memory for channels, and other processes do not learn where
//! to ring for it.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use feros_doorbell::{Observation, Ringer};
use feros_engine::engine::Fill;
use feros_engine::{
    Ending, FailureCounter, Gid, Match, Notify, Service as EngineService, Stamp, copied,
};
use feros_shm::{
    ARENA_BYTES, Announced, ChannelError, EndWatch, MAX_WAITING, Obstacle, Peer, Reason,
    SendToChannelError, ServerChannel, Side, Transport, classify,
};
use feros_sync::{Mutex, RwLock};

use crate::calls::inbox::MOST_RESPONSES;
use crate::graph::{MatchTransport, network_is_allowed};
use crate::shared_memory::upkeep::{KeepUp, Upkeep};

/// How long the server waits before it first tries again to open the memory of a client. The wait
/// doubles with each further attempt.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// The longest wait between two attempts.
const LAST_RETRY: Duration = Duration::from_secs(16);

/// The channel of one client.
pub(crate) struct OpenChannel {
    pub(crate) client: Gid,
    pub(crate) channel: ServerChannel,
    /// Whether both sides allow the network transport for responses that do not fit into the
    /// channel.
    pub(crate) network_is_allowed: bool,
    backlog: Mutex<Backlog>,
    has_backlog: AtomicBool,
    _watch: EndWatch,
}

/// Responses that wait until the client has taken earlier responses.
#[derive(Default)]
struct Backlog {
    responses: VecDeque<(i64, Vec<u8>)>,
    bytes: usize,
}

impl OpenChannel {
    fn new(
        client: Gid,
        channel: ServerChannel,
        network_is_allowed: bool,
        on_client_end: Notify,
    ) -> Self {
        let (backlog, has_backlog) = (Mutex::default(), AtomicBool::new(false));
        let _watch = EndWatch::new(channel.peer(), on_client_end);
        Self { client, channel, network_is_allowed, backlog, has_backlog, _watch }
    }

    /// Sends a response, or stores it until the client has taken earlier responses. Never waits for
    /// the client.
    pub(crate) fn send(
        &self,
        number: i64,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), SendToChannelError> {
        if !self.has_backlog.load(Ordering::Acquire) {
            match self.send_now(number, size_bytes, &mut *fill) {
                Err(SendToChannelError::Busy { .. }) => {}
                sent => return sent,
            }
        }
        let mut backlog = self.backlog.lock();
        let waiting = MAX_WAITING + backlog.responses.len();
        if waiting >= MOST_RESPONSES || backlog.bytes + size_bytes > ARENA_BYTES {
            return Err(SendToChannelError::Busy { waiting, size_bytes });
        }
        let mut bytes = vec![0; size_bytes];
        fill(&mut bytes).map_err(|_| SendToChannelError::Aborted)?;
        backlog.responses.push_back((number, bytes));
        backlog.bytes += size_bytes;
        self.has_backlog.store(true, Ordering::Release);
        self.channel.await_room(true);
        self.send_backlog(&mut backlog);
        Ok(())
    }

    fn send_now(
        &self,
        number: i64,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), SendToChannelError> {
        let stamp = Stamp::now().0;
        self.channel.send(number, stamp, size_bytes, |memory| fill(memory).is_ok())
    }

    /// Sends as many of the stored responses as there is room for. The server calls this when it
    /// takes requests, for example after a ring.
    pub(crate) fn catch_up(&self) {
        if self.has_backlog.load(Ordering::Acquire) {
            self.send_backlog(&mut self.backlog.lock());
        }
    }

    fn send_backlog(&self, backlog: &mut Backlog) {
        while let Some((number, bytes)) = backlog.responses.front() {
            match self.send_now(*number, bytes.len(), &mut copied(bytes)) {
                Err(SendToChannelError::Busy { .. }) => return,
                Ok(()) => {}
                // The client has left, so the response is dropped, and nothing is logged.
                Err(SendToChannelError::Gone) => {}
                Err(why) => {
                    // One counter for all clients, because a process may have hundreds.
                    static LOST: FailureCounter = FailureCounter::new();
                    if let Some(so_far) = LOST.so_far() {
                        tracing::error!(
                            target: "feros::shm",
                            "a response to client {} is lost: {why}{so_far}", self.client
                        );
                    }
                }
            }
            backlog.bytes -= bytes.len();
            backlog.responses.pop_front();
        }
        self.has_backlog.store(false, Ordering::Release);
        self.channel.await_room(false);
    }
}

struct Failed {
    client: Gid,
    reason: Reason,
    patience: Duration,
    retry_at: Instant,
}

/// The channels of one server.
pub(crate) struct ServerChannels {
    announced: Announced,
    engine: OnceLock<Arc<dyn EngineService>>,
    ringer: Ringer,
    /// The observation that tells clients where to ring. It is present while there are clients.
    shown: Mutex<Option<Observation>>,
    upkeep: Upkeep,
    open: RwLock<Arc<[Arc<OpenChannel>]>>,
    failed: Mutex<Vec<Failed>>,
}

impl ServerChannels {
    pub(crate) fn new(announced: Announced, ringer: &Ringer, session: Ending) -> Self {
        Self {
            announced,
            engine: OnceLock::new(),
            ringer: ringer.clone(),
            shown: Mutex::new(None),
            upkeep: Upkeep::new(session),
            open: RwLock::new(Arc::default()),
            failed: Mutex::default(),
        }
    }

    /// The upkeep of the channels. It must run when the matches may have changed.
    pub(crate) fn upkeep(&self) -> &Upkeep {
        &self.upkeep
    }

    /// Starts to observe the matches of `engine`, which is the endpoint that the engine has made.
    pub(crate) fn begin(self: &Arc<Self>, engine: &Arc<dyn EngineService>) {
        let _ = self.engine.set(Arc::clone(engine)); // this is set only once
        let this: Weak<Self> = Arc::downgrade(self);
        self.upkeep.begin_when_asked(this);
        if !engine.clients().is_empty() {
            self.upkeep.ask(); // clients that matched before this call
        }
    }

    /// Closes all channels, so that clients notice that the server has ended.
    pub(crate) fn end(&self) {
        self.upkeep.end();
        *self.shown.lock() = None;
        *self.open.write() = Arc::default();
    }

    pub(crate) fn open(&self) -> Arc<[Arc<OpenChannel>]> {
        Arc::clone(&self.open.read())
    }

    /// The transport of each match, and the reason why a more direct transport is not used.
    pub(crate) fn transports(&self, clients: &[Match]) -> Vec<MatchTransport> {
        let open = self.open();
        let failed = self.failed.lock();
        let transport_of = |found: &Match| {
            let client = Announced::read(found.announcement.as_deref());
            let choice = classify(&client, &self.announced);
            let gid = found.gid;
            let is_open = open.iter().any(|known| known.client == gid);
            if choice.transport != Some(Transport::SharedMemory) || is_open {
                let (transport, reason) = (choice.transport, choice.reason);
                return MatchTransport { gid, transport, reason };
            }
            let known = failed.iter().find(|failed| failed.client == gid);
            let reason = known.map_or(Reason::Pending, |failed| failed.reason.clone());
            let network = network_is_allowed(&client, &self.announced);
            let transport = network.then_some(Transport::Network);
            MatchTransport { gid, transport, reason: Some(reason) }
        };
        clients.iter().map(transport_of).collect()
    }

    /// Opens the channels of new clients, and tries failed channels again if it is time to do so.
    fn open_new(
        &self,
        matches: &[Match],
        channels: &mut Vec<Arc<OpenChannel>>,
        server: Gid,
        now: Instant,
    ) -> bool {
        let mut has_opened = false;
        for found in matches {
            let client = Announced::read(found.announcement.as_deref());
            let is_due = |failed: &Failed| failed.client != found.gid || failed.retry_at <= now;
            if classify(&client, &self.announced).transport != Some(Transport::SharedMemory)
                || channels.iter().any(|known| known.client == found.gid)
                || !self.failed.lock().iter().all(is_due)
            {
                continue;
            }
            match open_channel(&client, server) {
                Ok(channel) => {
                    self.failed.lock().retain(|failed| failed.client != found.gid);
                    let network_is_allowed = network_is_allowed(&client, &self.announced);
                    let end = self.on_client_end();
                    let open = OpenChannel::new(found.gid, channel, network_is_allowed, end);
                    channels.push(Arc::new(open));
                    has_opened = true;
                }
                Err((reason, why)) => self.note_failure(found.gid, reason, &why, now),
            }
        }
        has_opened
    }

    /// Returns the function to call when the process of a client has ended. The function also rings
    /// the server's doorbell, because a killed process may have cleared the doorbell without waking
    /// the server. In that case, the rings of other clients would not wake the server either.
    fn on_client_end(&self) -> Notify {
        let (upkeep, ringer) = (self.upkeep.clone(), self.ringer.clone());
        Arc::new(move || {
            upkeep.ask();
            ringer.ring();
        })
    }

    fn note_failure(&self, client: Gid, reason: Reason, why: &str, now: Instant) {
        // One counter for all servers, because each node has several. Clients that call too many
        // servers count apart, because that has another cause than all other failures.
        static UNOPENED: FailureCounter = FailureCounter::new();
        static CROWDED: FailureCounter = FailureCounter::new();
        let mut failed = self.failed.lock();
        let known = failed.iter_mut().find(|failed| failed.client == client);
        let Some(known) = known else {
            let is_crowded = matches!(reason, Reason::TooManySubscriptions { .. });
            let counter = if is_crowded { &CROWDED } else { &UNOPENED };
            if reason != Reason::PublisherGone
                && let Some(so_far) = counter.so_far()
            {
                tracing::warn!(
                    target: "feros::shm",
                    "requests of client {client} take the network transport: {why}{so_far}"
                );
            }
            let (patience, retry_at) = (FIRST_RETRY, now + FIRST_RETRY);
            failed.push(Failed { client, reason, patience, retry_at });
            return;
        };
        known.patience = (known.patience * 2).min(LAST_RETRY);
        known.retry_at = now + known.patience;
        known.reason = reason;
    }

    /// Tells the clients of these channels where to ring. The sleep and the wake-up of an executor
    /// cost less if only its own process can ring it. So if there are no channels, no other process
    /// learns where to ring.
    fn show_place(&self, channels: &Arc<[Arc<OpenChannel>]>) {
        let mut shown = self.shown.lock();
        *shown = None; // this must be first, because the drop withdraws the old place
        if !channels.is_empty() {
            let channels = Arc::clone(channels);
            *shown = Some(self.ringer.on_move(move |place| {
                channels.iter().for_each(|known| known.channel.set_place(place));
            }));
        }
    }
}

/// Claims a channel for a server in the memory of a client.
fn open_channel(client: &Announced, server: Gid) -> Result<ServerChannel, (Reason, String)> {
    let unreadable = || {
        let reason = Reason::UnreadableAnnouncement { side: Side::Publisher };
        (reason.clone(), reason.to_string())
    };
    let client = client.feros().ok_or_else(unreadable)?;
    let token = NonZeroU64::new(client.token).ok_or_else(unreadable)?;
    let file = client.shared_memory.map_err(|why| {
        let reason = Reason::SharedMemoryUnavailable { by: Side::Publisher, why };
        (reason.clone(), reason.to_string())
    })?;
    let peer = Peer::open(client.pid, file, token);
    peer.map_err(ChannelError::from)
        .and_then(|peer| ServerChannel::open(peer, client.endpoint, server.0))
        .map_err(|error| (error.reason(), error.to_string()))
}

impl KeepUp for ServerChannels {
    fn keep_up(&self) -> Option<Instant> {
        let engine = self.engine.get()?;
        let (matches, now) = (engine.clients(), Instant::now());
        let is_matched = |client: Gid| matches.iter().any(|found| found.gid == client);
        let is_there = |known: &Arc<OpenChannel>| {
            is_matched(known.client) && !known.channel.peer().has_ended()
        };
        self.failed.lock().retain(|failed| is_matched(failed.client));
        let former = self.open();
        let mut channels = Vec::with_capacity(former.len());
        for known in former.iter() {
            if known.channel.is_scribbled() {
                let why = Obstacle::Other;
                let reason = Reason::SharedMemoryUnavailable { by: Side::Publisher, why };
                self.note_failure(known.client, reason, "its memory was overwritten", now);
            } else if is_there(known) || known.channel.may_have_request() {
                // Requests that a client sent before it left are still processed.
                channels.push(Arc::clone(known));
            }
        }
        let has_opened = self.open_new(&matches, &mut channels, engine.gid(), now);
        let orphans = channels.iter().any(|known| !is_there(known));
        if has_opened || channels.len() != former.len() {
            let channels: Arc<[Arc<OpenChannel>]> = channels.into();
            *self.open.write() = Arc::clone(&channels);
            self.show_place(&channels); // this also rings, because there may be requests
        }
        let retry_at = self.failed.lock().iter().map(|failed| failed.retry_at).min();
        retry_at.into_iter().chain(orphans.then(|| now + FIRST_RETRY)).min()
    }
}
