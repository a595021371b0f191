//! The receiving side of the shared-memory transport: a subscription's entry in shared memory, and
//! its links to publishers.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Instant;

use feros_executor::Ringer;
use feros_rmw::{Gid, History, Match, QosProfile, Subscription as EngineSubscription};
use feros_shm::{
    Announced, Announcement, Declined, HostNode, Obstacle, ProcessSegment, Reason,
    SubscriptionEntry, Transport, TransportSet, classify,
};

use crate::shared_memory::availability::{self, LONGEST_QUEUE};
use crate::shared_memory::handshake::Handshake;
use crate::shared_memory::link::{Link, Opening};
use crate::shared_memory::link_states::LinkStates;

/// How a subscription hears publishers of other processes of its host.
pub(crate) struct SharedMemoryReceiving {
    announced: Announced,
    entry: Option<Arc<SubscriptionEntry>>,
    ringer: Ringer,
    type_hash: Option<[u8; 32]>,
    links: Vec<Link>,
    /// How often publishers had said that they are ready at the last try.
    ready_seen: u32,
    has_orphans: bool,
    states: Arc<LinkStates>,
}

impl SharedMemoryReceiving {
    /// An entry for a new subscription, and what is announced of it. Without shared memory, the
    /// announcement says why.
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
            links: Vec::new(),
            ready_seen: 0,
            has_orphans: false,
            states: Arc::default(),
        }
    }

    /// What the subscription announces.
    pub(crate) fn announced(&self) -> &Announced {
        &self.announced
    }

    /// The same as text.
    pub(crate) fn announcement(&self) -> String {
        self.announced.feros().map_or_else(String::new, Announcement::encode)
    }

    pub(crate) fn states(&self) -> &Arc<LinkStates> {
        &self.states
    }

    pub(crate) fn links(&mut self) -> &mut [Link] {
        &mut self.links
    }

    /// Whether a publisher is linked, or will be.
    pub(crate) fn knows(&self, publisher: Gid) -> bool {
        self.links.iter().any(|link| link.publisher() == publisher)
    }

    /// Whether one of the links may bring messages.
    pub(crate) fn has_open_links(&self) -> bool {
        self.links.iter().any(|link| !link.state().awaits_opening())
    }

    /// Whether links wait to be closed until what their publishers left there is taken.
    pub(crate) fn has_orphans(&self) -> bool {
        self.has_orphans
    }

    /// Looks at the matches: links to publishers that left are closed, those to new ones wait to be
    /// opened.
    pub(crate) fn update(&mut self, matches: &[Match], engine: &dyn EngineSubscription) {
        if self.entry.is_none() {
            return;
        }
        let is_there = |gid: Gid| matches.iter().any(|found| found.gid == gid);
        let had_links = !self.links.is_empty();
        let mut has_closed = false;
        // What a publisher sent before it left is still delivered.
        self.links.retain_mut(|link| {
            let stays = is_there(link.publisher()) || link.has_message();
            has_closed |= !stays && !link.state().awaits_opening();
            stays
        });
        self.has_orphans = self.links.iter().any(|link| !is_there(link.publisher()));
        if has_closed && let Ok(node) = HostNode::shared() {
            node.clean_up(); // if the publisher was killed, what it left is removed here
            self.ringer.ring(); // and if it was killed between setting the flag and waking
        }
        for found in matches.iter() {
            let announced = Announced::read(found.announcement.as_deref());
            let transport = classify(&announced, &self.announced).transport;
            let id = announced.feros().and_then(|publisher| NonZeroU64::new(publisher.endpoint));
            if transport == Some(Transport::SharedMemory)
                && !self.knows(found.gid)
                && let Some(id) = id
            {
                self.links.push(Link::new(found.gid, id, &self.states));
            }
        }
        self.tell_states(engine);
        self.show_place(had_links, !self.links.is_empty());
    }

    /// Publishers of other processes learn where to ring only while there are any: an executor that
    /// only its own process rings sleeps and wakes cheaper.
    fn show_place(&self, is_shown: bool, is_needed: bool) {
        let Some(entry) = self.entry.clone() else { return };
        match (is_shown, is_needed) {
            (false, true) => self.ringer.on_move(move |place| entry.set_place(place)),
            (true, false) => self.ringer.end_observation(),
            _ => {}
        }
    }

    /// Opens the links whose publishers are ready, and takes the others further. Costs next to
    /// nothing once all are established.
    pub(crate) fn advance(&mut self, engine: &dyn EngineSubscription) {
        if self.links.iter().all(|link| link.state().established().is_some()) {
            return;
        }
        let Some(entry) = self.entry.clone() else { return };
        let now = Instant::now();
        let ready = entry.publishers_ready();
        let is_told = std::mem::replace(&mut self.ready_seen, ready) != ready;
        let mut qos = None;
        let mut has_changed = false;
        for link in &mut self.links {
            if link.is_due(now, is_told) {
                let qos = qos.get_or_insert_with(|| engine.qos());
                let opening =
                    Opening { entry: &entry, qos, type_hash: self.type_hash, ringer: &self.ringer };
                link.open(&opening, now);
                has_changed = true;
            }
            has_changed |= link.advance();
        }
        if has_changed {
            self.tell_states(engine);
        }
    }

    /// Tells users of this subscription how far the links are, and others which links failed, when
    /// that has changed.
    fn tell_states(&self, engine: &dyn EngineSubscription) {
        let states = self.links.iter().map(|link| (link.publisher(), link.state().reason()));
        let states: Vec<_> = states.collect();
        let former = self.states.replace(states.clone());
        let declined = |states: &[(Gid, Option<Reason>)]| -> Vec<_> {
            let is_declined = |reason: &Option<Reason>| {
                reason.as_ref().is_some_and(|reason| *reason != Reason::Pending)
            };
            states.iter().filter(|(_, reason)| is_declined(reason)).cloned().collect()
        };
        if declined(&former) == declined(&states) {
            return;
        }
        let Announced::Feros(mut announcement) = self.announced.clone() else { return };
        let failed = self.links.iter().filter_map(|link| match link.state() {
            Handshake::Declined(why) => Some(Declined { publisher: link.id().get(), why: *why }),
            _ => None,
        });
        announcement.declined = failed.collect();
        if let Err(error) = engine.announce(&announcement.encode()) {
            tracing::warn!(target: "feros::shm", "others are not told why: {error}");
        }
    }
}

/// `Ok(None)`: the shared-memory transport is not wanted.
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
