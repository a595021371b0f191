//! The matches of a publisher, and the transport of each of them. Each publish uses these routes.
//! They are found again when a match or a subscription of the process changes.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use feros_engine::{Durability, FailureCounters, Gid, Match, Publisher as EnginePublisher};
use feros_shm::{Announced, Choice, HostPublisher, Reason, Transport, classify};
use feros_sync::Mutex;
use feros_trace::{Endpoint, Kind};

use crate::graph::{MatchTransport, network_is_allowed};
use crate::intra_process::delivery::IntraProcessRoute;
use crate::intra_process::queue::{AnyQueue, SUBSCRIPTIONS};
use crate::shared_memory::availability;
use crate::shared_memory::clean_up::clean_up_soon;
use crate::shared_memory::sending::{
    Established, SharedMemoryRoute, SharedMemorySending, has_ended, make_memory,
};

/// How long the first message within a process waits for earlier messages. Publishing waits for the
/// same time if a subscription is full.
const HISTORY_WAIT: Duration = Duration::from_secs(1);

/// The matches of one publisher, sorted by transport. The whole value is replaced when the matches
/// change.
#[repr(C)] // the fields that each message needs are next to each other
pub(crate) struct Routes {
    generation: Generation,
    /// Whether the shared memory of some matches is still being set up.
    pub(crate) has_pending: bool,
    /// Whether the engine must send each message, because a match takes the network transport, or
    /// because the engine implements a QoS policy by sending.
    pub(crate) needs_engine: bool,
    /// Whether at least one subscription that is served without the engine keeps all messages. In
    /// that case, publishing waits until that subscription has room.
    pub(crate) is_lossless: bool,
    /// The shared memory of the publisher, if at least one match is served from it.
    pub(crate) memory: Option<Arc<HostPublisher>>,
    shared_memory: Vec<SharedMemoryRoute>,
    pub(crate) intra_process: Vec<IntraProcessRoute>,
    /// The transports in the form that users see.
    pub(crate) transports: Vec<MatchTransport>,
}

/// Identifies the state that the routes depend on, which consists of the matches of the engine and
/// the subscriptions of this process.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Generation {
    matches: u64,
    registrations: u64,
}

impl Routes {
    /// Makes routes that are never up to date, so that the first publish finds the real routes.
    pub(crate) fn not_looked_yet() -> Self {
        Self::new(Generation { matches: u64::MAX, registrations: u64::MAX }, true)
    }

    fn new(generation: Generation, needs_engine: bool) -> Self {
        Self {
            generation,
            intra_process: Vec::new(),
            shared_memory: Vec::new(),
            memory: None,
            has_pending: false,
            transports: Vec::new(),
            needs_engine,
            is_lossless: false,
        }
    }

    /// Whether a message that was prepared for these routes can be sent over `others`, which stay
    /// current as long as these. This is true if the same matches take the same transports.
    pub(crate) fn send_like(&self, others: &Self) -> bool {
        let releases = self.shared_memory.iter().map(SharedMemoryRoute::releases);
        self.generation == others.generation
            && self.transports == others.transports
            && releases.eq(others.shared_memory.iter().map(SharedMemoryRoute::releases))
    }

    /// The subscriptions that are served through shared memory.
    pub(crate) fn established(
        &self,
    ) -> impl Iterator<Item = (&SharedMemoryRoute, &Arc<Established>)> {
        established(self.shared_memory.iter())
    }

    /// The same subscriptions, beginning with another subscription for each message. The order of
    /// the doorbells decides which process runs first, so a fixed order would always favour the
    /// same process.
    pub(crate) fn established_in_turn(
        &self,
        number: u64,
    ) -> impl Iterator<Item = (&SharedMemoryRoute, &Arc<Established>)> {
        established(in_turn(&self.shared_memory, number))
    }

    /// Adds a match that can be served through shared memory. Returns the transport that the match
    /// takes at present.
    fn add_shared_memory(
        &mut self,
        route: Result<SharedMemoryRoute, Reason>,
        declined: Option<Reason>,
        network_is_allowed: bool,
    ) -> Choice {
        let network = network_is_allowed.then_some(Transport::Network);
        match route {
            Ok(route) => {
                let is_established = route.state.established().is_some();
                self.has_pending |= !is_established;
                self.shared_memory.push(route);
                if is_established {
                    Choice { transport: Some(Transport::SharedMemory), reason: None }
                } else {
                    let reason = Some(declined.unwrap_or(Reason::Pending));
                    Choice { transport: network, reason }
                }
            }
            Err(reason) => Choice { transport: network, reason: Some(reason) },
        }
    }
}

