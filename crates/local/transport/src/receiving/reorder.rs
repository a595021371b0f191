//! Merges the messages of several transports into one order. A subscription receives messages from
//! the queue of the intra-process transport, from connections in shared memory, and from the
//! engine.
//!
//! A publisher may send the same message over a local transport and through the engine, because
//! other subscriptions need the engine, and it may change transports while it publishes. Stamps
//! rise with each message of a publisher, and both the engine and each local transport keep a
//! publisher's order. So it suffices to compare the heads, the next message of each transport: of
//! two messages from one publisher, the older goes first, and a message that is not newer than the
//! last delivered one is a duplicate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use feros_engine::{Gid, Sample, Stamp};

use crate::intra_process::queue::{Envelope, Object, Queue};
use crate::local_link::LocalLink;
use crate::receiving::received::Received;

/// A publisher whose messages have come over a local transport, or may do so from now on.
struct LocalPublisher {
    gid: Gid,
    /// Whether a message has come over a local transport. Until then, the engine counts lost
    /// messages.
    comes_locally: bool,
    /// The stamp of the last message that was delivered.
    last: Stamp,
    /// The number of the last message, whatever transport it took.
    last_number: u64,
    /// Whether the publisher has no match now. It may come back, for example after one of the two
    /// processes was stopped for a while or the network was down.
    has_left: bool,
}

impl LocalPublisher {
    /// Makes the record of a publisher whose messages have not yet come over a local transport.
    fn new(gid: Gid, last: Stamp, last_number: u64) -> Self {
        Self { gid, comes_locally: false, last, last_number, has_left: false }
    }

    /// Moves on to this number; returns how many messages were skipped.
    fn pass_to(&mut self, number: u64) -> u64 {
        let lost = number.saturating_sub(self.last_number).saturating_sub(1);
        self.last_number = self.last_number.max(number);
        lost
    }
}

/// The limit on publishers that are remembered after they have left.
const REMEMBERED_PUBLISHERS: usize = 32;

/// The next message of one of the local transports (its head).
struct Front {
    source: Source,
    publisher: Gid,
    /// The publisher's index in [`Reorder::local`], if the publisher is known.
    known: Option<usize>,
}

#[derive(Clone, Copy)]
enum Source {
    Queue,
    Link(usize),
}

/// Before the first message of a publisher over a local transport, the publisher's earlier messages
/// in the engine are delivered. At most this many of the engine's samples are delivered for this,
/// as many as a history of usual depth holds.
const DRAIN_LIMIT: usize = 1024;

/// The transports of one subscription, and what is known of its publishers.
pub(crate) struct Reorder<O: Object> {
    /// The participant of the subscription.
    session: Gid,
    queue: Arc<Queue<O>>,
    /// Raised by the engine when it may have a sample.
    engine_pending: Arc<AtomicBool>,
    engine_head: Option<Sample>,
    local: Vec<LocalPublisher>,
    /// Alternates, so that neither the engine nor the local transports starve the other.
    engine_is_next: bool,
    /// The local transport whose turn it is: 0 for the queue, then the connections.
    next_local: usize,
    drained: usize,
    /// Whether losses were counted since the last [`Reorder::take_has_lost`].
    has_lost: bool,
    counters: Arc<ReorderCounters>,
}

/// The counters of the reorder.
#[derive(Debug, Default)]
pub(crate) struct ReorderCounters {
    /// Messages that also came over a second transport and were dropped there.
    pub(crate) duplicates: AtomicU64,
    /// Messages on local transports that were pushed out of a full queue before they were taken.
    pub(crate) lost: AtomicU64,
}

impl ReorderCounters {
    /// Adds to the count of lost messages. It saturates, because the numbers come from publishers.
    fn count_lost(&self, more: u64) {
        let add = |lost: u64| Some(lost.saturating_add(more));
        let _ = self.lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add); // never fails
    }
}

/// The engine's side of the reorder.
pub(crate) trait EngineSource {
    /// The next sample, if there is one.
    fn take(&mut self) -> Option<Sample>;
    /// Tells the engine that messages of this publisher also come over a local transport, so that
    /// gaps in the publisher's numbers no longer count as losses.
    fn comes_by_local_transport(&mut self, publisher: Gid);
}

impl<O: Object> Reorder<O> {
    pub(crate) fn new(
        session: Gid,
        queue: Arc<Queue<O>>,
        engine_pending: Arc<AtomicBool>,
        counters: Arc<ReorderCounters>,
    ) -> Self {
        Self {
            session,
            queue,
            engine_pending,
            engine_head: None,
            local: Vec::new(),
            engine_is_next: true,
            next_local: 0,
            drained: 0,
            has_lost: false,
            counters,
        }
    }

