//! Sends the messages of a publisher over all transports. It prepares a message for the current
//! routes, waits for the turn of the message, sends it, and returns the buffers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use feros_engine::Publisher as EnginePublisher;
use feros_shm::{HostLoan, HostPublisher, LoanError, PoolUse, Transport, TransportSet};
use feros_sync::{Mutex, MutexGuard, RwLock};
use feros_trace::{Endpoint, Kind, Outbound, Point};

use crate::bytes::{Buffer, BufferPool};
use crate::counters::PublisherCounters;
use crate::graph::MatchTransport;
use crate::routing::{Router, Routes};
use crate::sending::endpoint::SendingEndpoint;
use crate::sending::error::PublishError;
use crate::sending::message::{Loan, Memory, Prepared, local_loan};
use crate::sending::outgoing::Outgoing;
use crate::sending::turn::{Order, Turn};
use crate::shared_memory::options::WhenExhausted;
use crate::shared_memory::sending::SharedMemorySending;
use crate::shared_memory::upkeep::{KeepUp, Upkeep};

/// How long publishing waits for room in reliable subscriptions that keep all messages. After that,
/// publishing fails.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// How long a query of the transports waits if another thread is finding the routes again.
const LOOK_PATIENCE: Duration = Duration::from_millis(20);
/// How often such a query checks whether the other thread has finished.
const LOOK_INTERVAL: Duration = Duration::from_micros(200);

/// How soon the upkeep checks the routes again if it could not update them because another thread
/// was publishing.
const WHILE_PUBLISHING: Duration = Duration::from_millis(10);

/// The parts that a sender is made from.
pub(crate) struct SenderOptions<'a> {
    pub(crate) topic: &'a str,
    pub(crate) engine: Arc<dyn EnginePublisher>,
    pub(crate) allowed: TransportSet,
    pub(crate) shared_memory: SharedMemorySending,
    pub(crate) when_exhausted: WhenExhausted,
    /// The engine increments this counter at each match notification.
    pub(crate) matches: Arc<AtomicU64>,
    /// The upkeep that makes the shared memory of the publisher.
    pub(crate) upkeep: Upkeep,
}

#[repr(C)] // the fields that each message needs are next to each other
pub(crate) struct Sender {
    routes: RwLock<Arc<Routes>>,
    order: Mutex<Order>,
    endpoint: SendingEndpoint,
    buffers: Mutex<BufferPool>,
    when_exhausted: WhenExhausted,
    upkeep: Upkeep,
}

impl Sender {
    pub(crate) fn new(options: SenderOptions<'_>) -> Self {
        let SenderOptions {
            topic,
            engine,
            allowed,
            shared_memory,
            when_exhausted,
            matches,
            upkeep,
        } = options;
        let qos = engine.qos();
        let requires_each_write = qos.requires_each_write() && allowed.contains(Transport::Network);
        let router = Router::new(topic, &engine, shared_memory, matches, requires_each_write);
        Self {
            endpoint: SendingEndpoint {
                topic: topic.to_owned(),
                gid: engine.gid(),
                traced: Endpoint::new(Kind::Publisher, engine.gid().0, topic),
                allowed,
                lifespan: qos.lifespan.finite(),
                engine,
                router,
                counters: PublisherCounters::default(),
                has_warned_of_pool: AtomicBool::new(false),
            },
            routes: RwLock::new(Arc::new(Routes::not_looked_yet())),
            order: Mutex::default(),
            buffers: Mutex::default(),
            when_exhausted,
            upkeep,
        }
    }

    pub(crate) fn topic(&self) -> &str {
        &self.endpoint.topic
    }

    pub(crate) fn counters(&self) -> &PublisherCounters {
        &self.endpoint.counters
    }

    /// The current transport of each match.
    pub(crate) fn transports(&self) -> Vec<MatchTransport> {
        let mut routes = self.routes_without_waiting();
        // While the routes are out of date, another thread is updating them or publishing.
        let until = Instant::now() + LOOK_PATIENCE;
        while !self.endpoint.router.is_current(&routes) && Instant::now() < until {
            std::thread::sleep(LOOK_INTERVAL);
            routes = self.routes_without_waiting();
        }
        // If a match is pending, the routes are updated once more: a subscription announces the
        // reason why it could not open its connection, but it does not ring for this.
        let renewed = routes.has_pending.then(|| self.order.try_lock()).flatten();
        renewed.map_or(routes, |order| self.renew_routes(order)).transports.clone()
    }

