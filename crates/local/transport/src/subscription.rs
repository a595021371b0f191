//! The untyped handle of a subscription. The [`Receiver`] takes the messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use feros_doorbell::Ringer;
use feros_engine::{
    Created, EventError, Gid, Match, NodeId, Notify, QosProfile, Session,
    Subscription as EngineSubscription, SubscriptionEvent, TypeHash,
};
use feros_shm::{Announced, Choice, Transport, TransportSet, classify};

use crate::counters::SubscriptionCounts;
use crate::events::{PendingEvents, SubscriptionEventKind, Waiting};
use crate::graph::{MatchTransport, network_is_allowed};
use crate::intra_process::delivery::DirectDispatch;
use crate::intra_process::queue::{AnyQueue, Object, Queue, SUBSCRIPTIONS};
use crate::receiving::{Receiver, ReceiverOptions, Tally};
use crate::registry::Registration;
use crate::shared_memory::receiving::SharedMemoryReceiving;

/// The options of a subscription.
pub struct SubscriptionOptions<'a, O: Object> {
    /// The node of the subscription.
    pub node: NodeId,
    /// The fully qualified topic.
    pub topic: &'a str,
    /// The name of the message type, in the form `package/msg/Name`.
    pub type_name: &'a str,
    /// The hash of the type. An endpoint without a hash matches by the type name only.
    pub type_hash: Option<TypeHash>,
    /// The subscription's QoS policies.
    pub qos: QosProfile,
    /// The subscription's requirements for the objects that it gets.
    pub wish: O::Wish,
    /// Whether the subscription ignores publishers of the same session.
    pub ignore_local_publications: bool,
    /// The transports that messages may take. Without the network transport, late joiners get no
    /// history.
    pub transports: TransportSet,
    /// The ringer that is rung when there may be a message to take, or when there is work on
    /// connections or matches.
    pub ringer: &'a Ringer,
    /// The function that is called when there may be events. It may be called on any thread, and
    /// must neither block nor own the subscription.
    pub on_event: Notify,
}

/// A subscription without a message type. It consists of an endpoint of the engine, which finds the
/// matches, and of the transports that lead to these matches. The endpoint ends when this value is
/// dropped.
///
/// All methods may be called from any thread.
pub struct Subscription {
    engine: Arc<dyn EngineSubscription>,
    queue: Arc<dyn AnyQueue>,
    shared_memory: Arc<SharedMemoryReceiving>,
    tally: Arc<Tally>,
    pending: Arc<PendingEvents>,
    events: Waiting<SubscriptionEvent>,
    /// The number of losses that the engine has reported.
    lost_by_engine: AtomicU64,
    /// The registration. While it exists, publishers of this process can find the queue.
    _registration: Registration<dyn AnyQueue>,
}

impl Subscription {
    /// Makes the endpoint of the subscription and its receiver.
    ///
    /// # Errors
    /// The engine refuses.
    pub fn new<O: Object>(
        session: &dyn Session,
        options: SubscriptionOptions<'_, O>,
    ) -> Created<(Self, Receiver<O>)> {
        let SubscriptionOptions { topic, type_hash, transports, ringer, .. } = options;
        let pending = PendingEvents::new(options.on_event);
        let [engine_pending, matches_changed] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let type_hash_bytes = type_hash.map(|hash| hash.0);
        let shared_memory = SharedMemoryReceiving::new(
            topic,
            transports,
            &options.qos,
            type_hash_bytes,
            ringer,
            session.ending(),
        );
        let shared_memory = Arc::new(shared_memory);
        let on_data = notification(&engine_pending, ringer);
        let on_event: Notify = {
            let (changed, pending) = (notification(&matches_changed, ringer), pending.clone());
            let upkeep = shared_memory.upkeep().clone();
            Arc::new(move || {
                pending.announce();
                changed();
                upkeep.ask();
            })
        };
        let registering = SUBSCRIPTIONS.begin_registration();
        let engine = session.create_subscription(feros_engine::SubscriptionOptions {
            node: options.node,
            topic,
            type_name: options.type_name,
            type_hash,
            qos: options.qos,
            ignore_local_publications: options.ignore_local_publications,
            announcement: &shared_memory.announcement(),
            on_data,
            on_event: Some(on_event),
        })?;
        let mut queue = Queue::new(options.wish, &engine.qos(), ringer.clone()).of_type(type_hash);
        if options.ignore_local_publications {
            queue = queue.ignoring(engine.gid());
        }
        let (queue, tally) = (Arc::new(queue), Arc::new(Tally::default()));
        let receiver = Receiver::new(ReceiverOptions {
            topic,
            engine: engine.clone(),
            queue: queue.clone(),
            engine_pending,
            matches_changed,
            tally: tally.clone(),
            shared_memory: shared_memory.clone(),
            receives_network: transports.contains(Transport::Network),
            events: pending.clone(),
        });
        shared_memory.begin(&engine);
        let queue: Arc<dyn AnyQueue> = queue;
        let registration = SUBSCRIPTIONS.register(engine.gid(), &queue);
        drop(registering);
        let subscription = Self {
            engine,
            queue,
            shared_memory,
            tally,
            pending,
            events: Waiting::new(),
            lost_by_engine: AtomicU64::new(0),
            _registration: registration,
        };
        Ok((subscription, receiver))
    }

