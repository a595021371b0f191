//! The sending side: which matches of a publisher take which path, and one publish for all of them.

use std::fmt::Display;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use feros_rmw::engine::Fill;
use feros_rmw::{
    Durability, FillAborted, Gid, Liveliness, Payload, PayloadBytes, PublishError,
    Publisher as EnginePublisher, QosProfile, Stamp,
};
use feros_shm::{Announced, Choice, HostLoan, Path, PathSet, PoolUse, Reason, SampleHeader, classify};

use crate::paths::buffer::{Buffer, BufferPool};
use crate::paths::counters::PublisherCounters;
use crate::paths::host_sending::{HostRoute, HostSending};
use crate::paths::inbox::{AnyInbox, Envelope};
use crate::paths::registry;

/// How long publishing waits for room where all is kept and delivery is reliable, before it gives up.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The matches of one publisher, sorted by path. Replaced as a whole when they change.
pub(crate) struct Routes {
    generation: Generation,
    pub(crate) process: Vec<ProcessRoute>,
    host: Vec<HostRoute>,
    /// Whether some host routes are still being set up.
    has_pending: bool,
    /// What users are told.
    paths: Vec<MatchPath>,
    /// Whether the engine has to send: for a match on the network path, or for a QoS that it implements by sending.
    pub(crate) needs_engine: bool,
}

impl Routes {
    /// Takes in a match that can be served by shared memory, and says which path it takes now.
    fn add_host(&mut self, route: Result<HostRoute, Reason>, network_is_allowed: bool) -> Choice {
        let network = network_is_allowed.then_some(Path::Network);
        match route {
            Ok(route) => {
                let is_served = route.served().is_some();
                self.has_pending |= !is_served;
                self.host.push(route);
                if is_served {
                    Choice { path: Some(Path::Host), reason: None }
                } else {
                    Choice { path: network, reason: Some(Reason::Pending) }
                }
            }
            Err(reason) => Choice { path: network, reason: Some(reason) },
        }
    }
}

fn network_is_allowed(by_publisher: PathSet, subscription: &Announced) -> bool {
    let by_subscription =
        subscription.feros().is_none_or(|subscription| subscription.paths.contains(Path::Network));
    by_publisher.contains(Path::Network) && by_subscription
}

/// The path that messages between two endpoints take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchPath {
    /// The other endpoint.
    pub gid: Gid,
    /// The path; `None`: no path that both sides allow is possible, so nothing is delivered.
    pub path: Option<Path>,
    /// Why it is not a shorter one; `None`: there is no shorter one.
    pub reason: Option<Reason>,
}

/// A subscription of this process.
pub(crate) struct ProcessRoute {
    pub(crate) inbox: Arc<dyn AnyInbox>,
    subscription: Gid,
    /// Number of the first message that it is sent on this path.
    since: u64,
}

impl ProcessRoute {
    /// The envelope of a message as this subscription gets it.
    pub(crate) fn address(&self, envelope: Envelope) -> Envelope {
        Envelope { since: self.since, ..envelope }
    }
}

/// What the routes depend on: matches of the engine, subscriptions of this process.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Generation {
    matches: u64,
    process: u64,
}

/// One publisher's way to all paths.
pub(crate) struct Outlet {
    topic: String,
    engine: Arc<dyn EnginePublisher>,
    gid: Gid,
    allowed: PathSet,
    host: Mutex<HostSending>,
    host_id: NonZeroU64,
    /// Late joiners get history from the engine; deadlines and manual liveliness are kept by its writes.
    engine_keeps_promises: bool,
    lifespan: Option<Duration>,
    /// Counted up by the engine's notification of a match.
    matches: Arc<AtomicU64>,
    routes: RwLock<Arc<Routes>>,
    sending: Mutex<Sending>,
    buffers: Mutex<BufferPool>,
    counters: PublisherCounters,
}

/// What one publish after the other needs. Held while a message goes out, so that every path has the same order.
pub(crate) struct Sending {
    last_stamp: Stamp,
    number: u64,
}