    /// The use of the publisher's shared memory, or `None` if there is no shared memory.
    pub(crate) fn pool(&self) -> Option<PoolUse> {
        self.endpoint.router.memory().map(|memory| memory.pool())
    }

    /// Lends memory in which a message can be built. This is shared memory if a subscription reads
    /// the message there, and otherwise a buffer.
    pub(crate) fn lend(&self, size_bytes: usize) -> Result<Loan, PublishError> {
        let routes = self.routes();
        let memory = routes.memory.as_ref();
        let shared = memory.map(|memory| self.try_loan(memory, size_bytes)).transpose()?.flatten();
        Ok(match shared {
            Some(loan) => Loan(Memory::Shared(loan)),
            None => local_loan(&mut self.lock_buffers(), size_bytes),
        })
    }

    /// Publishes one message over each transport that a subscription needs.
    pub(crate) fn publish(
        &self,
        message: &mut impl Outgoing,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        self.run(Prepared::new(message), trace)
    }

    /// Publishes a message that was built in memory lent by [`Sender::lend`].
    pub(crate) fn publish_built(
        &self,
        loan: Loan,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        self.run(Prepared::built(loan), trace)
    }

    /// Runs the steps of a publish, which the diagram in `sending.rs` shows.
    fn run<M: Outgoing>(
        &self,
        mut prepared: Prepared<M>,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        loop {
            let routes = self.routes();
            self.wait_for_room(&routes)?;
            self.prepare(&mut prepared, &routes, trace)?;
            let Some(turn) = self.begin(&routes) else { continue };
            turn.send(&mut prepared, trace)?;
            self.finish(&routes, prepared.bytes);
            trace.pass(Point::PublishEnd);
            return Ok(());
        }
    }

    /// Waits until every subscription that keeps all messages has room. Holds no lock while it
    /// waits.
    fn wait_for_room(&self, routes: &Routes) -> Result<(), PublishError> {
        if routes.is_lossless {
            self.wait_for_lossless(routes)?;
        }
        if routes.needs_engine {
            self.endpoint.engine.wait_for_room()?;
        }
        Ok(())
    }

    #[cold]
    fn wait_for_lossless(&self, routes: &Routes) -> Result<(), PublishError> {
        let mut until = None;
        let timeout = || feros_engine::PublishError::Timeout {
            topic: self.endpoint.topic.clone(),
            waited: MAX_WAIT,
        };
        for (_, established) in routes.established().filter(|(_, one)| one.is_lossless()) {
            let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
            established.wait_for_room(until).map_err(|_| timeout())?;
        }
        for route in routes.intra_process.iter().filter(|route| route.queue.is_lossless()) {
            let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
            route.queue.wait_for_room(until).map_err(|_| timeout())?;
        }
        Ok(())
    }

    /// Makes the bytes that the routes need. Bytes that were made for earlier routes are kept.
    fn prepare<M: Outgoing>(
        &self,
        prepared: &mut Prepared<M>,
        routes: &Routes,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        let (in_process, in_shared_memory) =
            (!routes.intra_process.is_empty(), routes.memory.is_some());
        // If only one transport needs the bytes, the message is serialized directly into the memory
        // of that transport. If several transports need them, it is serialized once and then
        // copied.
        let is_shared = in_process && prepared.message.wants_bytes(&routes.intra_process)
            || routes.needs_engine && (in_process || in_shared_memory || prepared.loan.is_some());
        if is_shared {
            prepared.make_bytes(|size_bytes| self.lock_buffers().get(size_bytes), trace)?;
        }
        if prepared.loan.is_none()
            && let Some(memory) = &routes.memory
            && let Some(mut loan) = self.try_loan(memory, prepared.size_bytes())?
        {
            prepared.write(&mut loan, trace)?;
            prepared.loan = Some(loan);
        }
        Ok(())
    }

