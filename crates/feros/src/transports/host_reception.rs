//! The receiving side of the shared-memory transport: a subscription's entry in shared memory, and
//! its links to publishers.

use std::fmt::Display;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use feros_executor::Ringer;
use feros_rmw::{
    Gid, History, Match, MessageInfo, Payload, QosProfile, Reliability, Sample, Stamp,
    Subscription as EngineSubscription,
};
use feros_shm::{
    Announced, Announcement, Attachment, Declined, HostNode, HostSample, Link, LinkObstacle,
    LinkSettings, Obstacle, OpenError, ProcessSegment, Reason, SampleHeader, SubscriptionEntry,
    TakeOutcome, Transport, TransportSet, classify,
};

use crate::transports::host::{self, LONGEST_QUEUE};
use crate::transports::merge::{FromLink, Links, LocalLink};

/// A link that could not be opened yet is tried again not sooner, unless a publisher says that it
/// is ready.
const RETRY: Duration = Duration::from_millis(1);
/// A link that failed is tried again with a message that comes so much later, which is doubled each
/// time ...
const FIRST_RETRY_OF_FAILED: Duration = Duration::from_secs(1);
/// ... up to this.
const LAST_RETRY_OF_FAILED: Duration = Duration::from_secs(16);
/// Memory that cannot be mapped so often is not just growing.
const MAPPING_TRIES: u32 = 20;

/// How a subscription hears publishers of other processes of its host.
pub(crate) struct HostReception {
    announced: Announced,
    entry: Option<Arc<SubscriptionEntry>>,
    ringer: Ringer,
    type_hash: Option<[u8; 32]>,
    /// Publishers whose shared memory has not come into being yet; they ring when it has.
    pending: Vec<PendingLink>,
    /// How often publishers had said so at the last try.
    ready_seen: u32,
    has_orphans: bool,
    shared: Arc<HostReceptionState>,
}

/// What the handle of a subscription sees of its links.
#[derive(Debug, Default)]
pub(crate) struct HostReceptionState {
    /// Messages refused as malformed.
    pub(crate) refused: AtomicU64,
    /// Publishers that are linked, and whether they have begun to use the link.
    linked: Mutex<Vec<(Gid, Arc<AtomicBool>)>>,
    /// Publishers whose links failed.
    failed: Mutex<Vec<(Gid, LinkObstacle)>>,
}

impl HostReceptionState {
    fn lock(&self) -> MutexGuard<'_, Vec<(Gid, Arc<AtomicBool>)>> {
        self.linked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_failed(&self) -> MutexGuard<'_, Vec<(Gid, LinkObstacle)>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a publisher's messages, which could come by shared memory, do not.
    pub(crate) fn why_not(&self, publisher: Gid) -> Reason {
        let failed = self.lock_failed();
        let found = failed.iter().find(|(gid, _)| *gid == publisher);
        found.map_or(Reason::Pending, |(_, why)| why.reason())
    }

    /// Whether a publisher's messages come by shared memory.
    pub(crate) fn is_heard(&self, publisher: Gid) -> bool {
        self.lock()
            .iter()
            .any(|(gid, is_heard)| *gid == publisher && is_heard.load(Ordering::Relaxed))
    }
}

struct PendingLink {
    publisher: Gid,
    id: NonZeroU64,
    retry_at: Option<Instant>,
    /// How often the memory could not be mapped.
    unmapped: u32,
    /// Why the last try failed, and the time to the next one.
    failed: Option<(LinkObstacle, Duration)>,
}

impl PendingLink {
    fn new(publisher: Gid, id: NonZeroU64) -> Self {
        Self { publisher, id, retry_at: None, unmapped: 0, failed: None }
    }

    /// Whether it is time to try. What a publisher says is never passed over: no other ring may
    /// follow.
    fn is_due(&self, now: Instant, is_told: bool) -> bool {
        is_told || self.retry_at.is_none_or(|at| at <= now)
    }