impl Sending {
    /// Stamp and number of the next message.
    fn next(&mut self) -> (Stamp, u64) {
        self.last_stamp = Stamp::now().max(Stamp(self.last_stamp.0 + 1));
        self.number += 1;
        (self.last_stamp, self.number)
    }
}

/// What a message has to offer to a publish.
pub(crate) trait Outgoing {
    /// Its size when serialized.
    fn size_bytes(&self) -> usize;
    /// Serializes it.
    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted>;
    /// Whether one of the subscriptions of this process takes it as bytes.
    fn wants_bytes(&self, process: &[ProcessRoute]) -> bool;
    /// Puts it into the inboxes of this process, and says so to those who wait there. `bytes` is there if they were asked for.
    fn put(&mut self, process: &[ProcessRoute], envelope: Envelope, bytes: Option<&Arc<Buffer>>);
}

impl Outlet {
    pub(crate) fn new(
        topic: &str,
        engine: Arc<dyn EnginePublisher>,
        allowed: PathSet,
        host: HostSending,
        matches: Arc<AtomicU64>,
    ) -> Self {
        let qos = engine.qos();
        let none = Routes {
            // No generation is like this one: the first publish looks.
            generation: Generation { matches: u64::MAX, process: u64::MAX },
            process: Vec::new(),
            host: Vec::new(),
            has_pending: false,
            paths: Vec::new(),
            needs_engine: true,
        };
        Self {
            topic: topic.to_owned(),
            gid: engine.gid(),
            allowed,
            host_id: host.id(),
            host: Mutex::new(host),
            engine_keeps_promises: engine_keeps_promises(&qos) && allowed.contains(Path::Network),
            lifespan: qos.lifespan.finite(),
            engine,
            matches,
            routes: RwLock::new(Arc::new(none)),
            sending: Mutex::new(Sending { last_stamp: Stamp::MIN, number: 0 }),
            buffers: Mutex::default(),
            counters: PublisherCounters::default(),
        }
    }

    pub(crate) fn counters(&self) -> &PublisherCounters {
        &self.counters
    }

    /// The path of each match as it is now.
    pub(crate) fn paths(&self) -> Vec<MatchPath> {
        self.routes().paths.clone()
    }

    /// How much of the publisher's shared memory is in use; `None` while it has none.
    pub(crate) fn pool(&self) -> Option<PoolUse> {
        self.lock_host().memory().map(|memory| memory.pool())
    }

