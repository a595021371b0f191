//! The receiving side of the shared-memory transport: the entry of a subscription in shared memory,
//! and the connections of the subscription to publishers.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use feros_doorbell::{Observation, Ringer};
use feros_engine::{Ending, Gid, History, QosProfile, Subscription as EngineSubscription};
use feros_shm::{
    Announced, Announcement, Declined, MAX_DECLINED, Obstacle, ProcessSegment, Reason,
    SubscriptionEntry, Transport, TransportSet, classify,
};
use feros_sync::{Mutex, MutexGuard};

use crate::shared_memory::availability::{self, LONGEST_QUEUE};
use crate::shared_memory::clean_up::clean_up_soon;
use crate::shared_memory::connection::{Connection, Opening};
use crate::shared_memory::connection_states::ConnectionStates;
use crate::shared_memory::handshake::Handshake;
use crate::shared_memory::upkeep::{KeepUp, Upkeep};

/// The part of a subscription that receives messages from publishers in other processes of the
/// host.
///
/// The upkeep thread opens and closes the connections. The thread that takes messages uses the open
/// connections.
pub(crate) struct SharedMemoryReceiving {
    announced: Announced,
    entry: Option<Arc<SubscriptionEntry>>,
    ringer: Ringer,
    type_hash: Option<[u8; 32]>,
    engine: OnceLock<Arc<dyn EngineSubscription>>,
    upkeep: Upkeep,
    connections: Mutex<Vec<Connection>>,
    /// Whether there are connections that must still be established or closed. While this is true,
    /// each poll continues this work.
    has_unsettled: AtomicBool,
    /// The ready count of the entry at the time when connections were last opened.
    ready_seen: AtomicU32,
    /// The observation that tells publishers of other processes where to ring. It is present while
    /// there are connections.
    shown: Mutex<Option<Observation>>,
    states: Arc<ConnectionStates>,
}

impl SharedMemoryReceiving {
    /// Makes an entry and an announcement for a new subscription. If shared memory cannot be used,
    /// the announcement contains the reason.
    pub(crate) fn new(
        topic: &str,
        transports: TransportSet,
        qos: &QosProfile,
        type_hash: Option<[u8; 32]>,
        ringer: &Ringer,
        session: Ending,
    ) -> Self {
        let (entry, obstacle) = match make_entry(transports, qos) {
            Ok(entry) => (entry.map(Arc::new), None),
            Err(obstacle) => (None, Some(obstacle)),
        };
        let endpoint = entry.as_ref().map_or(0, |entry| entry.id().to_u64());
        Self {
            announced: Announcement::of_this_process(endpoint, transports, obstacle).into(),
            entry,
            ringer: ringer.clone(),
            type_hash,
            engine: OnceLock::new(),
            upkeep: Upkeep::new(session),
            connections: Mutex::default(),
            has_unsettled: AtomicBool::new(false),
            ready_seen: AtomicU32::new(0),
            shown: Mutex::new(None),
            states: Arc::new(ConnectionStates::new(topic)),
        }
    }

    /// The subscription's announcement.
    pub(crate) fn announced(&self) -> &Announced {
        &self.announced
    }

    /// The announcement as a string.
    pub(crate) fn announcement(&self) -> String {
        self.announced.feros().map_or_else(String::new, Announcement::encode)
    }

    /// Starts the upkeep of the connections. Call this when the engine has made the endpoint.
    pub(crate) fn begin(self: &Arc<Self>, engine: &Arc<dyn EngineSubscription>) {
        let _ = self.engine.set(Arc::clone(engine)); // this is set only once
        if self.entry.is_some() {
            let this: Weak<Self> = Arc::downgrade(self);
            self.upkeep.begin(this);
        }
    }

    /// The upkeep of the connections. It must run when the matches may have changed.
    pub(crate) fn upkeep(&self) -> &Upkeep {
        &self.upkeep
    }

    pub(crate) fn states(&self) -> &Arc<ConnectionStates> {
        &self.states
    }

