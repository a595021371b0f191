//! The sending side: which matches of a publisher take which transport, and one publish for all of
//! them.

use std::fmt::Display;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use feros_rmw::engine::Fill;
use feros_rmw::{
    Durability, FillAborted, Gid, Liveliness, Publisher as EnginePublisher, QosProfile, Stamp,
};
use feros_shm::{
    Announced, HostLoan, HostPublisher, PoolUse, SampleHeader, Transport, TransportSet, classify,
};
use feros_trace::{Endpoint, Kind, MessageId, Outbound, Point};

use crate::publisher::PublishError;
use crate::transports::buffer::{Buffer, BufferPool};
use crate::transports::counters::PublisherCounters;
use crate::transports::host_sending::{HostRoute, HostSending};
use crate::transports::inbox::Envelope;
use crate::transports::outgoing::{Built, Bytes, Outgoing, fill};
use crate::transports::registry;
use crate::transports::routes::{
    Generation, MatchTransport, ProcessRoute, Routes, network_is_allowed,
};
use crate::transports::shared_memory::WhenExhausted;

/// How long publishing waits for room where all is kept and delivery is reliable, before it gives
/// up.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// One publisher's way to all transports.
pub(crate) struct Outlet {
    topic: String,
    engine: Arc<dyn EnginePublisher>,
    gid: Gid,
    traced: Endpoint,
    allowed: TransportSet,
    host: Mutex<HostSending>,
    host_id: NonZeroU64,
    /// Late joiners get history from the engine; deadlines and manual liveliness are kept by its
    /// writes.
    engine_keeps_promises: bool,
    lifespan: Option<Duration>,
    /// Counted up by the engine's notification of a match.
    matches: Arc<AtomicU64>,
    routes: RwLock<Arc<Routes>>,
    sending: Mutex<Sending>,
    buffers: Mutex<BufferPool>,
    counters: PublisherCounters,
    when_exhausted: WhenExhausted,
    has_warned_of_pool: AtomicBool,
}

/// The use of the pool is looked at once in so many messages.
const POOL_LOOK: u64 = 64;

/// What one publish after the other needs. Held while a message goes out, so that every transport
/// has the same order.
pub(crate) struct Sending {
    last_stamp: Stamp,
    number: u64,
    /// The engine has messages that shared memory had no room for. Until they have arrived, what
    /// comes later follows them: by shared memory it would overtake them, and they would be dropped
    /// as old.
    is_on_detour: bool,
}

impl Sending {
    /// Stamp and number of the next message.
    fn next(&mut self) -> (Stamp, u64) {
        self.last_stamp = Stamp::now().max(Stamp(self.last_stamp.0 + 1));
        self.number += 1;
        (self.last_stamp, self.number)
    }
}

impl Outlet {
    pub(crate) fn new(
        topic: &str,
        engine: Arc<dyn EnginePublisher>,
        allowed: TransportSet,
        (host, when_exhausted): (HostSending, WhenExhausted),
        matches: Arc<AtomicU64>,
    ) -> Self {
        let qos = engine.qos();
        // No generation is like this one: the first publish looks.
        let none = Routes::new(Generation { matches: u64::MAX, process: u64::MAX }, true);
        Self {
            topic: topic.to_owned(),
            gid: engine.gid(),
            traced: Endpoint::new(Kind::Publisher, engine.gid().0, topic),
            allowed,
            host_id: host.id(),
            host: Mutex::new(host),
            engine_keeps_promises: engine_keeps_promises(&qos)
                && allowed.contains(Transport::Network),
            lifespan: qos.lifespan.finite(),
            engine,
            matches,
            routes: RwLock::new(Arc::new(none)),
            sending: Mutex::new(Sending { last_stamp: Stamp::MIN, number: 0, is_on_detour: false }),
            buffers: Mutex::default(),
            counters: PublisherCounters::default(),
            when_exhausted,
            has_warned_of_pool: AtomicBool::new(false),
        }
    }

    pub(crate) fn counters(&self) -> &PublisherCounters {
        &self.counters
    }

    /// The transport of each match as it is now.
    pub(crate) fn transports(&self) -> Vec<MatchTransport> {
        let routes = self.routes_without_waiting();
        // Why a subscription could not open its link is in what it announces, and no ring tells of
        // that.
        let renewed = routes.has_pending.then(|| self.sending.try_lock().ok()).flatten();
        renewed.map_or(routes, |sending| self.renew_routes(sending)).transports.clone()
    }