    /// The routes as they are now.
    pub(crate) fn routes(&self) -> Arc<Routes> {
        let generation =
            Generation { matches: self.matches.load(Ordering::Acquire), process: registry::generation() };
        {
            let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
            let is_ready =
                routes.has_pending && routes.host.iter().any(|route| route.has_attached(self.host_id));
            if routes.generation == generation && !is_ready {
                return Arc::clone(&routes);
            }
        }
        // Nothing is published between the look at the matches and the change of the routes.
        let sending = self.lock_sending();
        let former = self.routes.read().unwrap_or_else(PoisonError::into_inner).clone();
        let routes = Arc::new(self.find_routes(generation, &former, sending.number + 1));
        *self.routes.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&routes);
        drop(sending);
        self.clean_up_after_deaths(&former, &routes);
        routes
    }

    fn find_routes(&self, generation: Generation, former: &Routes, next_number: u64) -> Routes {
        let mut routes = Routes {
            generation,
            process: Vec::new(),
            host: Vec::new(),
            has_pending: false,
            paths: Vec::new(),
            needs_engine: self.engine_keeps_promises,
        };
        let mut host = self.lock_host();
        for found in self.engine.matches() {
            let inbox = registry::find(found.gid);
            if inbox.as_ref().is_some_and(|inbox| inbox.ignores(self.gid)) {
                continue;
            }
            let announced = Announced::read(found.announcement.as_deref());
            let mut choice = classify(host.announced(), &announced);
            if let (Some(Path::Process), Some(inbox)) = (choice.path, inbox) {
                let known = former.process.iter().find(|route| route.subscription == found.gid);
                let since = known.map_or(next_number, |route| route.since);
                routes.process.push(ProcessRoute { inbox, subscription: found.gid, since });
            } else if matches!(choice.path, Some(Path::Process | Path::Host)) {
                let known = former.host.iter().find(|route| route.subscription == found.gid);
                let route = host.route(&found, known, &*self.engine, next_number);
                choice = routes.add_host(route, network_is_allowed(self.allowed, &announced));
            }
            routes.needs_engine |= choice.path == Some(Path::Network);
            routes.paths.push(MatchPath { gid: found.gid, path: choice.path, reason: choice.reason });
        }
        routes
    }

    /// What a killed subscription left in shared memory is removed as soon as the engine tells that it is gone.
    fn clean_up_after_deaths(&self, former: &Routes, routes: &Routes) {
        let is_there =
            |gone: &HostRoute| routes.host.iter().any(|route| route.subscription == gone.subscription);
        let has_died = former.host.iter().any(|route| !is_there(route) && !route.peer.peer().is_alive());
        if has_died && let Some(memory) = self.lock_host().memory().cloned() {
            memory.node().clean_up();
        }
    }

    /// Publishes one message on every path that somebody needs.
    pub(crate) fn publish(&self, message: &mut impl Outgoing) -> Result<(), PublishError> {
        let routes = self.routes();
        self.wait_for_room(&routes)?;
        let by_process = !routes.process.is_empty();
        let by_host = routes.host.iter().any(|route| route.served().is_some());
        // Where only one takes the bytes, they are written into its memory; for several they are written once and copied.
        let shared = by_process && message.wants_bytes(&routes.process)
            || routes.needs_engine && (by_process || by_host);
        let bytes = if shared { Some(self.serialize(message)?) } else { None };
        let loan = if by_host { self.loan(message, bytes.as_deref())? } else { None };
        self.send(&routes, message, bytes.as_ref(), loan, by_host)?;
        routes.process.iter().for_each(|route| route.inbox.run_direct());
        if let Some(bytes) = bytes {
            self.lock_buffers().put_back(&bytes);
        }
        Ok(())
    }

    /// Sends what is ready, on all paths in the same order.
    fn send(
        &self,
        routes: &Routes,
        message: &mut impl Outgoing,
        bytes: Option<&Arc<Buffer>>,
        loan: Option<HostLoan>,
        by_host: bool,
    ) -> Result<(), PublishError> {
        let mut sending = self.lock_sending();
        let (stamp, number) = sending.next();
        // Only if shared memory has no room, the engine sends what otherwise need not be sent.
        let is_on_host = loan.is_some_and(|loan| self.send_to_host(routes, loan, stamp, number));
        let needs_engine =
            routes.needs_engine || by_host && !is_on_host && self.allowed.contains(Path::Network);
        let engine_first = needs_engine && bytes.is_none();
        if engine_first {
            // Rare: the message may be given away below.
            self.write_to_engine(stamp, message, None)?;
        }
        if !routes.process.is_empty() {
            let expires = self.lifespan.map(|lifespan| Instant::now() + lifespan);
            let envelope = Envelope { publisher: self.gid, stamp, number, since: number, expires };
            message.put(&routes.process, envelope, bytes);
            self.counters.process.count(routes.process.len(), bytes.map_or(0, |bytes| bytes.len()));
        }
        if needs_engine && !engine_first {
            self.write_to_engine(stamp, message, bytes.map(Arc::as_ref))?;
        }
        if !needs_engine {
            self.counters.skipped_engine_writes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Memory that subscriptions of other processes read, with the message in it. `None`: there is none now.
    fn loan(
        &self,
        message: &mut impl Outgoing,
        bytes: Option<&Buffer>,
    ) -> Result<Option<HostLoan>, PublishError> {
        let Some(mut loan) = self.try_loan(bytes.map_or_else(|| message.size_bytes(), Buffer::len)) else {
            return Ok(None);
        };
        match bytes {
            Some(bytes) => loan.copy_from_slice(bytes.as_slice()),
            None => message.fill(&mut loan).map_err(|FillAborted| PublishError::FillAborted)?,
        }
        Ok(Some(loan))
    }

    pub(crate) fn try_loan(&self, size_bytes: usize) -> Option<HostLoan> {
        let memory = self.lock_host().memory().cloned()?;
        memory.loan(size_bytes).map_err(|error| self.count_host_failure(&error)).ok()
    }

    fn send_to_host(&self, routes: &Routes, loan: HostLoan, stamp: Stamp, number: u64) -> bool {
        let Some(memory) = self.lock_host().memory().cloned() else { return false };
        let size_bytes = loan.len();
        let expires = self.lifespan.map_or(0, |lifespan| {
            let end = i128::from(stamp.0) + i128::try_from(lifespan.as_nanos()).unwrap_or(i128::MAX);
            u64::try_from(end).unwrap_or(u64::MAX)
        });
        let header =
            SampleHeader { stamp: stamp.0, publication_number: number, expires_nanos: expires, flags: 0 };
        if let Err(error) = memory.send(loan, header) {
            self.count_host_failure(&error);
            return false;
        }
        for route in &routes.host {
            if let Some(served) = route.served() {
                served.count_sent();
                route.peer.ring();
                self.counters.host.count(1, size_bytes);
            }
        }
        true
    }

    fn count_host_failure(&self, error: &dyn Display) {
        let count = self.counters.host_failures.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(
                target: "feros::shm",
                "{}: {count} messages so far took the network path instead of shared memory: {error}", self.topic
            );
        }
    }

    fn write_to_engine(
        &self,
        stamp: Stamp,
        message: &mut impl Outgoing,
        bytes: Option<&Buffer>,
    ) -> Result<(), PublishError> {
        let size = bytes.map_or_else(|| message.size_bytes(), Buffer::len);
        let mut copy;
        let mut write;
        let fill: Fill<'_> = match bytes {
            Some(bytes) => {
                copy = |memory: &mut [u8]| {
                    memory.copy_from_slice(bytes.as_slice());
                    Ok(())
                };
                &mut copy
            }
            None => {
                write = |memory: &mut [u8]| message.fill(memory);
                &mut write
            }
        };
        self.engine.publish_at(stamp, size, fill)?;
        self.counters.network.count(1, size);
        Ok(())
    }

    /// The message in a buffer of the pool.
    fn serialize(&self, message: &mut impl Outgoing) -> Result<Arc<Buffer>, PublishError> {
        let mut buffer = self.lock_buffers().get(message.size_bytes());
        let memory = Arc::get_mut(&mut buffer).expect("a buffer of the pool that nobody else uses");
        message.fill(memory.bytes_mut()).map_err(|FillAborted| PublishError::FillAborted)?;
        Ok(buffer)
    }

    /// Waits, without a lock, until everyone who keeps all has room.
    fn wait_for_room(&self, routes: &Routes) -> Result<(), PublishError> {
        let mut until = None;
        for served in routes.host.iter().filter_map(HostRoute::served) {
            let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
            let timeout = |_| PublishError::Timeout { topic: self.topic.clone(), waited: MAX_WAIT };
            served.wait_for_room(until).map_err(timeout)?;
        }
        for route in routes.process.iter().filter(|route| route.inbox.is_lossless()) {
            let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
            let timeout = |_| PublishError::Timeout { topic: self.topic.clone(), waited: MAX_WAIT };
            route.inbox.wait_for_room(until).map_err(timeout)?;
        }
        Ok(())
    }

    fn lock_host(&self) -> MutexGuard<'_, HostSending> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_sending(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_buffers(&self) -> MutexGuard<'_, BufferPool> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn engine_keeps_promises(qos: &QosProfile) -> bool {
    qos.durability == Durability::TransientLocal
        || qos.deadline.finite().is_some()
        || qos.liveliness == Liveliness::ManualByTopic
}

/// A pooled buffer that one more subscription reads.
struct Lent(Arc<Buffer>);

impl PayloadBytes for Lent {
    fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Bytes of a pooled buffer for one more inbox.
pub(crate) fn lend(bytes: &Arc<Buffer>) -> Payload {
    Payload::new(Lent(Arc::clone(bytes)))
}
