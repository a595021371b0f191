//! The receiving side of the shared-memory transport: the entry of a subscription in shared memory,
//! and the connections of the subscription to publishers.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use feros_doorbell::{Observation, Ringer};
use feros_engine::{Gid, History, QosProfile, Subscription as EngineSubscription};
use feros_shm::{
    Announced, Announcement, Declined, Obstacle, ProcessSegment, Reason, SubscriptionEntry,
    Transport, TransportSet, classify,
};
use feros_sync::{Mutex, MutexGuard};

use crate::shared_memory::availability::{self, LONGEST_QUEUE};
use crate::shared_memory::clean_up::clean_up_soon;
use crate::shared_memory::handshake::Handshake;
use crate::shared_memory::link::{Link, Opening};
use crate::shared_memory::link_states::LinkStates;
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
    links: Mutex<Vec<Link>>,
    /// Whether there are connections that must still be established or closed. While this is true,
    /// each poll continues this work.
    has_unsettled: AtomicBool,
    /// The ready count of the entry at the time when connections were last opened.
    ready_seen: AtomicU32,
    /// The observation that tells publishers of other processes where to ring. It is present while
    /// there are connections.
    shown: Mutex<Option<Observation>>,
    states: Arc<LinkStates>,
}

impl SharedMemoryReceiving {
    /// Makes an entry and an announcement for a new subscription. If shared memory cannot be used,
    /// the announcement contains the reason.
    pub(crate) fn new(
        transports: TransportSet,
        qos: &QosProfile,
        type_hash: Option<[u8; 32]>,
        ringer: &Ringer,
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
            upkeep: Upkeep::new(),
            links: Mutex::default(),
            has_unsettled: AtomicBool::new(false),
            ready_seen: AtomicU32::new(0),
            shown: Mutex::new(None),
            states: Arc::default(),
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

    pub(crate) fn states(&self) -> &Arc<LinkStates> {
        &self.states
    }

    /// Returns the connections. Before that, continues the work on connections that are not
    /// established or closed yet. Never waits for a lock of another process.
    pub(crate) fn links(&self) -> MutexGuard<'_, Vec<Link>> {
        let mut links = self.links.lock();
        if self.has_unsettled.load(Ordering::Relaxed) {
            self.settle(&mut links);
        }
        links
    }

    /// Whether a poll may find a message, or must continue the work on connections, even without a
    /// further ring.
    pub(crate) fn may_have_more(&self) -> bool {
        self.has_unsettled.load(Ordering::Relaxed)
            || self.links.lock().iter().any(Link::may_have_message)
    }

    #[cold]
    fn settle(&self, links: &mut [Link]) {
        let Some(entry) = &self.entry else { return };
        let is_reported = entry.publishers_ready() != self.ready_seen.load(Ordering::Relaxed);
        let awaits_opening = links.iter().any(|link| link.state().awaits_opening());
        let mut has_changed = false;
        links.iter_mut().for_each(|link| has_changed |= link.advance());
        // Messages that a publisher sent before it left are still delivered.
        let has_drained = links.iter_mut().any(|link| link.is_orphan() && !link.has_message());
        if has_changed {
            self.states.replace(states_of(links));
        }
        self.note_unsettled(links);
        if is_reported && awaits_opening || has_drained {
            self.upkeep.ask();
        }
    }

    fn note_unsettled(&self, links: &[Link]) {
        let is_settled = |link: &Link| link.state().established().is_some() && !link.is_orphan();
        self.has_unsettled.store(!links.iter().all(is_settled), Ordering::Relaxed);
    }

