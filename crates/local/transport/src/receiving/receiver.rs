//! The part of a subscription that takes messages. One owner at a time polls it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use feros_engine::{Gid, Sample, Subscription as EngineSubscription, TakeError};
use feros_trace::{Endpoint, Kind, Transport};

use crate::counters::{SubscriptionCounters, SubscriptionCounts};
use crate::events::PendingEvents;
use crate::intra_process::queue::{Object, Queue};
use crate::receiving::received::Received;
use crate::receiving::reorder::{EngineSource, Reorder, ReorderCounters};
use crate::shared_memory::connection_states::ConnectionStates;
use crate::shared_memory::receiving::SharedMemoryReceiving;

/// The counters of a subscription. They are shared by its receiver and its handle.
#[derive(Default)]
pub(crate) struct Tally {
    counters: SubscriptionCounters,
    reorder: Arc<ReorderCounters>,
}

impl Tally {
    /// The number of messages that were lost on the intra-process and shared-memory transports.
    pub(crate) fn lost(&self) -> u64 {
        self.reorder.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self, connections: &ConnectionStates) -> SubscriptionCounts {
        let duplicates = self.reorder.duplicates.load(Ordering::Relaxed);
        self.counters.read(duplicates, self.lost(), connections.refused.load(Ordering::Relaxed))
    }
}

/// The parts that a receiver is made from.
pub(crate) struct ReceiverOptions<'a, O: Object> {
    pub(crate) topic: &'a str,
    pub(crate) engine: Arc<dyn EngineSubscription>,
    pub(crate) queue: Arc<Queue<O>>,
    pub(crate) engine_pending: Arc<AtomicBool>,
    /// Set when the matches may have changed.
    pub(crate) matches_changed: Arc<AtomicBool>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) shared_memory: Arc<SharedMemoryReceiving>,
    pub(crate) receives_network: bool,
    pub(crate) events: Arc<PendingEvents>,
}

/// Takes the messages of one subscription in the order of each publisher.
///
/// The owner polls the receiver after the ringer of the subscription has been rung. No executor is
/// necessary.
pub struct Receiver<O: Object> {
    engine: Arc<dyn EngineSubscription>,
    reorder: Reorder<O>,
    shared_memory: Arc<SharedMemoryReceiving>,
    matches_changed: Arc<AtomicBool>,
    receives_network: bool,
    tally: Arc<Tally>,
    events: Arc<PendingEvents>,
    /// The message that has been found but not taken yet.
    head: Option<Received<O>>,
    traced: Endpoint,
}

impl<O: Object> Receiver<O> {
    pub(crate) fn new(options: ReceiverOptions<'_, O>) -> Self {
        let ReceiverOptions { topic, engine, queue, engine_pending, tally, .. } = options;
        Self {
            traced: Endpoint::new(Kind::Subscription, engine.gid().0, topic),
            reorder: Reorder::new(engine.gid(), queue, engine_pending, tally.reorder.clone()),
            engine,
            shared_memory: options.shared_memory,
            matches_changed: options.matches_changed,
            receives_network: options.receives_network,
            tally,
            events: options.events,
            head: None,
        }
    }

    /// Continues the setup of connections, updates the matches, and returns whether there is a
    /// message to take. Never blocks.
    ///
    /// # Errors
    /// The engine fails.
    pub fn poll(&mut self) -> Result<bool, TakeError> {
        self.follow_matches();
        if self.head.is_none() {
            self.head = self.next()?;
        }
        Ok(self.head.is_some())
    }

    /// Takes the next message. Never blocks.
    ///
    /// # Errors
    /// The engine fails.
    pub fn take(&mut self) -> Result<Option<Received<O>>, TakeError> {
        self.follow_matches();
        let taken = match self.head.take() {
            Some(found) => Some(found),
            None => self.next()?,
        };
        if let Some(message) = &taken {
            let counters = &self.tally.counters;
            let counter = match message.transport() {
                Transport::IntraProcess => &counters.intra_process,
                Transport::SharedMemory => &counters.shared_memory,
                Transport::Network => &counters.network,
            };
            counter.count(1, message.size_bytes());
        }
        Ok(taken)
    }

    /// Whether there may be another message for which no further ring will arrive.
    pub fn may_have_more(&self) -> bool {
        self.head.is_some()
            || self.reorder.may_have_more()
            || self.shared_memory.may_have_more()
            || self.matches_changed.load(Ordering::Relaxed)
    }

    /// Whether there are messages from publishers of this process to take.
    pub fn has_messages_of_this_process(&self) -> bool {
        let is_of_this_process = |head: &Received<O>| head.transport() == Transport::IntraProcess;
        self.head.as_ref().is_some_and(is_of_this_process) || !self.reorder.queue().is_empty()
    }

    /// Whether there may be events to take from the subscription. This costs only one atomic load.
    pub fn has_events(&self) -> bool {
        self.events.is_pending()
    }

    /// The subscription's identity for trace points.
    pub fn traced(&self) -> &Endpoint {
        &self.traced
    }

    /// If the matches may have changed, records which publishers have left.
    fn follow_matches(&mut self) {
        let has_changed = self.matches_changed.load(Ordering::Relaxed)
            && self.matches_changed.swap(false, Ordering::AcqRel);
        if has_changed {
            self.note_who_left();
        }
    }

    #[cold]
    fn note_who_left(&mut self) {
        let matched = self.engine.matched_gids();
        let connections = self.shared_memory.connections();
        let is_connected =
            |gid: Gid| connections.iter().any(|connection| connection.publisher() == gid);
        self.reorder.note_who_left(|gid| matched.contains(&gid) || is_connected(gid));
    }

    fn next(&mut self) -> Result<Option<Received<O>>, TakeError> {
        let mut engine =
            Engine { engine: &*self.engine, is_received: self.receives_network, failure: None };
        let mut connections = self.shared_memory.connections();
        let received = self.reorder.next(&mut connections, &mut engine);
        drop(connections);
        let failure = engine.failure;
        if self.reorder.take_has_lost() {
            self.events.announce_loss();
        }
        if feros_trace::is_on()
            && let Some(message) = &received
        {
            feros_trace::taken(message.transport(), &self.traced, || message.traced());
        }
        match (received, failure) {
            (None, Some(failure)) => Err(failure),
            (received, _) => Ok(received),
        }
    }
}

/// The receiver's access to the engine, in the form that the reorder needs.
struct Engine<'a> {
    engine: &'a dyn EngineSubscription,
    /// Whether the network transport is allowed.
    is_received: bool,
    failure: Option<TakeError>,
}

impl EngineSource for Engine<'_> {
    fn take(&mut self) -> Option<Sample> {
        loop {
            match self.engine.take() {
                Ok(sample) if self.is_received || sample.is_none() => return sample,
                Ok(_) => {} // came over a transport that is not allowed
                Err(failure) => {
                    self.failure = Some(failure);
                    return None;
                }
            }
        }
    }

    fn comes_by_local_transport(&mut self, publisher: Gid) {
        self.engine.expect_gaps(publisher, true);
    }
}