    /// After a try that failed.
    fn note(&mut self, failure: OpenFailure, tried: Instant) {
        let OpenFailure { obstacle, why } = failure;
        if matches!(obstacle, Some(LinkObstacle::Unavailable(Obstacle::NotMapped))) {
            self.unmapped = self.unmapped.saturating_add(1);
        }
        let obstacle = obstacle.filter(|_| self.unmapped == 0 || self.unmapped >= MAPPING_TRIES);
        let Some(obstacle) = obstacle else {
            // It rings when it is ready.
            self.failed = None;
            self.retry_at = Some(tried + RETRY);
            return;
        };
        let patience = match self.failed {
            Some((_, patience)) => (patience * 2).min(LAST_RETRY_OF_FAILED),
            None => FIRST_RETRY_OF_FAILED,
        };
        if self.failed.is_none_or(|(former, _)| former != obstacle) {
            tracing::warn!(
                target: "feros::shm",
                "messages of publisher {} take the network transport: {why}", self.publisher
            );
        }
        self.failed = Some((obstacle, patience));
        self.retry_at = Some(tried + patience);
    }
}

impl HostReception {
    /// An entry for a new subscription, and what is announced of it. Without shared memory, the
    /// announcement says why.
    pub(crate) fn new(
        transports: TransportSet,
        qos: &QosProfile,
        type_hash: Option<[u8; 32]>,
        ringer: &Ringer,
    ) -> Self {
        let (entry, obstacle) = match prepare(transports, qos) {
            Ok(entry) => (entry.map(Arc::new), None),
            Err(obstacle) => (None, Some(obstacle)),
        };
        let endpoint = entry.as_ref().map_or(0, |entry| entry.id().to_u64());
        Self {
            announced: Announcement::of_this_process(endpoint, transports, obstacle).into(),
            entry,
            ringer: ringer.clone(),
            type_hash,
            pending: Vec::new(),
            ready_seen: 0,
            has_orphans: false,
            shared: Arc::default(),
        }
    }

    /// What the subscription announces.
    pub(crate) fn announced(&self) -> &Announced {
        &self.announced
    }

    pub(crate) fn state(&self) -> &Arc<HostReceptionState> {
        &self.shared
    }

