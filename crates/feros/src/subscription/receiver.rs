//! The receiving side of a subscription: one message per turn, whichever transport it came by, into
//! the user's closure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use feros_executor::{Executable, Progress, Ringer};
use feros_message::DecodeError;
use feros_rmw::{
    EventError, Gid, Sample, Subscription as EngineSubscription, SubscriptionEvent, TakeError,
};
use feros_shm::{Transport, TransportSet};
use feros_trace::{Endpoint, Kind};

use crate::endpoint::Events;
use crate::logging;
use crate::node::{Node, WeakNode};
use crate::transports::{
    EngineSource, HostReception, HostReceptionState, Inbox, Incoming, Merge, MergeCounters,
    Received, SubscriptionCounters, SubscriptionCounts, Via,
};
use crate::turns::Turns;

/// What a subscription counts; shared with its handle.
#[derive(Default)]
pub(crate) struct Tally {
    counters: SubscriptionCounters,
    malformed: AtomicU64,
    merge: Arc<MergeCounters>,
}

impl Tally {
    /// Samples that are no message of the type.
    pub(crate) fn malformed(&self) -> u64 {
        self.malformed.load(Ordering::Relaxed)
    }

    /// Messages that were lost on the process and host transports.
    pub(crate) fn lost(&self) -> u64 {
        self.merge.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self, host: &HostReceptionState) -> SubscriptionCounts {
        let duplicates = self.merge.duplicates.load(Ordering::Relaxed);
        self.counters.read(duplicates, self.lost(), host.refused.load(Ordering::Relaxed))
    }
}

/// Takes one message per turn and hands it to the closure.
pub(crate) struct Receiver<M, D, T> {
    node: WeakNode,
    topic: String,
    type_name: String,
    engine: Arc<dyn EngineSubscription>,
    session: [u8; 12],
    merge: Merge<M>,
    tally: Arc<Tally>,
    host: HostReception,
    hears_network: bool,
    events: Events<SubscriptionEvent, T>,
    deliver: D,
    /// A message that was taken before its turn.
    taken: Option<Incoming<M>>,
    logger: Arc<str>,
    traced: Endpoint,
}

impl<M, D, T> Executable for Receiver<M, D, T>
where
    M: Send + Sync + 'static,
    D: FnMut(Received<M>) -> Result<(), DecodeError> + Send,
    T: FnMut() -> Result<Option<SubscriptionEvent>, EventError> + Send,
{
    fn execute(&mut self) -> Progress {
        self.receive_one()
    }

    fn take(&mut self) {
        if self.taken.is_none() {
            self.taken = self.take_next();
        }
    }
}