    /// Closes the connections of publishers that have left, after the messages of these publishers
    /// have been taken, and adds connections to new publishers.
    fn follow_matches(&self, engine: &dyn EngineSubscription) -> Changes {
        let matches = engine.matches();
        let is_there = |gid: Gid| matches.iter().any(|found| found.gid == gid);
        let mut changes = Changes::default();
        let closed = take_out(&self.links, |link| {
            let is_orphan = !is_there(link.publisher());
            changes.any |= is_orphan != link.is_orphan();
            link.set_orphan(is_orphan);
            is_orphan && !link.has_message()
        });
        changes.closed = closed.iter().any(|link| !link.state().awaits_opening());
        drop(closed); // after the lock has been released, because this takes time
        let mut links = self.links.lock();
        for found in &matches {
            let announced = Announced::read(found.announcement.as_deref());
            let transport = classify(&announced, &self.announced).transport;
            let id = announced.feros().and_then(|publisher| NonZeroU64::new(publisher.endpoint));
            if transport == Some(Transport::SharedMemory)
                && links.iter().all(|link| link.publisher() != found.gid)
                && let Some(id) = id
            {
                links.push(Link::new(found.gid, id, &self.states));
            }
        }
        self.note_unsettled(&links);
        self.show_place(!links.is_empty());
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
    fn open_links(
        &self,
        entry: &SubscriptionEntry,
        engine: &dyn EngineSubscription,
        changes: &mut Changes,
    ) -> Option<Instant> {
        let now = Instant::now();
        let ready = entry.publishers_ready();
        let is_reported = self.ready_seen.swap(ready, Ordering::Relaxed) != ready;
        let due: Vec<(Gid, NonZeroU64)> = {
            let links = self.links.lock();
            let due = links.iter().filter(|link| link.is_due(now, is_reported));
            due.map(|link| (link.publisher(), link.id())).collect()
        };
        let qos = engine.qos();
        let opening = Opening { entry, qos: &qos, type_hash: self.type_hash, ringer: &self.ringer };
        for (publisher, id) in due {
            if self.upkeep.has_ended() {
                return None;
            }
            let opened = opening.open(id); // without the lock, because this takes time
            changes.any |= opened.is_ok();
            let mut links = self.links.lock();
            let awaits =
                |link: &&mut Link| link.publisher() == publisher && link.state().awaits_opening();
            if let Some(link) = links.iter_mut().find(awaits) {
                link.note_opening(opened, now);
            }
        }
        let mut links = self.links.lock();
        links.iter_mut().for_each(|link| changes.any |= link.advance());
        self.note_unsettled(&links);
        links.iter().filter_map(Link::retry_at).min()
    }

    /// Stores the progress of the connections for users of this subscription, and announces the
    /// failed connections if they have changed.
    fn announce_failures(&self, engine: &dyn EngineSubscription) {
        let links = self.links.lock();
        let states = states_of(&links);
        let failed = links.iter().filter_map(|link| match link.state() {
            Handshake::Declined(why) => Some(Declined { publisher: link.id().get(), why: *why }),
            _ => None,
        });
        let failed: Vec<Declined> = failed.collect();
        // The lock is still held here. Otherwise, this could overwrite progress that a poll makes
        // in the meantime.
        let former = self.states.replace(states.clone());
        drop(links);
        if declined(&former) == declined(&states) {
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
fn take_out<L>(links: &Mutex<Vec<L>>, goes: impl FnMut(&mut L) -> bool) -> Vec<L> {
    links.lock().extract_if(.., goes).collect()
}

impl KeepUp for SharedMemoryReceiving {
    fn keep_up(&self) -> Option<Instant> {
        let (entry, engine) = (self.entry.as_ref()?, self.engine.get()?);
        let mut changes = self.follow_matches(&**engine);
        let retry_at = self.open_links(entry, &**engine, &mut changes);
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

fn states_of(links: &[Link]) -> Vec<(Gid, Option<Reason>)> {
    links.iter().map(|link| (link.publisher(), link.state().reason())).collect()
}

/// The connections that could not be opened.
fn declined(states: &[(Gid, Option<Reason>)]) -> Vec<&(Gid, Option<Reason>)> {
    let is_declined =
        |reason: &Option<Reason>| reason.as_ref().is_some_and(|reason| *reason != Reason::Pending);
    states.iter().filter(|(_, reason)| is_declined(reason)).collect()
}

/// Makes an entry. Returns `Ok(None)` if the shared-memory transport is not allowed.
fn make_entry(
    transports: TransportSet,
    qos: &QosProfile,
) -> Result<Option<SubscriptionEntry>, Obstacle> {
    if !transports.contains(Transport::SharedMemory) {
        return Ok(None);
    }
    if qos.history == History::KeepLast && qos.depth > LONGEST_QUEUE {
        return Err(Obstacle::LongHistory);
    }
    if let Some(obstacle) = availability::obstacle() {
        return Err(obstacle);
    }
    let segment =
        ProcessSegment::of_this_process().map_err(|unavailable| unavailable.obstacle())?;
    segment.subscription_entry().map(Some).map_err(|full| full.obstacle())
}

#[cfg(test)]
mod tests;
