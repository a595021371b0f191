//! The untyped handle of a publisher.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use feros_engine::{
    Created, EventError, Gid, NodeId, Notify, PublishMode, Publisher as EnginePublisher,
    PublisherEvent, QosProfile, Reliability, Session, TypeHash, WaitForAckedError,
};
use feros_shm::{PoolUse, Transport, TransportSet};
use feros_trace::Outbound;

use crate::counters::PublisherCounts;
use crate::events::{PendingEvents, PublisherEventKind, Waiting};
use crate::graph::MatchTransport;
use crate::sending::{Bytes, Loan, Outgoing, PublishError, Sender, SenderOptions};
use crate::shared_memory::options::SharedMemoryOptions;
use crate::shared_memory::sending::SharedMemorySending;
use crate::shared_memory::upkeep::Upkeep;

/// The options of a publisher.
pub struct PublisherOptions<'a> {
    /// The node of the publisher.
    pub node: NodeId,
    /// The fully qualified topic.
    pub topic: &'a str,
    /// The name of the message type, in the form `package/msg/Name`.
    pub type_name: &'a str,
    /// The hash of the type. An endpoint without a hash matches by the type name only.
    pub type_hash: Option<TypeHash>,
    /// The publisher's QoS policies.
    pub qos: QosProfile,
    /// The mode, which decides whether publishing waits for the network.
    pub mode: PublishMode,
    /// The transports that messages may take.
    pub transports: TransportSet,
    /// The options for the use of shared memory.
    pub shared_memory: &'a SharedMemoryOptions,
    /// The function that is called when there may be events. It may be called on any thread, and
    /// must neither block nor own the publisher.
    pub on_event: Notify,
}

/// A publisher without a message type. It consists of an endpoint of the engine, which finds the
/// matches, and of the transports that lead to these matches.
///
/// All methods may be called from any thread.
pub struct Publisher {
    engine: Arc<dyn EnginePublisher>,
    sender: Arc<Sender>,
    upkeep: Upkeep,
    pending: Arc<PendingEvents>,
    events: Waiting<PublisherEvent>,
}

impl Publisher {
    /// Makes the endpoint of the publisher.
    ///
    /// # Errors
    /// The engine refuses.
    pub fn new(session: &dyn Session, options: PublisherOptions<'_>) -> Created<Self> {
        let PublisherOptions { node, topic, type_name, type_hash, qos, mode, .. } = options;
        let matches = Arc::new(AtomicU64::new(0));
        let upkeep = Upkeep::new(session.ending());
        let pending = PendingEvents::new(options.on_event);
        let shared_memory = SharedMemorySending::new(
            topic,
            options.transports,
            type_name,
            type_hash.map(|hash| hash.0),
            options.shared_memory,
        );
        let on_event: Notify = {
            let (matches, pending) = (matches.clone(), pending.clone());
            let upkeep = upkeep.clone();
            Arc::new(move || {
                matches.fetch_add(1, Ordering::AcqRel);
                upkeep.ask();
                pending.announce();
            })
        };
        let engine = session.create_publisher(feros_engine::PublisherOptions {
            node,
            topic,
            type_name,
            type_hash,
            qos,
            announcement: &shared_memory.announcement(),
            mode,
            on_event: Some(on_event),
        })?;
        let sender = Arc::new(Sender::new(SenderOptions {
            topic,
            engine: engine.clone(),
            allowed: options.transports,
            shared_memory,
            when_exhausted: options.shared_memory.when_exhausted,
            matches,
            upkeep: upkeep.clone(),
        }));
        if options.transports.contains(Transport::SharedMemory) {
            let endpoint: Weak<Sender> = Arc::downgrade(&sender);
            upkeep.begin(endpoint);
        }
        Ok(Self { engine, sender, upkeep, pending, events: Waiting::new() })
    }

    /// Publishes one message over each transport that a subscription needs.
    ///
    /// If delivery is reliable, this waits up to one second for subscriptions that keep all
    /// messages and have no room. It holds no lock while it waits.
    ///
    /// # Errors
    /// See [`PublishError`].
    pub fn publish(
        &self,
        message: &mut impl Outgoing,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        self.sender.publish(message, trace)
    }

    /// Publishes a message that is already serialized. The message includes its 4-byte header.
    ///
    /// # Errors
    /// See [`PublishError`].
    pub fn publish_bytes(&self, bytes: &[u8], trace: &mut Outbound) -> Result<(), PublishError> {
        self.sender.publish(&mut Bytes(bytes), trace)
    }