/// Finds the routes of one publisher.
#[repr(C)] // a message needs only the first fields
pub(crate) struct Router {
    /// The engine increments this counter at each match notification.
    matches: Arc<AtomicU64>,
    topic: String,
    gid: Gid,
    engine: Arc<dyn EnginePublisher>,
    shared_memory: Mutex<SharedMemorySending>,
    /// The random id of the publisher on the shared-memory transport.
    id: NonZeroU64,
    /// Whether the engine sends every message to every match, because the QoS policies require it.
    requires_each_write: bool,
    needs_clean_up: AtomicBool,
}

impl Router {
    pub(crate) fn new(
        topic: &str,
        engine: &Arc<dyn EnginePublisher>,
        shared_memory: SharedMemorySending,
        matches: Arc<AtomicU64>,
        requires_each_write: bool,
    ) -> Self {
        Self {
            topic: topic.to_owned(),
            gid: engine.gid(),
            engine: Arc::clone(engine),
            id: shared_memory.id(),
            shared_memory: Mutex::new(shared_memory),
            matches,
            requires_each_write,
            needs_clean_up: AtomicBool::new(false),
        }
    }

    /// The shared memory of the publisher, if there is any.
    pub(crate) fn memory(&self) -> Option<Arc<HostPublisher>> {
        self.shared_memory.lock().memory().cloned()
    }

    /// Whether these subscriptions have acknowledged all messages that the engine sent to them.
    pub(crate) fn is_acknowledged(&self, by: &[Gid]) -> bool {
        self.shared_memory.lock().is_acknowledged(&*self.engine, by)
    }

    /// Whether nothing has changed since the routes were found.
    pub(crate) fn is_current(&self, routes: &Routes) -> bool {
        let is_current = |route: &SharedMemoryRoute| route.is_current(self.id);
        routes.generation == self.generation() && routes.shared_memory.iter().all(is_current)
    }

    fn generation(&self) -> Generation {
        Generation {
            matches: self.matches.load(Ordering::Acquire),
            registrations: SUBSCRIPTIONS.generation(),
        }
    }

    /// Finds the routes for the message with this number and for later messages.
    pub(crate) fn find_routes(&self, former: &Routes, next_number: u64) -> Routes {
        let mut routes = Routes::new(self.generation(), self.requires_each_write);
        let mut shared_memory = self.shared_memory.lock();
        for found in self.engine.matches() {
            let mut announced = Announced::read(found.announcement.as_deref());
            // The subscription has declined, but its route is kept, because the subscription will
            // try again.
            let declined = announced.forget_declined(self.id.get());
            let mut choice = classify(shared_memory.announced(), &announced);
            let queue = match choice.transport {
                Some(Transport::IntraProcess) => SUBSCRIPTIONS.find_or_wait(found.gid),
                _ => SUBSCRIPTIONS.find(found.gid),
            };
            if queue.as_ref().is_some_and(|queue| queue.ignores(self.gid)) {
                continue;
            }
            if choice.transport == Some(Transport::IntraProcess) {
                let Some(queue) = queue else { continue };
                let route = self.intra_process_route(&found, queue, former, next_number);
                routes.intra_process.push(route);
            } else if choice.transport == Some(Transport::SharedMemory) {
                let known =
                    former.shared_memory.iter().find(|route| route.subscription == found.gid);
                let route = shared_memory.route(&found, known, &*self.engine, next_number);
                let network = network_is_allowed(shared_memory.announced(), &announced);
                choice = routes.add_shared_memory(route, declined, network);
            }
            routes.needs_engine |= choice.transport == Some(Transport::Network);
            let Choice { transport, reason } = choice;
            routes.transports.push(MatchTransport { gid: found.gid, transport, reason });
        }
        if routes.established().next().is_some() {
            routes.memory = shared_memory.memory().cloned();
        }
        routes.is_lossless = routes.established().any(|(_, one)| one.is_lossless())
            || routes.intra_process.iter().any(|route| route.queue.is_lossless());
        routes
    }

    fn intra_process_route(
        &self,
        found: &Match,
        queue: Arc<dyn AnyQueue>,
        former: &Routes,
        next_number: u64,
    ) -> IntraProcessRoute {
        let known = former.intra_process.iter().find(|route| route.subscription == found.gid);
        if known.is_none() && next_number > 1 {
            self.wait_for_history(found.gid);
        }
        IntraProcessRoute {
            queue,
            subscription: found.gid,
            since: known.map_or(next_number, |route| route.since),
            traced: Endpoint::new(Kind::Subscription, found.gid.0, &self.topic),
        }
    }