    /// Returns the connections. Before that, continues the work on connections that are not
    /// established or closed yet. Never waits for a lock of another process.
    pub(crate) fn connections(&self) -> MutexGuard<'_, Vec<Connection>> {
        let mut connections = self.connections.lock();
        if self.has_unsettled.load(Ordering::Relaxed) {
            self.settle(&mut connections);
        }
        connections
    }

    /// Whether a poll may find a message, or must continue the work on connections, even without a
    /// further ring.
    pub(crate) fn may_have_more(&self) -> bool {
        self.has_unsettled.load(Ordering::Relaxed)
            || self.connections.lock().iter().any(Connection::may_have_message)
    }

    #[cold]
    fn settle(&self, connections: &mut [Connection]) {
        let Some(entry) = &self.entry else { return };
        let is_reported = entry.publishers_ready() != self.ready_seen.load(Ordering::Relaxed);
        let awaits_opening =
            connections.iter().any(|connection| connection.state().awaits_opening());
        let mut has_changed = false;
        connections.iter_mut().for_each(|connection| has_changed |= connection.advance());
        // Messages that a publisher sent before it left are still delivered.
        let has_drained = connections
            .iter_mut()
            .any(|connection| connection.is_orphan() && !connection.has_message());
        if has_changed {
            self.states.replace(states_of(connections));
        }
        self.note_unsettled(connections);
        if is_reported && awaits_opening || has_drained {
            self.upkeep.ask();
        }
    }

    fn note_unsettled(&self, connections: &[Connection]) {
        let is_settled = |connection: &Connection| {
            connection.state().established().is_some() && !connection.is_orphan()
        };
        self.has_unsettled.store(!connections.iter().all(is_settled), Ordering::Relaxed);
    }

    /// Closes the connections of publishers that have left, after the messages of these publishers
    /// have been taken, and adds connections to new publishers.
    fn follow_matches(&self, engine: &dyn EngineSubscription) -> Changes {
        let matches = engine.matches();
        let is_there = |gid: Gid| matches.iter().any(|found| found.gid == gid);
        let mut changes = Changes::default();
        let closed = take_out(&self.connections, |connection| {
            let is_orphan = !is_there(connection.publisher());
            changes.any |= is_orphan != connection.is_orphan();
            connection.set_orphan(is_orphan);
            is_orphan && !connection.has_message()
        });
        changes.closed = closed.iter().any(|connection| !connection.state().awaits_opening());
        drop(closed); // after the lock has been released, because this takes time
        let mut connections = self.connections.lock();
        for found in &matches {
            let announced = Announced::read(found.announcement.as_deref());
            let transport = classify(&announced, &self.announced).transport;
            let id = announced.feros().and_then(|publisher| NonZeroU64::new(publisher.endpoint));
            if transport == Some(Transport::SharedMemory)
                && connections.iter().all(|connection| connection.publisher() != found.gid)
                && let Some(id) = id
            {
                connections.push(Connection::new(found.gid, id, &self.states));
            }
        }
        self.note_unsettled(&connections);
        self.show_place(!connections.is_empty());
        changes
    }

    /// If `is_needed` is true, tells publishers of other processes where to ring. Otherwise,
    /// withdraws this information, because the sleep and the wake-up of an executor cost less if
    /// only its own process can ring it.
    fn show_place(&self, is_needed: bool) {
        let Some(entry) = self.entry.clone() else { return };
        let mut shown = self.shown.lock();
        if !is_needed {
            *shown = None;
        } else if shown.is_none() {
            *shown = Some(self.ringer.on_move(move |place| entry.set_place(place)));
        }
    }

    /// Opens the connections whose publishers are ready. Returns the time for the next attempt to
    /// open the other connections.
    fn open_connections(
        &self,
        entry: &SubscriptionEntry,
        engine: &dyn EngineSubscription,
        changes: &mut Changes,
    ) -> Option<Instant> {
        let now = Instant::now();
        let ready = entry.publishers_ready();
        let is_reported = self.ready_seen.swap(ready, Ordering::Relaxed) != ready;
        let due: Vec<(Gid, NonZeroU64)> = {
            let connections = self.connections.lock();
            let due = connections.iter().filter(|connection| connection.is_due(now, is_reported));
            due.map(|connection| (connection.publisher(), connection.id())).collect()
        };
        let qos = engine.qos();
        let opening = Opening { entry, qos: &qos, type_hash: self.type_hash, ringer: &self.ringer };
        for (publisher, id) in due {
            if self.upkeep.has_ended() {
                return None;
            }
            let opened = opening.open(id); // without the lock, because this takes time
            changes.any |= opened.is_ok();
            let mut connections = self.connections.lock();
            let awaits = |connection: &&mut Connection| {
                connection.publisher() == publisher && connection.state().awaits_opening()
            };
            if let Some(connection) = connections.iter_mut().find(awaits) {
                connection.note_opening(opened, now);
            }
        }
        let mut connections = self.connections.lock();
        connections.iter_mut().for_each(|connection| changes.any |= connection.advance());
        self.note_unsettled(&connections);
        connections.iter().filter_map(Connection::retry_at).min()
    }

    /// Stores the progress of the connections for users of this subscription, and announces the
    /// failed connections if those that an announcement contains have changed. A subscription may
    /// have hundreds of failed connections, and each announcement goes to all processes.
    fn announce_failures(&self, engine: &dyn EngineSubscription) {
        let connections = self.connections.lock();
        let states = states_of(&connections);
        let failed = connections.iter().filter_map(|connection| match connection.state() {
            Handshake::Declined(why) => {
                Some(Declined { publisher: connection.id().get(), why: *why })
            }
            _ => None,
        });
        let failed: Vec<Declined> = failed.take(MAX_DECLINED).collect();
        // The lock is still held here. Otherwise, this could overwrite progress that a poll makes
        // in the meantime.
        let former = self.states.replace(states.clone());
        drop(connections);
        if announced_failures(&former).eq(announced_failures(&states)) {
            return;
        }
        let Announced::Feros(mut announcement) = self.announced.clone() else { return };
        announcement.declined = failed;
        if let Err(error) = engine.announce(&announcement.encode()) {
            availability::announcing_failed(&error);
        }
    }
}