    /// How much of the publisher's shared memory is in use; `None` while it has none.
    pub(crate) fn pool(&self) -> Option<PoolUse> {
        self.lock_host().memory().map(|memory| memory.pool())
    }

    /// The routes as they are now.
    fn routes(&self) -> Arc<Routes> {
        self.current_routes().unwrap_or_else(|| self.renew_routes(self.lock_sending()))
    }

    /// The routes as they are now, or as they were if somebody is just publishing: that may take as
    /// long as a full link makes it, and whoever publishes next renews them.
    pub(crate) fn routes_without_waiting(&self) -> Arc<Routes> {
        self.current_routes().unwrap_or_else(|| match self.sending.try_lock() {
            Ok(sending) => self.renew_routes(sending),
            Err(_) => self.read_routes(),
        })
    }

    fn read_routes(&self) -> Arc<Routes> {
        Arc::clone(&self.routes.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn generation(&self) -> Generation {
        Generation {
            matches: self.matches.load(Ordering::Acquire),
            process: registry::generation(),
        }
    }

    /// The routes, unless something has changed since they were made.
    fn current_routes(&self) -> Option<Arc<Routes>> {
        let generation = self.generation();
        let routes = self.read_routes();
        let is_ready =
            routes.has_pending && routes.host.iter().any(|route| route.has_attached(self.host_id));
        (routes.generation == generation && !is_ready).then_some(routes)
    }

    /// Nothing is published between the look at the matches and the change of the routes: that is
    /// what the guard is for.
    fn renew_routes(&self, sending: MutexGuard<'_, Sending>) -> Arc<Routes> {
        let former = self.read_routes();
        let routes = Arc::new(self.find_routes(self.generation(), &former, sending.number + 1));
        // As long as a link waits for acknowledgements, each publish looks, and what others have
        // prepared stays good.
        if routes.send_like(&former) {
            return former;
        }
        *self.routes.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&routes);
        drop(sending);
        self.clean_up_after_deaths(&former, &routes);
        routes
    }

    fn find_routes(&self, generation: Generation, former: &Routes, next_number: u64) -> Routes {
        let mut routes = Routes::new(generation, self.engine_keeps_promises);
        let mut host = self.lock_host();
        for found in self.engine.matches() {
            let mut announced = Announced::read(found.announcement.as_deref());
            // Its route stays: it tries again.
            let declined = announced.forget_declined(self.host_id.get());
            let mut choice = classify(host.announced(), &announced);
            let inbox = match choice.transport {
                Some(Transport::IntraProcess) => registry::find_or_wait(found.gid),
                _ => registry::find(found.gid),
            };
            if inbox.as_ref().is_some_and(|inbox| inbox.ignores(self.gid)) {
                continue;
            }
            if choice.transport == Some(Transport::IntraProcess) {
                let Some(inbox) = inbox else { continue };
                let known = former.process.iter().find(|route| route.subscription == found.gid);
                let since = known.map_or(next_number, |route| route.since);
                let traced = Endpoint::new(Kind::Subscription, found.gid.0, &self.topic);
                routes.process.push(ProcessRoute { inbox, subscription: found.gid, since, traced });
            } else if choice.transport == Some(Transport::SharedMemory) {
                let known = former.host.iter().find(|route| route.subscription == found.gid);
                let route = host.route(&found, known, &*self.engine, next_number);
                let network = network_is_allowed(host.announced(), &announced);
                choice = routes.add_host(route, declined, network);
            }
            routes.needs_engine |= choice.transport == Some(Transport::Network);
            routes.transports.push(MatchTransport {
                gid: found.gid,
                transport: choice.transport,
                reason: choice.reason,
            });
        }
        if routes.served().next().is_some() {
            routes.memory = host.memory().cloned();
        }
        routes
    }

    /// What a killed subscription left in shared memory is removed as soon as the engine tells that
    /// it is gone.
    fn clean_up_after_deaths(&self, former: &Routes, routes: &Routes) {
        let is_there = |gone: &HostRoute| {
            routes.host.iter().any(|route| route.subscription == gone.subscription)
        };
        let has_died =
            former.host.iter().any(|route| !is_there(route) && !route.peer.peer().is_alive());
        if has_died && let Some(memory) = self.lock_host().memory().cloned() {
            memory.node().clean_up();
        }
    }

    pub(crate) fn topic(&self) -> &str {
        &self.topic
    }

    /// Memory in which a message can be built: shared memory if a subscription reads it there, else
    /// a buffer.
    pub(crate) fn memory_for(&self, size_bytes: usize) -> Result<Built, PublishError> {
        let routes = self.routes();
        let loan =
            routes.memory.as_ref().map(|memory| self.try_loan(memory, size_bytes)).transpose()?;
        Ok(loan
            .flatten()
            .map_or_else(|| Built::Local(self.lock_buffers().get(size_bytes)), Built::Host))
    }

    /// Publishes a message that was built in such memory.
    pub(crate) fn publish_built(
        &self,
        mut memory: Built,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        loop {
            let routes = self.routes();
            self.wait_for_room(&routes)?;
            let was_lent = matches!(memory, Built::Host(_));
            let (bytes, loan) = match memory {
                Built::Local(buffer) => {
                    let loan = self.loan(&routes, &mut Bytes(buffer.as_slice()), None, trace)?;
                    (Some(buffer), loan)
                }
                Built::Host(loan) => {
                    let is_copied = !routes.process.is_empty() || routes.needs_engine;
                    let bytes = if is_copied {
                        Some(self.serialize(&mut Bytes(&loan), trace)?)
                    } else {
                        None
                    };
                    (bytes, Some(loan))
                }
            };
            let Some(sending) = self.begin_sending(&routes) else {
                memory = match (loan, bytes) {
                    (Some(loan), _) if was_lent => Built::Host(loan),
                    (_, Some(buffer)) => Built::Local(buffer),
                    _ => unreachable!("it was in one of them"),
                };
                continue;
            };
            let loan = loan.filter(|_| routes.memory.is_some());
            let mut message = Bytes(bytes.as_ref().map_or(&[], |bytes| bytes.as_slice()));
            self.send(sending, &routes, &mut message, bytes.as_ref(), loan, trace)?;
            self.finish(&routes, bytes);
            trace.pass(Point::PublishEnd);
            return Ok(());
        }
    }

    /// Publishes one message on every transport that somebody needs.
    pub(crate) fn publish(
        &self,
        message: &mut impl Outgoing,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        loop {
            let routes = self.routes();
            self.wait_for_room(&routes)?;
            let by_process = !routes.process.is_empty();
            let by_host = routes.memory.is_some();
            // Where only one takes the bytes, they are written into its memory; for several they
            // are written once and copied.
            let shared = by_process && message.wants_bytes(&routes.process)
                || routes.needs_engine && (by_process || by_host);
            let bytes = if shared { Some(self.serialize(message, trace)?) } else { None };
            let loan = self.loan(&routes, message, bytes.as_deref(), trace)?;
            let Some(sending) = self.begin_sending(&routes) else { continue };
            self.send(sending, &routes, message, bytes.as_ref(), loan, trace)?;
            self.finish(&routes, bytes);
            trace.pass(Point::PublishEnd);
            return Ok(());
        }
    }

    /// The turn to send by these routes. `None`: since the message was prepared, somebody has
    /// changed them, or taken the room. A message that went by former routes could come after a
    /// later one that goes by new ones, and be dropped as old; and one too many would push out one
    /// of those who keep all.
    fn begin_sending(&self, routes: &Arc<Routes>) -> Option<MutexGuard<'_, Sending>> {
        let sending = self.lock_sending();
        let is_current =
            Arc::ptr_eq(routes, &self.routes.read().unwrap_or_else(PoisonError::into_inner));
        let has_room =
            || routes.served().all(|(_, served)| !served.is_lossless() || served.has_room());
        (is_current && has_room()).then_some(sending)
    }

