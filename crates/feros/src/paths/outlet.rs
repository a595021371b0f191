//! The sending side: which matches of a publisher take which path, and one publish for all of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use feros_rmw::engine::Fill;
use feros_rmw::{
    Durability, FillAborted, Gid, Liveliness, Payload, PayloadBytes, PublishError,
    Publisher as EnginePublisher, QosProfile, Stamp,
};

use crate::paths::buffer::{Buffer, BufferPool};
use crate::paths::counters::PublisherCounters;
use crate::paths::inbox::{AnyInbox, Envelope};
use crate::paths::registry;

/// How long publishing waits for room where all is kept and delivery is reliable, before it gives up.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The matches of one publisher, sorted by path. Replaced as a whole when they change.
pub(crate) struct Routes {
    generation: Generation,
    pub(crate) process: Vec<ProcessRoute>,
    /// Whether the engine has to send: for a match on the network path, or for a QoS that it implements by sending.
    pub(crate) needs_engine: bool,
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
    pub(crate) fn new(topic: &str, engine: Arc<dyn EnginePublisher>, matches: Arc<AtomicU64>) -> Self {
        let qos = engine.qos();
        let none = Routes {
            // No generation is like this one: the first publish looks.
            generation: Generation { matches: u64::MAX, process: u64::MAX },
            process: Vec::new(),
            needs_engine: true,
        };
        Self {
            topic: topic.to_owned(),
            gid: engine.gid(),
            engine_keeps_promises: engine_keeps_promises(&qos),
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

    /// The routes as they are now.
    pub(crate) fn routes(&self) -> Arc<Routes> {
        let generation =
            Generation { matches: self.matches.load(Ordering::Acquire), process: registry::generation() };
        {
            let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
            if routes.generation == generation {
                return Arc::clone(&routes);
            }
        }
        // Nothing is published between the look at the matches and the change of the routes.
        let sending = self.lock_sending();
        let former = self.routes.read().unwrap_or_else(PoisonError::into_inner).clone();
        let routes = Arc::new(self.find_routes(generation, &former, sending.number + 1));
        *self.routes.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&routes);
        drop(sending);
        routes
    }

    fn find_routes(&self, generation: Generation, former: &Routes, next_number: u64) -> Routes {
        let mut process = Vec::new();
        let mut needs_engine = self.engine_keeps_promises;
        for found in self.engine.matches() {
            match registry::find(found.gid) {
                Some(inbox) if inbox.ignores(self.gid) => {}
                Some(inbox) => {
                    let known = former.process.iter().find(|route| route.subscription == found.gid);
                    let since = known.map_or(next_number, |route| route.since);
                    process.push(ProcessRoute { inbox, subscription: found.gid, since });
                }
                None => needs_engine = true,
            }
        }
        Routes { generation, process, needs_engine }
    }

    /// Publishes one message on every path that somebody needs.
    pub(crate) fn publish(&self, message: &mut impl Outgoing) -> Result<(), PublishError> {
        let routes = self.routes();
        self.wait_for_room(&routes)?;
        let by_process = !routes.process.is_empty();
        // Where only one takes the bytes, they are written into its memory; for several they are written once and copied.
        let shared = by_process && (routes.needs_engine || message.wants_bytes(&routes.process));
        let bytes = if shared { Some(self.serialize(message)?) } else { None };
        {
            let mut sending = self.lock_sending();
            let (stamp, number) = sending.next();
            if by_process {
                let expires = self.lifespan.map(|lifespan| Instant::now() + lifespan);
                let envelope = Envelope { publisher: self.gid, stamp, number, since: number, expires };
                message.put(&routes.process, envelope, bytes.as_ref());
                self.counters.process.count(routes.process.len(), bytes.as_ref().map_or(0, |b| b.len()));
            }
            if routes.needs_engine {
                self.write_to_engine(stamp, message, bytes.as_deref())?;
            } else {
                self.counters.skipped_engine_writes.fetch_add(1, Ordering::Relaxed);
            }
        }
        routes.process.iter().for_each(|route| route.inbox.run_direct());
        if let Some(bytes) = bytes {
            self.lock_buffers().put_back(&bytes);
        }
        Ok(())
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
        for route in routes.process.iter().filter(|route| route.inbox.is_lossless()) {
            let until = *until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
            let timeout = |_| PublishError::Timeout { topic: self.topic.clone(), waited: MAX_WAIT };
            route.inbox.wait_for_room(until).map_err(timeout)?;
        }
        Ok(())
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