    /// Whether losses were counted since the last call.
    pub(crate) fn take_has_lost(&mut self) -> bool {
        std::mem::take(&mut self.has_lost)
    }

    #[cold]
    fn note_lost(&mut self, lost: u64) {
        self.has_lost = true;
        self.counters.count_lost(lost);
    }

    pub(crate) fn queue(&self) -> &Queue<O> {
        &self.queue
    }

    /// Records which publishers have left, and forgets the first of them if there are too many.
    pub(crate) fn note_who_left(&mut self, is_there: impl Fn(Gid) -> bool) {
        self.local.iter_mut().for_each(|known| known.has_left = !is_there(known.gid));
        let left = self.local.iter().filter(|known| known.has_left).count();
        let mut too_many = left.saturating_sub(REMEMBERED_PUBLISHERS);
        self.local.retain(|known| {
            let is_forgotten = known.has_left && too_many > 0;
            too_many -= usize::from(is_forgotten);
            !is_forgotten
        });
    }

    /// Whether [`Reorder::next`] may find a message without another ring.
    pub(crate) fn may_have_more(&self) -> bool {
        !self.queue.is_empty()
            || self.engine_head.is_some()
            || self.engine_pending.load(Ordering::Acquire)
    }

    /// Takes the next message. Never blocks.
    pub(crate) fn next(
        &mut self,
        links: &mut [impl LocalLink],
        engine: &mut impl EngineSource,
    ) -> Option<Received<O>> {
        loop {
            self.fill_engine_head(engine);
            let local = self.local_front(links);
            let engine_first = match (&self.engine_head, &local) {
                (None, None) => return None,
                (Some(_), None) => true,
                (None, Some(local)) => {
                    if !self.comes_locally(local) && self.look_again(engine) {
                        continue;
                    }
                    false
                }
                (Some(sample), Some(local)) => {
                    let (publisher, stamp) = (sample.info.publisher_gid, stamp_of(sample));
                    self.engine_goes_first(publisher, stamp, local, links)
                }
            };
            let next = match local {
                Some(local) if !engine_first => self.take_local(&local, links, engine),
                _ => self.take_engine(links).map(Received::from_engine),
            };
            if next.is_some() {
                return next;
            }
        }
    }

    /// Takes the engine's next sample if there may be one.
    fn fill_engine_head(&mut self, engine: &mut impl EngineSource) {
        // The flag is read before it is written, because this runs once per message and the flag is
        // mostly down.
        let is_pending = || self.engine_pending.load(Ordering::Relaxed);
        if self.engine_head.is_none()
            && is_pending()
            && self.engine_pending.swap(false, Ordering::AcqRel)
        {
            self.ask_engine(engine);
        }
    }

    #[inline(never)] // keeps the code for local messages compact
    fn ask_engine(&mut self, engine: &mut impl EngineSource) {
        self.engine_head = engine.take();
        if self.engine_head.is_some() {
            self.engine_pending.store(true, Ordering::Release);
        }
    }

    /// Asks the engine for a sample even without a notification. Before the first message over a
    /// local transport, the notification for an earlier sample may still be on its way.
    #[cold]
    fn look_again(&mut self, engine: &mut impl EngineSource) -> bool {
        self.engine_head = engine.take();
        self.engine_head.is_some()
    }

    #[inline(never)] // rarely called if most messages are local
    fn engine_goes_first(
        &mut self,
        publisher: Gid,
        stamp: Stamp,
        local: &Front,
        links: &mut [impl LocalLink],
    ) -> bool {
        if self.last_of(publisher).is_some_and(|last| stamp <= last) {
            return true; // a duplicate, which is dropped
        }
        if self.local_stamp_of(publisher, links).is_some_and(|first| first <= stamp) {
            return false;
        }
        if local.publisher == publisher {
            return true;
        }
        if !self.comes_locally(local) && self.drained < DRAIN_LIMIT {
            self.drained += 1;
            return true;
        }
        self.engine_is_next = !self.engine_is_next;
        self.engine_is_next
    }

    fn position_of(&self, publisher: Gid) -> Option<usize> {
        self.local.iter().position(|known| known.gid == publisher)
    }

    fn last_of(&self, publisher: Gid) -> Option<Stamp> {
        self.position_of(publisher).map(|index| self.local[index].last)
    }

    /// Whether messages of this publisher already come over a local transport.
    fn comes_locally(&self, front: &Front) -> bool {
        front
            .known
            .is_some_and(|index| self.local[index].comes_locally && !self.local[index].has_left)
    }