    /// What is done without a lock when a message is out.
    fn finish(&self, routes: &Routes, bytes: Option<Arc<Buffer>>) {
        routes.process.iter().for_each(|route| route.inbox.run_direct());
        if let Some(memory) = &routes.memory {
            memory.prepare();
        }
        if let Some(bytes) = bytes {
            self.lock_buffers().put_back(&bytes);
        }
    }

    /// Sends what is ready, on all transports in the same order.
    fn send(
        &self,
        mut sending: MutexGuard<'_, Sending>,
        routes: &Routes,
        message: &mut impl Outgoing,
        bytes: Option<&Arc<Buffer>>,
        loan: Option<HostLoan>,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        let (stamp, number) = sending.next();
        let id = || MessageId { publisher: self.gid.0, stamp: stamp.0, number };
        trace.name(&self.traced, id);
        if sending.is_on_detour {
            sending.is_on_detour = !self.has_detour_ended(routes);
        }
        let (loan, detoured) = if sending.is_on_detour { (None, loan) } else { (loan, None) };
        // Only if shared memory has no room, the engine sends what otherwise need not be sent.
        let is_on_host = loan.is_some_and(|loan| self.send_to_host(routes, loan, stamp, number));
        let takes_detour =
            routes.memory.is_some() && !is_on_host && self.allowed.contains(Transport::Network);
        sending.is_on_detour |= takes_detour;
        let needs_engine = routes.needs_engine || takes_detour;
        let engine_first = needs_engine && bytes.is_none();
        if engine_first {
            // Rare: the message may be given away below. One that was built in place is nowhere but
            // there.
            match &detoured {
                Some(loan) => self.write_to_engine(stamp, &mut Bytes(loan), None, trace)?,
                None => self.write_to_engine(stamp, message, None, trace)?,
            }
        }
        if detoured.is_some() {
            self.counters.shared_memory_failures.fetch_add(1, Ordering::Relaxed);
        }
        if !routes.process.is_empty() {
            let expires = self.lifespan.map(|lifespan| Instant::now() + lifespan);
            let envelope = Envelope { publisher: self.gid, stamp, number, since: number, expires };
            feros_trace::pass(
                Point::WriteBegin,
                feros_trace::Transport::IntraProcess,
                &self.traced,
                id,
            );
            message.put(&routes.process, envelope, bytes);
            self.counters
                .intra_process
                .count(routes.process.len(), bytes.map_or(0, |bytes| bytes.len()));
        }
        if needs_engine && !engine_first {
            self.write_to_engine(stamp, message, bytes.map(Arc::as_ref), trace)?;
        }
        if !needs_engine {
            self.counters.skipped_engine_writes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether all who are served by shared memory have what the engine sent them; those of killed
    /// processes are not waited for.
    fn has_detour_ended(&self, routes: &Routes) -> bool {
        let living = routes.served().filter(|(route, _)| route.peer.peer().is_alive());
        let living: Vec<Gid> = living.map(|(route, _)| route.subscription).collect();
        self.lock_host().is_acknowledged(&*self.engine, &living)
    }

    /// Memory that subscriptions of other processes read, with the message in it. `None`: there is
    /// none now.
    fn loan(
        &self,
        routes: &Routes,
        message: &mut impl Outgoing,
        bytes: Option<&Buffer>,
        trace: &mut Outbound,
    ) -> Result<Option<HostLoan>, PublishError> {
        let size_bytes = bytes.map_or_else(|| message.size_bytes(), Buffer::len);
        let Some(memory) = &routes.memory else { return Ok(None) };
        let Some(mut loan) = self.try_loan(memory, size_bytes)? else { return Ok(None) };
        match bytes {
            Some(bytes) => loan.copy_from_slice(bytes.as_slice()),
            None => fill(message, &mut loan, trace).map_err(engine_error)?,
        }
        Ok(Some(loan))
    }

    /// `None`: there is none now, and the engine is to be used instead.
    fn try_loan(
        &self,
        memory: &HostPublisher,
        size_bytes: usize,
    ) -> Result<Option<HostLoan>, PublishError> {
        match memory.loan(size_bytes) {
            Ok(loan) => Ok(Some(loan)),
            Err(source) => {
                self.count_host_failure(&source);
                match self.when_exhausted {
                    WhenExhausted::Network if self.allowed.contains(Transport::Network) => Ok(None),
                    WhenExhausted::Network | WhenExhausted::Error => {
                        Err(PublishError::SharedMemory { topic: self.topic.clone(), source })
                    }
                }
            }
        }
    }

    fn send_to_host(&self, routes: &Routes, loan: HostLoan, stamp: Stamp, number: u64) -> bool {
        let Some(memory) = &routes.memory else { return false };
        let size_bytes = loan.len();
        let expires = self.lifespan.map_or(0, |lifespan| {
            let end =
                i128::from(stamp.0) + i128::try_from(lifespan.as_nanos()).unwrap_or(i128::MAX);
            u64::try_from(end).unwrap_or(u64::MAX)
        });
        let header = SampleHeader {
            stamp: stamp.0,
            publication_number: number,
            expires_nanos: expires,
            flags: 0,
        };
        let id = || MessageId { publisher: self.gid.0, stamp: stamp.0, number };
        feros_trace::pass(
            Point::WriteBegin,
            feros_trace::Transport::SharedMemory,
            &self.traced,
            id,
        );
        // Counted before: a subscription must not have taken more than was sent.
        routes.served().for_each(|(_, served)| served.count_sent());
        let sent = memory.send(loan, header);
        feros_trace::pass(Point::WriteEnd, feros_trace::Transport::SharedMemory, &self.traced, id);
        if let Err(error) = sent {
            self.count_host_failure(&error);
            return false;
        }
        if number.is_multiple_of(POOL_LOOK) {
            self.warn_of_full_pool(memory);
        }
        for (route, _) in routes.served() {
            feros_trace::pass(
                Point::Announced,
                feros_trace::Transport::SharedMemory,
                &route.traced,
                id,
            );
            route.peer.ring();
            self.counters.shared_memory.count(1, size_bytes);
        }
        true
    }

    /// Says so before the pool is exhausted, once.
    fn warn_of_full_pool(&self, memory: &HostPublisher) {
        let PoolUse { used_bytes, limit_bytes: Some(limit_bytes), .. } = memory.pool() else {
            return;
        };
        let is_nearly_full = used_bytes >= limit_bytes / 5 * 4;
        if is_nearly_full && !self.has_warned_of_pool.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                target: "feros::shm",
                "{}: {used_bytes} of {limit_bytes} bytes of shared memory are in use; subscriptions hold views too long, or \
                 the limit is too low",
                self.topic
            );
        }
    }