    /// Waits until the engine has delivered the messages that were published before the
    /// subscription existed. The engine may deliver them on one of its own threads. Without this
    /// wait, a message over the more direct transport would overtake them, and they would be
    /// dropped as old messages.
    fn wait_for_history(&self, of: Gid) {
        // All matches of the process on the topic count together.
        static LATE: FailureCounters = FailureCounters::new();
        if self.engine.qos().durability == Durability::TransientLocal
            && !self.engine.is_acknowledged_by(of, HISTORY_WAIT)
            && let Some(so_far) = LATE.so_far(&self.topic)
        {
            tracing::warn!(
                target: "feros::transport",
                "a subscription of this process on {} may miss earlier messages: the engine has \
                 not delivered them within {HISTORY_WAIT:?}{so_far}",
                self.topic
            );
        }
    }

    /// Checks whether subscriptions that no longer match were killed, so that their remains in
    /// shared memory must be removed. Returns whether there are any such subscriptions.
    pub(crate) fn note_deaths(&self, former: &Routes, routes: &Routes) -> bool {
        let is_there = |gone: &SharedMemoryRoute| {
            routes.shared_memory.iter().any(|route| route.subscription == gone.subscription)
        };
        let has_died =
            |route: &SharedMemoryRoute| !is_there(route) && !route.peer.peer().is_alive();
        let has_deaths = former.shared_memory.iter().any(has_died);
        self.needs_clean_up.fetch_or(has_deaths, Ordering::Relaxed);
        has_deaths
    }

    /// Makes the engine forget processes of this host that have ended. Returns whether the shared
    /// memory of the publisher could serve any match.
    ///
    /// A publish may be blocked in the engine because of a killed process, while a restarted
    /// process is waiting for the message.
    pub(crate) fn forget_ended(&self) -> bool {
        let matches = self.engine.matches();
        let could_serve = |found: &&Match| {
            let mut announced = Announced::read(found.announcement.as_deref());
            // A subscription that declined will try again.
            announced.forget_declined(self.id.get());
            self.shared_memory.lock().could_serve(&announced)
        };
        let mut of_this_host = matches.iter().filter(could_serve).peekable();
        let has_any = of_this_host.peek().is_some();
        let ended = of_this_host.filter(|found| has_ended(found));
        ended.for_each(|gone| self.engine.forget_ended(gone.gid));
        has_any
    }

    /// Does the same for a session that is about to end, if its end would wait for
    /// acknowledgements. Many processes often end together, and if each of them read all matches
    /// whenever one match ends, the time would grow with the square of their number.
    pub(crate) fn forget_ended_at_end(&self) {
        if self.engine.wait_for_all_acked(Duration::ZERO).is_err() {
            self.forget_ended();
        }
    }

    /// Makes the shared memory of the publisher as soon as a match could use it, makes the engine
    /// forget processes that have ended, and cleans up. This may wait for other processes. Returns
    /// the time for the next attempt.
    pub(crate) fn keep_up(&self) -> Option<Instant> {
        if self.needs_clean_up.swap(false, Ordering::Relaxed) {
            clean_up_soon();
        }
        let now = Instant::now();
        if !self.forget_ended() {
            return None;
        }
        let settings = self.shared_memory.lock().due(now);
        if let Some(settings) = settings {
            let made = make_memory(settings); // without the lock, because this takes time
            let announcement = self.shared_memory.lock().note(made, now);
            if let Some(announcement) = announcement
                && let Err(error) = self.engine.announce(&announcement)
            {
                availability::announcing_failed(&error);
            }
            self.matches.fetch_add(1, Ordering::AcqRel); // this makes publishes find the routes again
        }
        self.shared_memory.lock().retry_at()
    }
}

/// The routes whose shared memory is established.
fn established<'a>(
    routes: impl Iterator<Item = &'a SharedMemoryRoute>,
) -> impl Iterator<Item = (&'a SharedMemoryRoute, &'a Arc<Established>)> {
    routes.filter_map(|route| Some((route, route.state.established()?)))
}

/// All items, beginning with the next one for each number.
fn in_turn<T>(items: &[T], number: u64) -> impl Iterator<Item = &T> {
    let count = items.len().max(1) as u64;
    // The remainder is smaller than the number of items, or zero.
    let (before, from) = items.split_at((number % count) as usize);
    from.iter().chain(before)
}

#[cfg(test)]
mod tests;
