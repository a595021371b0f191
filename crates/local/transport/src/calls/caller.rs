//! The calls of one client. This module sends requests over the most direct transports that are
//! possible, and takes the responses from all transports.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use feros_doorbell::{Observation, Ringer};
use feros_engine::engine::Fill;
use feros_engine::{
    Client as EngineClient, FailureCounters, Gid, Notify, Payload, PublishError, Sample, Stamp,
    TakeError,
};
use feros_shm::{
    Announced, CallMemory, ClientChannel, SendToChannelError, Transport, TransportSet,
};
use feros_sync::{Mutex, RwLock};

use crate::bytes::{Buffer, BufferPool, lend};
use crate::calls::counters::CallCounters;
use crate::calls::inbox::{LocalMessage, NotPut, RequestQueue, ResponseInbox, SERVERS};
use crate::calls::listening::{self, Listening};
use crate::calls::local::{FIRST_LOCAL_NUMBER, local_sample};
use crate::calls::recipients::Recipients;
use crate::calls::routes::{Finder, Generation, ServerRoute, ServerRoutes, Way};
use crate::shared_memory::upkeep::{KeepUp, Upkeep};

/// How long a call waits at most until a server of this host has taken earlier requests.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The interval at which such a waiting call checks again.
const BUSY_INTERVAL: Duration = Duration::from_micros(200);
/// How long an unanswered request that went through the engine prevents later requests from taking
/// a more direct transport, on which they could overtake it.
const OVERTAKING: Duration = Duration::from_secs(1);

/// The time until the first check whether a server has opened its channel. This time doubles with
/// each further check.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// The limit on the number of these checks. After the last check, only calls check.
const MOST_LOOKS: u32 = 14;

/// The parts that a caller is made from.
pub(crate) struct CallerOptions<'a> {
    pub(crate) service: &'a str,
    pub(crate) engine: Arc<dyn EngineClient>,
    /// The client's announcement.
    pub(crate) announced: Announced,
    pub(crate) allowed: TransportSet,
    pub(crate) memory: Option<CallMemory>,
    pub(crate) ringer: &'a Ringer,
    pub(crate) on_response: Notify,
    pub(crate) on_match: Notify,
    /// This function is called when the process of a server has ended. The engine calls the same
    /// function when a server has left.
    pub(crate) on_server_end: Notify,
    /// Set when there may be a response to take from the engine.
    pub(crate) engine_pending: Arc<AtomicBool>,
    /// The engine increments this counter at each match notification.
    pub(crate) matches: Arc<AtomicU64>,
}

/// The part of a client that sends its requests and takes its responses.
pub(crate) struct Caller {
    service: String,
    pub(crate) engine: Arc<dyn EngineClient>,
    announced: Announced,
    allowed: TransportSet,
    memory: Option<Arc<CallMemory>>,
    inbox: Arc<ResponseInbox>,
    pub(crate) ringer: Ringer,
    on_response: Notify,
    on_match: Notify,
    engine_pending: Arc<AtomicBool>,
    matches: Arc<AtomicU64>,
    routes: RwLock<Arc<ServerRoutes>>,
    /// How many times the client has checked for channels that are not open yet, and the match
    /// count at the time of these checks.
    looks: Mutex<(u32, u64)>,
    next_number: AtomicI64,
    /// The last request that went through the engine, until its response arrives.
    sent_by_engine: Mutex<Option<(i64, Instant)>>,
    /// Set when servers of other processes know where to ring.
    shown: OnceLock<Observation>,
    is_listened_for: OnceLock<bool>,
    buffers: Mutex<BufferPool>,
    pub(crate) counters: CallCounters,
}

impl Caller {
    pub(crate) fn new(options: CallerOptions<'_>) -> Self {
        let CallerOptions { service, engine, announced, allowed, ringer, .. } = options;
        if let Some(memory) = &options.memory {
            memory.begin(engine.response_gid().0, options.on_server_end);
        }
        Self {
            service: service.to_owned(),
            engine,
            announced,
            allowed,
            memory: options.memory.map(Arc::new),
            inbox: Arc::new(ResponseInbox::new(ringer.clone(), options.on_response.clone())),
            ringer: ringer.clone(),
            on_response: options.on_response,
            on_match: options.on_match,
            engine_pending: options.engine_pending,
            matches: options.matches,
            routes: RwLock::new(Arc::new(ServerRoutes::not_looked_yet())),
            looks: Mutex::default(),
            next_number: AtomicI64::new(FIRST_LOCAL_NUMBER),
            sent_by_engine: Mutex::default(),
            shown: OnceLock::new(),
            is_listened_for: OnceLock::new(),
            buffers: Mutex::default(),
            counters: CallCounters::default(),
        }
    }