    /// The stamp of the next message from this publisher on its local transport.
    fn local_stamp_of(&mut self, publisher: Gid, links: &mut [impl LocalLink]) -> Option<Stamp> {
        let in_queue = self.queue.first_stamp_of(publisher);
        in_queue.or_else(|| {
            let link = links.iter_mut().find(|link| link.publisher() == publisher);
            link.and_then(|link| link.front())
        })
    }

    /// Finds the head of the local transport whose turn it is, or of the next one that has a
    /// message.
    fn local_front(&mut self, links: &mut [impl LocalLink]) -> Option<Front> {
        for _ in 0..=links.len() {
            if self.next_local > links.len() {
                self.next_local = 0;
            }
            let found = match self.next_local.checked_sub(1) {
                None => self.queue.front_publisher().map(|publisher| (Source::Queue, publisher)),
                Some(index) => {
                    let link = &mut links[index];
                    link.front().map(|_| (Source::Link(index), link.publisher()))
                }
            };
            if let Some((source, publisher)) = found {
                return Some(Front { source, publisher, known: self.position_of(publisher) });
            }
            self.next_local += 1;
        }
        None
    }

    #[inline(never)] // rarely called if most messages are local
    fn take_engine(&mut self, links: &[impl LocalLink]) -> Option<Sample> {
        let sample = self.engine_head.take()?;
        let (publisher, stamp) = (sample.info.publisher_gid, stamp_of(&sample));
        let number = sample.info.publication_sequence_number;
        match self.local.iter_mut().find(|known| known.gid == publisher) {
            Some(known) if stamp <= known.last => {
                self.counters.duplicates.fetch_add(1, Ordering::Relaxed);
                None
            }
            Some(known) => {
                known.last = stamp;
                let lost = known.pass_to(number.unwrap_or(known.last_number));
                if known.comes_locally && lost > 0 {
                    self.note_lost(lost);
                }
                Some(sample)
            }
            None => {
                // Remember the publisher of a connection, so that messages that came earlier
                // through the engine do not count as missing on the connection.
                if links.iter().any(|link| link.publisher() == publisher) {
                    let last_number = number.unwrap_or(0);
                    self.local.push(LocalPublisher::new(publisher, stamp, last_number));
                }
                Some(sample)
            }
        }
    }

    fn take_local(
        &mut self,
        front: &Front,
        links: &mut [impl LocalLink],
        engine: &mut impl EngineSource,
    ) -> Option<Received<O>> {
        let (envelope, received) = match front.source {
            Source::Queue => self.take_queued(front.publisher)?,
            Source::Link(index) => {
                let message = links[index].take()?;
                (message.envelope, Some(Received::from_this_host(message)))
            }
        };
        let Envelope { stamp, number, since, .. } = envelope;
        self.next_local += 1;
        let index = match front.known {
            Some(index) if self.comes_locally(front) => index,
            _ => self.begin_to_hear(front, since, engine),
        };
        let known = &mut self.local[index];
        let lost = known.pass_to(number);
        let is_duplicate = stamp <= known.last;
        known.last = known.last.max(stamp);
        if lost > 0 {
            self.note_lost(lost);
        }
        if is_duplicate {
            self.counters.duplicates.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        received
    }

    /// Takes the head of the queue; without the message if that has expired. If a publisher has
    /// pushed the head out meanwhile, this takes the next message, which is newer.
    #[inline(never)] // keeps the code for other transports compact
    fn take_queued(&mut self, publisher: Gid) -> Option<(Envelope, Option<Received<O>>)> {
        let (envelope, object) = self.queue.take_if(|head| head.publisher == publisher)?;
        let is_alive = envelope.expires.is_none_or(|end| Instant::now() < end);
        let received = || Received::from_this_process(envelope, object, self.session);
        Some((envelope, is_alive.then(received)))
    }

    /// Records the first message of a publisher over a local transport. Returns the publisher's
    /// index.
    #[cold]
    fn begin_to_hear(
        &mut self,
        front: &Front,
        since: u64,
        engine: &mut impl EngineSource,
    ) -> usize {
        self.drained = 0;
        engine.comes_by_local_transport(front.publisher);
        let index = front.known.unwrap_or_else(|| {
            self.local.push(LocalPublisher::new(front.publisher, Stamp(i64::MIN), 0));
            self.local.len() - 1
        });
        let known = &mut self.local[index];
        known.has_left = false;
        if !known.comes_locally {
            known.comes_locally = true;
            known.last_number = known.last_number.max(since.saturating_sub(1));
        }
        index
    }
}

/// The stamp of a sample. Samples without a stamp come from stock publishers, which use no local
/// transport, so any value will do.
fn stamp_of(sample: &Sample) -> Stamp {
    sample.info.stamp().unwrap_or(Stamp(i64::MIN))
}

#[cfg(test)]
mod tests;