    /// Lends memory in which a message of this size can be built. This is shared memory if a
    /// subscription reads the message there, and otherwise a buffer.
    ///
    /// # Errors
    /// Shared memory is exhausted, and the options do not allow the network transport instead.
    pub fn lend(&self, size_bytes: usize) -> Result<Loan, PublishError> {
        self.sender.lend(size_bytes)
    }

    /// Publishes a message that was built in memory from [`Publisher::lend`].
    ///
    /// # Errors
    /// See [`PublishError`].
    pub fn publish_loan(&self, loan: Loan, trace: &mut Outbound) -> Result<(), PublishError> {
        self.sender.publish_built(loan, trace)
    }

    /// Whether there may be events to take. This costs only one atomic load.
    pub fn has_events(&self) -> bool {
        self.pending.is_pending()
    }

    /// Takes the next event. Several events of the same kind are merged into one event.
    ///
    /// # Errors
    /// The engine fails.
    pub fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        self.pending.begin_taking();
        self.events.take(None, || self.engine.take_event())
    }

    /// Takes the next event of this kind. Events of other kinds are not affected.
    ///
    /// # Errors
    /// The engine fails.
    pub fn take_event_of(
        &self,
        kind: PublisherEventKind,
    ) -> Result<Option<PublisherEvent>, EventError> {
        self.events.take(Some(kind), || self.engine.take_event())
    }

    /// The number of events of this kind that the engine has reported, including the events that
    /// have been taken.
    ///
    /// # Errors
    /// The engine fails.
    pub fn event_count(&self, kind: PublisherEventKind) -> Result<u64, EventError> {
        self.events.count(kind, || self.engine.take_event())
    }

    /// The transport of each match, and the reason why a more direct transport is not used.
    pub fn transports(&self) -> Vec<MatchTransport> {
        self.sender.transports()
    }

    /// The use of the publisher's shared memory. It is `None` until a subscription in another
    /// process of this host needs this memory.
    pub fn pool(&self) -> Option<PoolUse> {
        self.sender.pool()
    }

    /// The counts of the messages sent so far, for each transport.
    pub fn counts(&self) -> PublisherCounts {
        self.sender.counters().read()
    }

    /// The fully qualified topic.
    pub fn topic(&self) -> &str {
        self.sender.topic()
    }

    /// The QoS policies, in which system-default and best-available values have been replaced by
    /// the actual values.
    pub fn qos(&self) -> QosProfile {
        self.engine.qos()
    }

    /// The identity of the publisher.
    pub fn gid(&self) -> Gid {
        self.engine.gid()
    }

    /// The number of subscriptions that match now.
    pub fn matched_subscriptions(&self) -> usize {
        self.engine.matched_subscriptions()
    }

    /// Waits until the best-effort subscriptions that match now have found this publisher, for at
    /// most `patience`, and returns whether they have, as far as the engine can tell. There is no
    /// need to wait for reliable subscriptions, because they do not lose messages.
    pub fn wait_until_announced(&self, patience: Duration) -> bool {
        /// The time from the moment when a subscription acknowledges the announcement until the
        /// resulting match.
        const MATCHING: Duration = Duration::from_millis(5);
        let matches = self.engine.matches();
        let best_effort =
            matches.iter().filter(|found| found.qos.reliability != Reliability::Reliable);
        let waited_for: Vec<Gid> = best_effort.map(|found| found.gid).collect();
        if waited_for.is_empty() {
            return true;
        }
        let end = Instant::now() + patience;
        let left = || end.saturating_duration_since(Instant::now());
        let all = waited_for.iter().all(|gid| self.engine.is_announced_to(*gid, left()));
        std::thread::sleep(MATCHING.min(left()));
        all
    }

    /// Waits until all reliable subscriptions have acknowledged all messages sent so far.
    ///
    /// # Errors
    /// The time limit was reached.
    pub fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        self.engine.wait_for_all_acked(timeout)
    }

    /// Signals that the publisher is alive, for publishers whose liveliness is manual.
    ///
    /// # Errors
    /// The engine refuses.
    pub fn assert_liveliness(&self) -> Result<(), EventError> {
        self.engine.assert_liveliness()
    }

    /// The number of messages that an asynchronous publisher has dropped because its queue was
    /// full.
    pub fn dropped_messages(&self) -> u64 {
        self.engine.dropped_messages()
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.upkeep.end();
    }
}