    /// Makes publishers of this process call `run` after they have put a message into the queue.
    /// They do not ring. This ends when the returned value is dropped.
    pub fn dispatch_directly(&self, run: impl Fn() + Send + Sync + 'static) -> DirectDispatch {
        DirectDispatch::new(&self.queue, run)
    }

    /// Whether there may be events to take. This costs only one atomic load.
    pub fn has_events(&self) -> bool {
        self.pending.is_pending()
    }

    /// Takes the next event. Several events of the same kind are merged into one event, and the
    /// losses of all transports are also merged into one event.
    ///
    /// # Errors
    /// The engine fails.
    pub fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        self.pending.begin_taking();
        self.events.take(None, || self.fetch_event())
    }

    /// Takes the next event of this kind. Events of other kinds are not affected.
    ///
    /// # Errors
    /// The engine fails.
    pub fn take_event_of(
        &self,
        kind: SubscriptionEventKind,
    ) -> Result<Option<SubscriptionEvent>, EventError> {
        self.events.take(Some(kind), || self.fetch_event())
    }

    /// The number of events of this kind so far, including the events that have been taken.
    ///
    /// # Errors
    /// The engine fails.
    pub fn event_count(&self, kind: SubscriptionEventKind) -> Result<u64, EventError> {
        self.events.count(kind, || self.fetch_event())
    }

    /// Returns the losses of the local transports first, and then the events of the engine. In both
    /// cases, the total of lost messages includes the losses on all transports.
    fn fetch_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        let change = self.pending.new_losses(self.tally.lost());
        let total = |by_engine: u64| by_engine.saturating_add(self.pending.reported_losses());
        if change > 0 {
            let total = total(self.lost_by_engine.load(Ordering::Relaxed));
            return Ok(Some(SubscriptionEvent::MessageLost { total, change }));
        }
        Ok(self.engine.take_event()?.map(|event| match event {
            SubscriptionEvent::MessageLost { total: by_engine, change } => {
                self.lost_by_engine.store(by_engine, Ordering::Relaxed);
                SubscriptionEvent::MessageLost { total: total(by_engine), change }
            }
            other => other,
        }))
    }

    /// The transport of each match, and the reason why a more direct transport is not used.
    pub fn transports(&self) -> Vec<MatchTransport> {
        let matches = self.engine.matches();
        matches.iter().map(|found| self.transport_of(found)).collect()
    }

    fn transport_of(&self, found: &Match) -> MatchTransport {
        let publisher = Announced::read(found.announcement.as_deref());
        let Choice { mut transport, mut reason } =
            classify(&publisher, self.shared_memory.announced());
        if transport == Some(Transport::SharedMemory)
            && let Some(why_not) = self.shared_memory.states().why_not(found.gid)
        {
            let network = network_is_allowed(&publisher, self.shared_memory.announced());
            transport = network.then_some(Transport::Network);
            reason = Some(why_not);
        }
        MatchTransport { gid: found.gid, transport, reason }
    }

    /// The counts of the messages received so far, for each transport.
    pub fn counts(&self) -> SubscriptionCounts {
        self.tally.counts(self.shared_memory.states())
    }

    /// The QoS policies, in which system-default and best-available values have been replaced by
    /// the actual values.
    pub fn qos(&self) -> QosProfile {
        self.engine.qos()
    }

    /// The identity of the subscription.
    pub fn gid(&self) -> Gid {
        self.engine.gid()
    }

    /// The number of publishers that match now.
    pub fn matched_publishers(&self) -> usize {
        self.engine.matched_publishers()
    }

    /// The number of samples that the engine refused because they were malformed.
    pub fn refused_samples(&self) -> u64 {
        self.engine.refused_samples()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared_memory.upkeep().end();
    }
}

/// Makes a function that sets the flag and rings.
pub(crate) fn notification(flag: &Arc<AtomicBool>, ringer: &Ringer) -> Notify {
    let (flag, ringer) = (flag.clone(), ringer.clone());
    Arc::new(move || {
        flag.store(true, Ordering::Release);
        ringer.ring();
    })
}