impl<M, D, T> Receiver<M, D, T>
where
    M: Send + Sync + 'static,
    D: FnMut(Received<M>) -> Result<(), DecodeError>,
    T: FnMut() -> Result<Option<SubscriptionEvent>, EventError>,
{
    #[allow(clippy::too_many_arguments, reason = "one caller, which has just made all of them")]
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        type_name: &str,
        engine: Arc<dyn EngineSubscription>,
        inbox: Arc<Inbox<M>>,
        engine_pending: Arc<AtomicBool>,
        tally: Arc<Tally>,
        (host, transports): (HostReception, TransportSet),
        (events, deliver): (Events<SubscriptionEvent, T>, D),
    ) -> Self {
        Self {
            node: node.downgrade(),
            topic: topic.to_owned(),
            type_name: type_name.to_owned(),
            session: engine.gid().participant_prefix(),
            traced: Endpoint::new(Kind::Subscription, engine.gid().0, topic),
            engine,
            merge: Merge::new(inbox, engine_pending, tally.merge.clone()),
            tally,
            host,
            hears_network: transports.contains(Transport::Network),
            events,
            deliver,
            taken: None,
            logger: node.logger().clone(),
        }
    }

    /// Handles events, then at most one message.
    pub(crate) fn receive_one(&mut self) -> Progress {
        if self.events.is_pending() {
            self.events.handle();
            self.update_matches();
        } else if self.host.has_orphans() {
            self.update_matches();
        }
        let incoming = self.taken.take().or_else(|| self.take_next());
        let has_delivered = incoming.is_some();
        if let Some(incoming) = incoming {
            self.deliver(incoming);
        }
        let has_more = has_delivered && self.merge.may_have_more() || self.events.is_pending();
        if has_more { Progress::More } else { Progress::Done }
    }

    /// The next message. Nothing of the user's is called.
    fn take_next(&mut self) -> Option<Incoming<M>> {
        if self.host.has_pending() {
            self.host.open_pending(&*self.engine, self.merge.links());
        }
        let lost_before = self.tally.lost();
        let incoming = self.next();
        if self.tally.lost() != lost_before {
            self.events.announce();
        }
        if feros_trace::is_on()
            && let Some(incoming) = &incoming
        {
            let (transport, message) = incoming.traced();
            feros_trace::taken(transport, &self.traced, || message);
        }
        incoming
    }

    fn next(&mut self) -> Option<Incoming<M>> {
        let (logger, is_heard) = (&*self.logger, self.hears_network);
        let mut engine = Engine { engine: &*self.engine, logger, is_heard };
        self.merge.next(&mut engine)
    }

    fn deliver(&mut self, incoming: Incoming<M>) {
        let traced = feros_trace::is_on().then(|| incoming.traced());
        let _delivery = traced
            .map(|(transport, message)| feros_trace::deliver(transport, &self.traced, || message));
        let message = match incoming {
            Incoming::Message(item) => {
                let message = Received::from_item(item, self.session);
                self.tally.counters.intra_process.count(1, message.size_bytes());
                message
            }
            Incoming::Sample(sample, via) => {
                let counter = match via {
                    Via::Host => &self.tally.counters.shared_memory,
                    Via::Engine => &self.tally.counters.network,
                };
                counter.count(1, sample.payload.len());
                Received::from_sample(sample)
            }
        };
        let (publisher, size_bytes) = (message.publisher(), message.size_bytes());
        let logger = logging::enter_logger(&self.logger);
        let delivered = (self.deliver)(message);
        drop(logger);
        if let Err(error) = delivered {
            self.refuse(publisher, size_bytes, &error);
        }
    }

    fn update_matches(&mut self) {
        let matches = self.engine.matches();
        self.host.update(&matches, &*self.engine, self.merge.links());
        self.merge.retain(|publisher| matches.iter().any(|found| found.gid == publisher));
    }

    fn has_messages_of_this_process(&self) -> bool {
        !self.merge.inbox().is_empty()
    }

    /// Says what is wrong the first time and then at each power of two, so that a stream of rubbish
    /// fills no disk.
    fn refuse(&self, publisher: Gid, size_bytes: usize, error: &DecodeError) {
        let count = self.tally.malformed.fetch_add(1, Ordering::Relaxed) + 1;
        if !count.is_power_of_two() {
            return;
        }
        let from = self
            .node
            .upgrade()
            .map_or_else(String::new, |node| node.describe_publisher(&self.topic, publisher));
        tracing::error!(
            ros_logger = &*self.logger,
            "{}: refused {count} so far: a sample of {size_bytes} bytes from {from} is no {}: {error}. Check that both \
             sides were built from the same definition",
            self.topic,
            self.type_name,
        );
    }
}

/// The engine as the merge sees it.
struct Engine<'a> {
    engine: &'a dyn EngineSubscription,
    logger: &'a str,
    /// Whether messages may come by the network transport.
    is_heard: bool,
}

impl EngineSource for Engine<'_> {
    fn take(&mut self) -> Option<Sample> {
        let log = |error: TakeError| tracing::error!(ros_logger = self.logger, "{error}");
        loop {
            let sample = self.engine.take().map_err(log).ok().flatten();
            if self.is_heard || sample.is_none() {
                return sample;
            }
        }
    }

    fn comes_by_fast_transport(&mut self, publisher: Gid) {
        self.engine.expect_gaps(publisher, true);
    }
}

impl<M, D, T> Turns<Receiver<M, D, T>>
where
    M: Send + Sync + 'static,
    D: FnMut(Received<M>) -> Result<(), DecodeError>,
    T: FnMut() -> Result<Option<SubscriptionEvent>, EventError>,
{
    /// The executor's turn: one message.
    pub(crate) fn receive_one(&self) -> Progress {
        let Some(mut receiver) = self.begin() else { return Progress::Done };
        let progress = receiver.receive_one();
        drop(receiver);
        if self.is_wanted() { Progress::More } else { progress }
    }

    /// The publishing thread's turn: all that publishers of this process have put in. The rest is
    /// the executor's.
    pub(crate) fn receive_all(&self, ringer: &Ringer) {
        let mut turn = self.begin();
        while let Some(mut receiver) = turn {
            let mut progress = Progress::Done;
            while receiver.has_messages_of_this_process() {
                feros_trace::begin_turn(0); // not the executor's, which may be somebody else's turn
                progress = receiver.receive_one();
            }
            drop(receiver);
            if progress == Progress::More {
                ringer.ring();
            }
            turn = self.begin_again();
        }
    }
}