    fn count_host_failure(&self, error: &dyn Display) {
        let count = self.counters.shared_memory_failures.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(
                target: "feros::shm",
                "{}: {count} messages so far took the network transport instead of shared memory: {error}", self.topic
            );
        }
    }

    fn write_to_engine(
        &self,
        stamp: Stamp,
        message: &mut impl Outgoing,
        bytes: Option<&Buffer>,
        trace: &mut Outbound,
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
                write = |memory: &mut [u8]| fill(message, memory, trace);
                &mut write
            }
        };
        self.engine.publish_at(stamp, size, fill)?;
        self.counters.network.count(1, size);
        Ok(())
    }

    /// The message in a buffer of the pool.
    fn serialize(
        &self,
        message: &mut impl Outgoing,
        trace: &mut Outbound,
    ) -> Result<Arc<Buffer>, PublishError> {
        let mut buffer = self.lock_buffers().get(message.size_bytes());
        let memory = Arc::get_mut(&mut buffer).expect("a buffer of the pool that nobody else uses");
        fill(message, memory.bytes_mut(), trace).map_err(engine_error)?;
        Ok(buffer)
    }

    /// Waits, without a lock, until everyone who keeps all has room.
    fn wait_for_room(&self, routes: &Routes) -> Result<(), PublishError> {
        let mut until = None;
        for (_, served) in routes.served().filter(|(_, served)| served.is_lossless()) {
            let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
            let timeout = |_| self.timeout();
            served.wait_for_room(until).map_err(timeout)?;
        }
        for route in routes.process.iter().filter(|route| route.inbox.is_lossless()) {
            let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
            let timeout = |_| self.timeout();
            route.inbox.wait_for_room(until).map_err(timeout)?;
        }
        Ok(())
    }

    fn timeout(&self) -> PublishError {
        feros_rmw::PublishError::Timeout { topic: self.topic.clone(), waited: MAX_WAIT }.into()
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

fn engine_error(FillAborted: FillAborted) -> PublishError {
    PublishError::Engine(feros_rmw::PublishError::FillAborted)
}

fn engine_keeps_promises(qos: &QosProfile) -> bool {
    qos.durability == Durability::TransientLocal
        || qos.deadline.finite().is_some()
        || qos.liveliness == Liveliness::ManualByTopic
}
