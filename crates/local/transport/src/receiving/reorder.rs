//! Merges the messages of several transports into one order. A subscription receives messages from
//! three sources: the queue of the intra-process transport, connections in shared memory, and the
//! engine.
//!
//! A publisher may send the same message both over a local transport and through the engine,
//! because other subscriptions need the engine. It may also change transports while it publishes.
//! The stamps increase with each message of a publisher, and the engine and each local transport
//! keep the order of a publisher. So it is enough to compare the heads, which are the next messages
//! of the transports: if two messages are from the same publisher, the older message is delivered
//! first, and a message that is not newer than the last delivered message is a duplicate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use feros_engine::{Gid, Sample, Stamp};

use crate::intra_process::queue::{Envelope, Object, Queue};
use crate::local_connection::LocalConnection;
use crate::receiving::received::Received;

/// A publisher whose messages have arrived over a local transport, or may do so from now on.
struct LocalPublisher {
    gid: Gid,
    /// Whether a message has arrived over a local transport. Until then, the engine counts lost
    /// messages.
    comes_locally: bool,
    /// The stamp of the last message that was delivered.
    last: Stamp,
    /// The number of the last delivered message, no matter which transport it took.
    last_number: u64,
    /// Whether the publisher has no match at present. It may match again, for example if one of the
    /// two processes was stopped for a while, or if the network was interrupted.
    has_left: bool,
}

impl LocalPublisher {
    /// Makes the record of a publisher whose messages have not arrived over a local transport yet.
    fn new(gid: Gid, last: Stamp, last_number: u64) -> Self {
        Self { gid, comes_locally: false, last, last_number, has_left: false }
    }

    /// Advances to this number. Returns how many messages were skipped.
    fn pass_to(&mut self, number: u64) -> u64 {
        let lost = number.saturating_sub(self.last_number).saturating_sub(1);
        self.last_number = self.last_number.max(number);
        lost
    }
}

/// The limit on the number of publishers that are remembered after they have left.
const REMEMBERED_PUBLISHERS: usize = 32;

/// The next message of one of the local transports, which is called the head of that transport.
struct Front {
    source: Source,
    publisher: Gid,
    /// The publisher's index in [`Reorder::local`], if the publisher is known.
    known: Option<usize>,
}

#[derive(Clone, Copy)]
enum Source {
    Queue,
    Connection(usize),
}

/// Before the first message of a publisher that arrives over a local transport, earlier messages of
/// this publisher that are still in the engine are delivered. This is the limit on the number of
/// samples from the engine that are delivered for this purpose. The limit is as large as a history
/// of usual depth.
const DRAIN_LIMIT: usize = 1024;

/// The transports of one subscription, and what is known about its publishers.
pub(crate) struct Reorder<O: Object> {
    /// The participant of the subscription.
    session: Gid,
    queue: Arc<Queue<O>>,
    /// Set by the engine when there may be a sample to take.
    engine_pending: Arc<AtomicBool>,
    engine_head: Option<Sample>,
    local: Vec<LocalPublisher>,
    /// This alternates, so that the engine and the local transports take turns.
    engine_is_next: bool,
    /// The local transport whose turn it is: 0 means the queue, and higher numbers mean the
    /// connections.
    next_local: usize,
    drained: usize,
    /// Whether losses have been counted since the last [`Reorder::take_has_lost`].
    has_lost: bool,
    counters: Arc<ReorderCounters>,
}

/// The counters of a [`Reorder`].
#[derive(Debug, Default)]
pub(crate) struct ReorderCounters {
    /// Messages that arrived over two transports; the second copy was dropped.
    pub(crate) duplicates: AtomicU64,
    /// Messages on local transports that were removed from a full queue before they were taken.
    pub(crate) lost: AtomicU64,
}

impl ReorderCounters {
    /// Adds to the count of lost messages. The addition saturates, because publishers choose the
    /// numbers that it is computed from.
    fn count_lost(&self, more: u64) {
        let add = |lost: u64| Some(lost.saturating_add(more));
        let _ = self.lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add); // this never fails
    }
}

/// The interface of a [`Reorder`] to the engine.
pub(crate) trait EngineSource {
    /// The next sample, if there is one.
    fn take(&mut self) -> Option<Sample>;
    /// Tells the engine that messages of this publisher also arrive over a local transport. From
    /// then on, the engine no longer counts gaps in the publisher's numbers as losses.
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

    /// Whether losses have been counted since the last call.
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