    /// Starts to observe the servers of other processes.
    pub(crate) fn begin(self: &Arc<Self>, upkeep: &Upkeep) {
        if self.memory.is_none() {
            return;
        }
        let this: Weak<Self> = Arc::downgrade(self);
        upkeep.begin_when_asked(this);
        if self.matches.load(Ordering::Acquire) > 0 {
            upkeep.ask(); // servers that matched before this call
        }
    }

    /// Makes the listening thread report the responses in shared memory, if such responses are
    /// possible.
    pub(crate) fn listen(self: &Arc<Self>) {
        if self.is_rung_by_others() {
            self.is_listened_for.get_or_init(|| {
                let client: Arc<dyn Listening> = self.clone();
                listening::listen_for(&client)
            });
        }
    }

    /// Whether servers of other processes may now know where to ring.
    pub(crate) fn is_rung_by_others(&self) -> bool {
        self.shown.get().is_some()
    }

    /// Whether servers of other processes may know where to ring, now or later.
    pub(crate) fn may_be_rung_by_others(&self) -> bool {
        self.memory.is_some()
    }

    fn generation(&self) -> Generation {
        Generation {
            matches: self.matches.load(Ordering::Acquire),
            registrations: SERVERS.generation(),
        }
    }

    /// Returns the current servers.
    pub(crate) fn routes(&self) -> Arc<ServerRoutes> {
        let routes = Arc::clone(&self.routes.read());
        let is_current = routes.generation == self.generation();
        if is_current && routes.hold(self.memory.as_deref()) { routes } else { self.renew_routes() }
    }

    #[cold]
    fn renew_routes(&self) -> Arc<ServerRoutes> {
        let generation = self.generation();
        let servers = self.engine.servers();
        if let Some(memory) = &self.memory {
            memory.free_channels(|server| servers.iter().any(|known| known.found.gid.0 == server));
        }
        let finder = Finder { announced: &self.announced, memory: self.memory.as_deref() };
        let routes = Arc::new(finder.find(servers, generation));
        *self.routes.write() = Arc::clone(&routes);
        // This call helps the engine, which would otherwise notice the end of these servers only
        // after some time without messages from them.
        routes.ended.iter().for_each(|server| self.engine.forget_ended(*server));
        if routes.servers.iter().any(|route| matches!(route.way, Way::SharedMemory(_))) {
            self.show_place();
        }
        routes
    }

    /// Tells the servers of other processes where to ring. This happens when the first channel is
    /// used.
    fn show_place(&self) {
        let Some(memory) = &self.memory else { return };
        self.shown.get_or_init(|| {
            let memory = Arc::clone(memory);
            self.ringer.on_move(move |place| memory.set_place(place))
        });
    }