    /// Begins the turn to send over these routes. Returns `None` if another thread has changed the
    /// routes or used the room since the message was prepared. A message over old routes could
    /// arrive after a later message over new routes, and would then be dropped as an old message. A
    /// message without room would replace another message in the queue of a subscription that keeps
    /// all messages.
    fn begin<'a>(&'a self, routes: &'a Arc<Routes>) -> Option<Turn<'a>> {
        let order = self.lock_order();
        let is_current = Arc::ptr_eq(routes, &self.routes.read());
        let has_room = || routes.established().all(|(_, one)| !one.is_lossless() || one.has_room());
        (is_current && (!routes.is_lossless || has_room())).then_some(Turn {
            endpoint: &self.endpoint,
            routes,
            order,
        })
    }

    /// Does the work after sending for which no lock is needed.
    fn finish(&self, routes: &Routes, bytes: Option<Arc<Buffer>>) {
        routes.intra_process.iter().for_each(|route| route.queue.run_direct());
        if let Some(bytes) = bytes {
            self.lock_buffers().put_back(&bytes);
        }
    }

    /// Lends shared memory. Returns `None` if no shared memory is available at present and the
    /// engine must be used instead.
    fn try_loan(
        &self,
        memory: &HostPublisher,
        size_bytes: usize,
    ) -> Result<Option<HostLoan>, PublishError> {
        match memory.loan(size_bytes) {
            Ok(loan) => Ok(Some(loan)),
            Err(source) => self.do_without(source).map(|()| None),
        }
    }

    /// Checks whether the engine may be used instead of shared memory.
    #[cold]
    fn do_without(&self, source: LoanError) -> Result<(), PublishError> {
        self.endpoint.count_shared_memory_failure(&source);
        match self.when_exhausted {
            WhenExhausted::Network if self.endpoint.allowed.contains(Transport::Network) => Ok(()),
            WhenExhausted::Network | WhenExhausted::Error => {
                Err(PublishError::SharedMemory { topic: self.endpoint.topic.clone(), source })
            }
        }
    }

    /// Returns the current routes. Updates them first if necessary.
    fn routes(&self) -> Arc<Routes> {
        self.current_routes().unwrap_or_else(|| self.renew_routes(self.lock_order()))
    }

    /// Returns the current routes. If another thread is publishing, returns the former routes: to
    /// wait for that thread may take as long as a full network link needs to empty, and the next
    /// publish updates the routes in any case.
    fn routes_without_waiting(&self) -> Arc<Routes> {
        self.current_routes().unwrap_or_else(|| match self.order.try_lock() {
            Some(order) => self.renew_routes(order),
            None => self.read_routes(),
        })
    }

    fn read_routes(&self) -> Arc<Routes> {
        Arc::clone(&self.routes.read())
    }

    /// Returns the routes, or `None` if something has changed since they were found.
    fn current_routes(&self) -> Option<Arc<Routes>> {
        let routes = self.read_routes();
        self.endpoint.router.is_current(&routes).then_some(routes)
    }

    /// Finds the routes again. The guard ensures that no message is published between the moment
    /// when the matches are read and the moment when the routes are changed.
    #[cold]
    fn renew_routes(&self, order: MutexGuard<'_, Order>) -> Arc<Routes> {
        let former = self.read_routes();
        let routes = Arc::new(self.endpoint.router.find_routes(&former, order.next_number()));
        // While a connection waits for acknowledgements, each publish calls this function. If the
        // new routes are equivalent to the former routes, the former routes are kept, so that
        // messages that other threads have prepared remain valid.
        if routes.send_like(&former) {
            return former;
        }
        *self.routes.write() = Arc::clone(&routes);
        drop(order);
        if self.endpoint.router.note_deaths(&former, &routes) {
            self.upkeep.ask();
        }
        routes
    }

    fn lock_order(&self) -> MutexGuard<'_, Order> {
        self.order.lock()
    }

    fn lock_buffers(&self) -> MutexGuard<'_, BufferPool> {
        self.buffers.lock()
    }
}

impl KeepUp for Sender {
    fn keep_up(&self) -> Option<Instant> {
        let retry_at = self.endpoint.router.keep_up();
        // Because of this, a new match is ready when it is found, and not only when the next
        // message is published.
        let routes = self.routes_without_waiting();
        if self.endpoint.router.is_current(&routes) {
            retry_at
        } else {
            Some(Instant::now() + WHILE_PUBLISHING) // another thread was publishing
        }
    }

    /// Without this, the end of the publisher waits for acknowledgements of killed processes.
    fn keep_up_at_end(&self) {
        self.endpoint.router.forget_ended_at_end();
    }
}