    /// Whether links wait to be opened.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Looks at the matches: links to publishers that left are closed, those to new ones wait to be
    /// opened.
    pub(crate) fn update(
        &mut self,
        matches: &[Match],
        engine: &dyn EngineSubscription,
        links: &mut Links,
    ) {
        if self.entry.is_none() {
            return;
        }
        let is_there = |gid: Gid| matches.iter().any(|found| found.gid == gid);
        let links_before = links.len();
        let had_publishers = links_before + self.pending.len() > 0;
        // What a publisher sent before it left is still delivered.
        links.retain_mut(|link| is_there(link.publisher()) || link.front().is_some());
        self.has_orphans = links.iter().any(|link| !is_there(link.publisher()));
        self.shared.lock().retain(|(gid, _)| is_there(*gid));
        self.pending.retain(|pending| is_there(pending.publisher));
        if links.len() < links_before
            && let Ok(node) = HostNode::shared()
        {
            node.clean_up(); // if the publisher was killed, what it left is removed here
            self.ringer.ring(); // and if it was killed between setting the flag and waking
        }
        for found in matches {
            let is_known = links.iter().any(|link| link.publisher() == found.gid)
                || self.pending.iter().any(|pending| pending.publisher == found.gid);
            let announced = Announced::read(found.announcement.as_deref());
            let is_host =
                classify(&announced, &self.announced).transport == Some(Transport::SharedMemory);
            let id = announced.feros().and_then(|publisher| NonZeroU64::new(publisher.endpoint));
            if let (false, true, Some(id)) = (is_known, is_host, id) {
                self.pending.push(PendingLink::new(found.gid, id));
            }
        }
        self.tell_failures(engine);
        self.show_place(had_publishers, links.len() + self.pending.len() > 0);
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

    /// Whether links wait to be closed until what their publishers left there is taken.
    pub(crate) fn has_orphans(&self) -> bool {
        self.has_orphans
    }

    /// Opens the links whose publishers are ready. Costs nothing while no link is awaited.
    pub(crate) fn open_pending(&mut self, engine: &dyn EngineSubscription, links: &mut Links) {
        let Some(entry) = self.entry.clone() else { return };
        let now = Instant::now();
        let ready = entry.publishers_ready();
        let is_told = std::mem::replace(&mut self.ready_seen, ready) != ready;
        let is_due = |pending: &PendingLink| pending.is_due(now, is_told);
        if !self.pending.iter().any(is_due) {
            return;
        }
        let qos = engine.qos();
        let mut index = 0;
        while index < self.pending.len() {
            let pending = &mut self.pending[index];
            if !is_due(pending) {
                index += 1;
                continue;
            }
            match open(&entry, pending, &qos, self.type_hash, &self.ringer, &self.shared) {
                Ok((link, is_heard)) => {
                    self.shared.lock().push((pending.publisher, is_heard));
                    links.push(Box::new(link));
                    self.pending.swap_remove(index);
                }
                Err(failure) => {
                    pending.note(failure, now);
                    index += 1;
                }
            }
        }
        self.tell_failures(engine);
    }

    /// Tells others, and users of this subscription, which links failed, when that has changed.
    fn tell_failures(&self, engine: &dyn EngineSubscription) {
        let failed =
            || self.pending.iter().filter_map(|pending| Some((pending, pending.failed?.0)));
        let by_gid: Vec<_> = failed().map(|(pending, why)| (pending.publisher, why)).collect();
        let is_told = std::mem::replace(&mut *self.shared.lock_failed(), by_gid.clone()).as_slice()
            == by_gid.as_slice();
        if is_told {
            return;
        }
        let Announced::Feros(mut announcement) = self.announced.clone() else { return };
        let declined = failed().map(|(pending, why)| Declined { publisher: pending.id.get(), why });
        announcement.declined = declined.collect();
        if let Err(error) = engine.announce(&announcement.encode()) {
            tracing::warn!(target: "feros::shm", "others are not told why: {error}");
        }
    }
}

/// `Ok(None)`: the shared-memory transport is not wanted.
fn prepare(
    transports: TransportSet,
    qos: &QosProfile,
) -> Result<Option<SubscriptionEntry>, Obstacle> {
    if !transports.contains(Transport::SharedMemory) {
        return Ok(None);
    }
    if qos.history == History::KeepLast && qos.depth > LONGEST_QUEUE {
        return Err(Obstacle::LongHistory);
    }
    if let Some(obstacle) = host::obstacle() {
        return Err(obstacle);
    }
    let segment =
        ProcessSegment::of_this_process().map_err(|unavailable| unavailable.obstacle())?;
    segment.subscription_entry().map(Some).map_err(|full| full.obstacle())
}

struct OpenFailure {
    /// `None`: nothing is in the way but time.
    obstacle: Option<LinkObstacle>,
    why: String,
}

impl From<OpenError> for OpenFailure {
    fn from(error: OpenError) -> Self {
        Self { obstacle: error.obstacle(), why: error.to_string() }
    }
}

fn open(
    entry: &SubscriptionEntry,
    pending: &PendingLink,
    qos: &QosProfile,
    type_hash: Option<[u8; 32]>,
    ringer: &Ringer,
    shared: &Arc<HostReceptionState>,
) -> Result<(HostLink, Arc<AtomicBool>), OpenFailure> {
    let depth = if qos.history == History::KeepAll { LONGEST_QUEUE } else { qos.depth.max(1) };
    let node = HostNode::shared().map_err(OpenError::from)?;
    let link = Link::open(&node, pending.id.get(), LinkSettings { depth, type_hash })?;
    let room = ringer.clone();
    link.on_room(move || room.ring());
    let capacity = u32::try_from(link.depth()).unwrap_or(u32::MAX);
    let attachment = entry
        .attach(pending.id, capacity)
        .map_err(|full| OpenFailure { obstacle: Some(full.obstacle()), why: full.to_string() })?;
    let is_heard = Arc::new(AtomicBool::new(false));
    let is_lossless = qos.history == History::KeepAll && qos.reliability == Reliability::Reliable;
    Ok((
        HostLink {
            publisher: pending.publisher,
            link,
            attachment,
            is_lossless,
            since: None,
            head: None,
            has_warned: false,
            shared: shared.clone(),
            is_heard: is_heard.clone(),
        },
        is_heard,
    ))
}

/// The link to one publisher, as the merge sees it.
struct HostLink {
    publisher: Gid,
    link: Link,
    attachment: Attachment,
    /// Whether the publisher waits for room.
    is_lossless: bool,
    /// Number of the first message that comes by this link alone.
    since: Option<u64>,
    /// The oldest message, and when it was taken.
    head: Option<(HostSample, Stamp)>,
    has_warned: bool,
    shared: Arc<HostReceptionState>,
    is_heard: Arc<AtomicBool>,
}

impl HostLink {
    fn fill_head(&mut self) {
        if self.head.is_some() {
            return;
        }
        let Some(since) = self.since() else { return };
        loop {
            match self.link.take() {
                TakeOutcome::Sample(sample) => {
                    let header = sample.header();
                    // Older ones came by the engine.
                    if header.publication_number < since {
                        continue;
                    }
                    if self.is_lossless {
                        self.attachment.count_taken(1);
                    }
                    let now = Stamp::now();
                    if !is_plausible(&header, since, now) {
                        self.refuse(&format_args!("its header says {header:?}"));
                        continue;
                    }
                    if is_expired(header.expires_nanos, now) {
                        continue;
                    }
                    self.head = Some((sample, now));
                    return;
                }
                TakeOutcome::Empty => return,
                TakeOutcome::ViewsExhausted { max_views } => {
                    if !std::mem::replace(&mut self.has_warned, true) {
                        tracing::warn!(
                            target: "feros::shm",
                            "this subscription holds {max_views} messages of publisher {}, as many as it may: further ones \
                             wait until it lets one go; copy what is to be kept for longer",
                            self.publisher
                        );
                    }
                    return;
                }
                TakeOutcome::Refused(why) => {
                    // The publisher has counted it as sent.
                    if self.is_lossless {
                        self.attachment.count_taken(1);
                    }
                    self.refuse(&why);
                }
            }
        }
    }