    /// Records which publishers have left. If there are too many of them, forgets the first of
    /// them.
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
        connections: &mut [impl LocalConnection],
        engine: &mut impl EngineSource,
    ) -> Option<Received<O>> {
        loop {
            self.fill_engine_head(engine);
            let local = self.local_front(connections);
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
                    self.engine_goes_first(publisher, stamp, local, connections)
                }
            };
            let next = match local {
                Some(local) if !engine_first => self.take_local(&local, connections, engine),
                _ => self.take_engine(connections).map(Received::from_engine),
            };
            if next.is_some() {
                return next;
            }
        }
    }

    /// Takes the next sample of the engine, if there may be one.
    fn fill_engine_head(&mut self, engine: &mut impl EngineSource) {
        // The flag is read before it is written, because this runs once for each message, and the
        // flag is usually not set.
        let is_pending = || self.engine_pending.load(Ordering::Relaxed);
        if self.engine_head.is_none()
            && is_pending()
            && self.engine_pending.swap(false, Ordering::AcqRel)
        {
            self.ask_engine(engine);
        }
    }

    #[inline(never)] // this keeps the code for local messages compact
    fn ask_engine(&mut self, engine: &mut impl EngineSource) {
        self.engine_head = engine.take();
        if self.engine_head.is_some() {
            self.engine_pending.store(true, Ordering::Release);
        }
    }

    /// Asks the engine for a sample even if it has not notified. When the first message arrives
    /// over a local transport, the notification for an earlier sample may not have arrived yet.
    #[cold]
    fn look_again(&mut self, engine: &mut impl EngineSource) -> bool {
        self.engine_head = engine.take();
        self.engine_head.is_some()
    }

    #[inline(never)] // this is rarely called if most messages are local
    fn engine_goes_first(
        &mut self,
        publisher: Gid,
        stamp: Stamp,
        local: &Front,
        connections: &mut [impl LocalConnection],
    ) -> bool {
        if self.last_of(publisher).is_some_and(|last| stamp <= last) {
            return true; // it is a duplicate and has been dropped
        }
        if self.local_stamp_of(publisher, connections).is_some_and(|first| first <= stamp) {
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
    fn local_stamp_of(
        &mut self,
        publisher: Gid,
        connections: &mut [impl LocalConnection],
    ) -> Option<Stamp> {
        let in_queue = self.queue.first_stamp_of(publisher);
        in_queue.or_else(|| {
            let connection =
                connections.iter_mut().find(|connection| connection.publisher() == publisher);
            connection.and_then(|connection| connection.front())
        })
    }

    /// Finds the head of the local transport whose turn it is. If that transport has no message,
    /// finds the head of the next transport that has a message.
    fn local_front(&mut self, connections: &mut [impl LocalConnection]) -> Option<Front> {
        for _ in 0..=connections.len() {
            if self.next_local > connections.len() {
                self.next_local = 0;
            }
            let found = match self.next_local.checked_sub(1) {
                None => self.queue.front_publisher().map(|publisher| (Source::Queue, publisher)),
                Some(index) => {
                    let connection = &mut connections[index];
                    connection.front().map(|_| (Source::Connection(index), connection.publisher()))
                }
            };
            if let Some((source, publisher)) = found {
                return Some(Front { source, publisher, known: self.position_of(publisher) });
            }
            self.next_local += 1;
        }
        None
    }

    #[inline(never)] // this is rarely called if most messages are local
    fn take_engine(&mut self, connections: &[impl LocalConnection]) -> Option<Sample> {
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
                // Remember the publisher of a connection. Otherwise, messages that arrived earlier
                // through the engine would count as missing on the connection.
                if connections.iter().any(|connection| connection.publisher() == publisher) {
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
        connections: &mut [impl LocalConnection],
        engine: &mut impl EngineSource,
    ) -> Option<Received<O>> {
        let (envelope, received) = match front.source {
            Source::Queue => self.take_queued(front.publisher)?,
            Source::Connection(index) => {
                let message = connections[index].take()?;
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

    /// Takes the head of the queue. If the message has expired, returns the envelope without the
    /// message. If a publisher has removed the head in the meantime, this takes the next message,
    /// which is newer.
    #[inline(never)] // this keeps the code for other transports compact
    fn take_queued(&mut self, publisher: Gid) -> Option<(Envelope, Option<Received<O>>)> {
        let (envelope, object) = self.queue.take_if(|head| head.publisher == publisher)?;
        let is_alive = envelope.expires.is_none_or(|end| Instant::now() < end);
        let received = || Received::from_this_process(envelope, object, self.session);
        Some((envelope, is_alive.then(received)))
    }

    /// Records that the first message of a publisher has arrived over a local transport. Returns
    /// the index of the publisher.
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

/// The stamp of a sample. Samples without a stamp are from stock publishers, which use no local
/// transport, so any value is suitable for them.
fn stamp_of(sample: &Sample) -> Stamp {
    sample.info.stamp().unwrap_or(Stamp(i64::MIN))
}

#[cfg(test)]
mod tests;