/// The changes that one run of the upkeep has made to the connections.
#[derive(Debug, Default)]
struct Changes {
    /// Whether a connection to the memory of a publisher was closed.
    closed: bool,
    /// Whether connections were opened or made progress, or whether their publishers left or
    /// returned.
    any: bool,
}

/// Removes the connections for which `goes` returns true, and returns them. The caller drops them
/// without holding the lock, because the thread that takes messages needs the lock.
fn take_out<L>(connections: &Mutex<Vec<L>>, goes: impl FnMut(&mut L) -> bool) -> Vec<L> {
    connections.lock().extract_if(.., goes).collect()
}

impl KeepUp for SharedMemoryReceiving {
    fn keep_up(&self) -> Option<Instant> {
        let (entry, engine) = (self.entry.as_ref()?, self.engine.get()?);
        let mut changes = self.follow_matches(&**engine);
        let retry_at = self.open_connections(entry, &**engine, &mut changes);
        self.announce_failures(&**engine);
        if changes.closed {
            clean_up_soon(); // removes what the publisher left in shared memory if it was killed
        }
        if changes.closed || changes.any {
            // This ring is for messages that were sent over a connection before it was open, and
            // also for the case that a publisher was killed after it had set the flag but before it
            // had woken the subscription.
            self.ringer.ring();
        }
        retry_at
    }
}

fn states_of(connections: &[Connection]) -> Vec<(Gid, Option<Reason>)> {
    connections
        .iter()
        .map(|connection| (connection.publisher(), connection.state().reason()))
        .collect()
}

/// The connections that could not be opened, as many as an announcement contains.
fn announced_failures(
    states: &[(Gid, Option<Reason>)],
) -> impl Iterator<Item = &(Gid, Option<Reason>)> {
    let is_declined =
        |reason: &Option<Reason>| reason.as_ref().is_some_and(|reason| *reason != Reason::Pending);
    states.iter().filter(move |(_, reason)| is_declined(reason)).take(MAX_DECLINED)
}

/// Makes an entry. Returns `Ok(None)` if the shared-memory transport is not allowed.
fn make_entry(
    transports: TransportSet,
    qos: &QosProfile,
) -> Result<Option<SubscriptionEntry>, Obstacle> {
    let is_long = qos.history == History::KeepLast && qos.depth > LONGEST_QUEUE;
    if is_long && transports.contains(Transport::SharedMemory) {
        return Err(Obstacle::LongHistory);
    }
    if !availability::of(transports)? {
        return Ok(None);
    }
    let segment =
        ProcessSegment::of_this_process().map_err(|unavailable| unavailable.obstacle())?;
    segment.subscription_entry().map(Some).map_err(|full| full.obstacle())
}

#[cfg(test)]
mod tests;