    fn refuse(&self, why: &dyn Display) {
        let count = self.shared.refused.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::error!(target: "feros::shm", "refused {count} so far of publisher {}: {why}", self.publisher);
        }
    }

    fn since(&mut self) -> Option<u64> {
        if self.since.is_none() {
            self.since = self.attachment.first_number();
            self.is_heard.store(self.since.is_some(), Ordering::Relaxed);
        }
        self.since
    }
}

/// Stamps and numbers decide what is a duplicate and what was lost: one absurd header would make
/// all later messages old. Stamps may be ahead of the clock, which may have been set back
/// meanwhile.
fn is_plausible(header: &SampleHeader, since: u64, now: Stamp) -> bool {
    const LARGEST_LEAD_NANOS: i64 = 24 * 3600 * 1_000_000_000;
    const MOST_MESSAGES: u64 = 1 << 40;
    let latest = now.0.saturating_add(LARGEST_LEAD_NANOS);
    (Stamp::MIN.0..=latest).contains(&header.stamp)
        && header.publication_number - since < MOST_MESSAGES
}

/// Lifespans are counted from the stamp, by the host's clock, as the engine does.
fn is_expired(expires_nanos: u64, now: Stamp) -> bool {
    expires_nanos != 0 && u64::try_from(now.0).is_ok_and(|now| now >= expires_nanos)
}

impl LocalLink for HostLink {
    fn publisher(&self) -> Gid {
        self.publisher
    }

    fn front(&mut self) -> Option<Stamp> {
        self.fill_head();
        self.head.as_ref().map(|(sample, _)| Stamp(sample.header().stamp))
    }

    fn take(&mut self) -> Option<FromLink> {
        self.fill_head();
        let (sample, received) = self.head.take()?;
        let header = sample.header();
        let info = MessageInfo {
            source_timestamp: Stamp(header.stamp).to_system_time(),
            received_timestamp: received.to_system_time(),
            publication_sequence_number: Some(header.publication_number),
            publisher_gid: self.publisher,
            from_same_session: false,
        };
        let payload = Payload::new(sample);
        Some(FromLink { sample: Sample { payload, info }, since: self.since? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_that_says_it_is_ready_is_tried_at_once() {
        let now = Instant::now();
        let mut pending = PendingLink::new(Gid([1; 16]), NonZeroU64::MIN);
        assert!(pending.is_due(now, false), "never tried");
        pending.note(OpenFailure { obstacle: None, why: String::new() }, now);
        assert!(!pending.is_due(now, false), "it has just been tried");
        assert!(pending.is_due(now, true));
        assert!(pending.is_due(now + RETRY, false));
    }

    #[test]
    fn absurd_headers_are_refused() {
        let now = Stamp::now();
        let good = SampleHeader { stamp: now.0, publication_number: 7, ..SampleHeader::default() };
        assert!(is_plausible(&good, 7, now));
        for stamp in [0, -1, i64::MIN, i64::MAX, good.stamp.saturating_mul(3)] {
            assert!(!is_plausible(&SampleHeader { stamp, ..good }, 7, now), "{stamp}");
        }
        assert!(!is_plausible(&SampleHeader { publication_number: u64::MAX, ..good }, 7, now));
    }
}