    pub(crate) fn send_request(
        &self,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(i64, Recipients), PublishError> {
        self.send_on(self.routes(), size_bytes, fill)
    }

    /// Like [`send_request`](Self::send_request), but returns `None` if no server can be called.
    pub(crate) fn send_request_if_served(
        &self,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<Option<(i64, Recipients)>, PublishError> {
        let routes = self.routes();
        if !routes.is_available() {
            return Ok(None);
        }
        self.send_on(routes, size_bytes, fill).map(Some)
    }

    fn send_on(
        &self,
        mut routes: Arc<ServerRoutes>,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(i64, Recipients), PublishError> {
        let mut until = None;
        loop {
            let goes_by_engine = routes.needs_engine || routes.servers.is_empty();
            if goes_by_engine || self.would_overtake() {
                let number = self.send_by_engine(size_bytes, &mut *fill)?;
                return Ok((number, Recipients::default()));
            }
            let number = self.next_number.fetch_add(1, Ordering::Relaxed);
            let sent = match routes.servers.as_slice() {
                [ServerRoute { way: Way::SharedMemory(channel), .. }] => {
                    self.send_in_place(channel, number, size_bytes, &mut *fill)
                }
                servers => self.send_to_each(servers, number, size_bytes, &mut *fill),
            };
            match sent {
                Ok(()) => return Ok((number, Recipients::on(&routes.servers))),
                Err(Unsent::Error(error)) => return Err(error),
                Err(Unsent::Closed) => {}
                Err(Unsent::Busy) => {
                    let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
                    if Instant::now() >= until {
                        return Err(self.busy());
                    }
                    std::thread::sleep(BUSY_INTERVAL);
                }
                Err(Unsent::NoRoom(why)) => {
                    self.count_failure(&why);
                    if !self.allowed.contains(Transport::Network) {
                        return Err(self.no_memory(size_bytes));
                    }
                    let number = self.send_by_engine(size_bytes, fill)?;
                    return Ok((number, Recipients::default()));
                }
            }
            routes = self.routes();
        }
    }

    /// Whether it is certain that `recipients` will not send any further responses to their
    /// request.
    pub(crate) fn have_left(&self, recipients: &Recipients) -> bool {
        recipients.have_left(|| self.engine.responders())
    }

    /// Whether a request that went through the engine may not have arrived yet, so that a request
    /// over a more direct transport would overtake it.
    fn would_overtake(&self) -> bool {
        let mut sent = self.sent_by_engine.lock();
        if sent.is_some_and(|(_, at)| at.elapsed() >= OVERTAKING) {
            *sent = None;
        }
        sent.is_some()
    }

    fn send_by_engine(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        if !self.allowed.contains(Transport::Network) {
            // As with topics, nothing is delivered if no transport is possible.
            return Ok(self.next_number.fetch_add(1, Ordering::Relaxed));
        }
        let mut sent = self.sent_by_engine.lock();
        let number = self.engine.send_request(size_bytes, fill)?;
        *sent = Some((number, Instant::now()));
        drop(sent);
        self.counters.network.count(1, size_bytes);
        Ok(number)
    }

    /// Sends a request through shared memory. `fill` writes the request directly into the memory
    /// that the server reads.
    fn send_in_place(
        &self,
        channel: &ClientChannel,
        number: i64,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), Unsent> {
        let stamp = Stamp::now().0;
        channel.send(number, stamp, size_bytes, |memory| fill(memory).is_ok())?;
        self.counters.shared_memory.count(1, size_bytes);
        Ok(())
    }

    /// Sends a request to each server over the transport of that server.
    fn send_to_each(
        &self,
        servers: &[ServerRoute],
        number: i64,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), Unsent> {
        let mut buffer = self.buffers.lock().get(size_bytes);
        let memory = Arc::get_mut(&mut buffer).expect("a buffer that nobody else uses");
        fill(memory.bytes_mut()).map_err(|_| Unsent::Error(PublishError::FillAborted))?;
        let mut has_sent = false;
        for route in servers {
            let sent = match &route.way {
                Way::IntraProcess(queue) => self.send_in_process(queue, number, &buffer),
                Way::SharedMemory(channel) => {
                    let mut copy = |memory: &mut [u8]| {
                        memory.copy_from_slice(buffer.as_slice());
                        Ok(())
                    };
                    self.send_in_place(channel, number, size_bytes, &mut copy)
                }
                Way::Network | Way::None => continue,
            };
            match sent {
                Ok(()) => has_sent = true,
                // No error may be returned here, because the caller would then send the request
                // again to servers that have already received it.
                Err(error) if has_sent => {
                    self.count_failure(&format_args!(
                        "the request did not reach one of several servers: {error:?}"
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        self.buffers.lock().put_back(&buffer);
        Ok(())
    }

    fn send_in_process(
        &self,
        queue: &RequestQueue,
        number: i64,
        buffer: &Arc<Buffer>,
    ) -> Result<(), Unsent> {
        let (sender, stamp, payload) = (self.engine.response_gid(), Stamp::now(), lend(buffer));
        let request = LocalMessage { number, sender, stamp, payload };
        queue.put(request, &self.inbox, MAX_WAIT).map_err(|why| match why {
            NotPut::Gone => Unsent::Closed,
            NotPut::Busy => Unsent::Error(self.busy()),
        })?;
        self.counters.intra_process.count(1, buffer.len());
        Ok(())
    }

    fn busy(&self) -> PublishError {
        PublishError::ServerBusy { service: self.service.clone(), waited: MAX_WAIT }
    }

    fn no_memory(&self, size_bytes: usize) -> PublishError {
        PublishError::OutOfMemory { topic: self.service.clone(), size_bytes }
    }

    /// Counts and logs a request that took the network transport. All clients of the process that
    /// call the service count together in the log.
    #[cold]
    fn count_failure(&self, why: &dyn Display) {
        static FAILED: FailureCounters = FailureCounters::new();
        self.counters.shared_memory_failures.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = FAILED.count(&self.service) {
            tracing::warn!(
                target: "feros::shm",
                "{}: {count} requests so far took the network transport instead of shared memory: \
                 {why}",
                self.service
            );
        }
    }

    pub(crate) fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        if let Some(response) = self.inbox.take() {
            let LocalMessage { number, sender, stamp, payload } = response;
            return Ok(Some((number, self.sample(sender, stamp, payload))));
        }
        if let Some(response) = self.take_from_shared_memory() {
            return Ok(Some(response));
        }
        let is_pending = self.engine_pending.load(Ordering::Relaxed)
            && self.engine_pending.swap(false, Ordering::AcqRel);
        if !is_pending {
            return Ok(None);
        }
        let response = self.engine.take_response();
        if matches!(response, Ok(Some(_)) | Err(_)) {
            self.engine_pending.store(true, Ordering::Release);
        }
        if let Ok(Some((number, _))) = &response {
            let mut sent = self.sent_by_engine.lock();
            if sent.is_some_and(|(last, _)| last <= *number) {
                *sent = None;
            }
        }
        response
    }

    fn take_from_shared_memory(&self) -> Option<(i64, Sample)> {
        let memory = self.memory.as_ref().filter(|_| self.is_rung_by_others())?;
        let taken = memory.take_response(|server, head, read| {
            let mut buffer = self.buffers.lock().get(head.size_bytes);
            read(Arc::get_mut(&mut buffer).expect("a buffer that nobody else uses").bytes_mut());
            (Gid(server), head, buffer)
        });
        match taken {
            Ok(taken) => {
                let (server, head, buffer) = taken?;
                let payload = lend(&buffer);
                self.buffers.lock().put_back(&buffer);
                Some((head.number, self.sample(server, Stamp(head.stamp), payload)))
            }
            Err(error) => {
                static REFUSED: FailureCounters = FailureCounters::new();
                self.counters.refused_in_shared_memory.fetch_add(1, Ordering::Relaxed);
                if let Some(so_far) = REFUSED.so_far(&self.service) {
                    tracing::error!(target: "feros::shm", "{}: {error}{so_far}", self.service);
                }
                None
            }
        }
    }

    fn sample(&self, server: Gid, stamp: Stamp, payload: Payload) -> Sample {
        local_sample(self.engine.gid(), server, stamp, payload)
    }
}

/// The reason why a request was not sent over a local transport.
#[derive(Debug)]
enum Unsent {
    /// The server has ended, so the routes must be found again.
    Closed,
    /// The server has not taken earlier requests yet.
    Busy,
    /// Shared memory has no room for the request.
    NoRoom(SendToChannelError),
    Error(PublishError),
}

impl From<SendToChannelError> for Unsent {
    fn from(error: SendToChannelError) -> Self {
        match error {
            SendToChannelError::Busy { .. } => Self::Busy,
            SendToChannelError::Gone => Self::Closed,
            SendToChannelError::Aborted => Self::Error(PublishError::FillAborted),
            other => Self::NoRoom(other),
        }
    }
}

impl KeepUp for Caller {
    /// Checks whether servers have opened their channels. Without this, only calls would check, and
    /// it may take a long time until the next call.
    fn keep_up(&self) -> Option<Instant> {
        let former = Arc::clone(&self.routes.read());
        let routes = self.routes();
        if !Arc::ptr_eq(&former, &routes) {
            (self.on_match)();
        }
        let mut looks = self.looks.lock();
        if looks.1 != routes.generation.matches {
            *looks = (0, routes.generation.matches);
        }
        if !routes.has_pending() || looks.0 >= MOST_LOOKS {
            return None;
        }
        let patience = FIRST_LOOK * (1 << looks.0);
        looks.0 += 1;
        Some(Instant::now() + patience)
    }
}

impl Listening for Caller {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn notify(&self) {
        let has_news =
            |memory: &Arc<CallMemory>| memory.may_have_response() || memory.has_lost_server();
        if self.memory.as_ref().is_some_and(has_news) {
            (self.on_response)();
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.inbox.close();
        if self.is_listened_for.get().is_some() {
            listening::forget_gone();
        }
    }
}
