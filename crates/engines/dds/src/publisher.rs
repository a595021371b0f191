//! Publishers, both synchronous and asynchronous.

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::engine::Fill;
use feros_engine::{
    AnnounceError, Created, EventError, Gid, Match, PublishError, PublishMode, Publisher,
    PublisherEvent, PublisherOptions, QosProfile, SendingThread, Stamp, TypeHash,
    WaitForAckedError,
};
use feros_trace::{Endpoint as Traced, Kind, MessageId, Point, Transport};

use crate::announced;
use crate::library::{
    BufferOf, Creation, Endpoint, NotAcknowledged, Participant, Writer, WriterOf,
};
use crate::listener::Notifications;
use crate::names::EndpointNames;
use crate::nodes::{NodeMember, SessionState};

pub(crate) struct DdsPublisher<P: Participant> {
    // The fields are dropped in this order: first the sending thread ends, then the announcement is
    // withdrawn, and then the writer is deleted.
    sender: Option<SendingThread<(BufferOf<P>, Stamp)>>,
    _member: NodeMember<P>,
    writer: Arc<WriterOf<P>>,
    qos: QosProfile,
    type_hash: Option<TypeHash>,
    traced: Traced,
}

impl<P: Participant> DdsPublisher<P> {
    pub(crate) fn new(
        shared: &Arc<SessionState<P>>,
        options: PublisherOptions<'_>,
    ) -> Created<Self> {
        let qos = options.qos;
        let as_it_is = qos.avoid_ros_namespace_conventions;
        let names = EndpointNames::of_topic(options.topic, options.type_name, as_it_is)?;
        let EndpointNames { ros: name, topic, type_name } = names.clone();
        let writer = shared.participant.create_writer(Creation {
            names,
            qos: &qos,
            data: Some(&announced::topic_data(options.type_hash, options.announcement)),
            ignores_local: false,
            notifications: Notifications { on_event: options.on_event, ..Notifications::default() },
        })?;
        let (gid, writer) = (writer.gid(), Arc::new(writer));
        shared.graph.watch_type(gid, true, &topic, &type_name, writer.type_watcher());
        let member = shared.join_node(options.node, &name, vec![], vec![gid]);
        let member = member.inspect_err(|_| shared.graph.unwatch_type(gid))?;
        let traced = Traced::new(Kind::Publisher, gid.0, &name);
        let sender = match options.mode {
            PublishMode::Synchronous => None,
            PublishMode::Asynchronous { queue_depth } => {
                let (to, unblocked, traced) = (writer.clone(), writer.clone(), traced.clone());
                let send = move |(buffer, stamp)| write(&*to, &traced, buffer, stamp).map(|_| ());
                let sender = SendingThread::start(&name, queue_depth, send)?;
                // A write that waits because of a full link must return when the publisher is
                // dropped.
                Some(sender.unblocked_by(move || unblocked.end_waiting_writes()))
            }
        };
        let type_hash = options.type_hash;
        Ok(Self { sender, _member: member, writer, qos, type_hash, traced })
    }

    fn topic(&self) -> String {
        self.writer.names().ros.clone()
    }

    /// Waits until the sending thread has written all messages in its queue. Returns the remaining
    /// time, or `None` if the time limit has been reached.
    fn wait_until_written(&self, timeout: Duration) -> Option<Duration> {
        let started = Instant::now();
        let is_written = self.sender.as_ref().is_none_or(|sender| sender.wait_until_done(timeout));
        is_written.then(|| timeout.saturating_sub(started.elapsed()))
    }
}

impl<P: Participant> Publisher for DdsPublisher<P> {
    fn gid(&self) -> Gid {
        self.writer.gid()
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn publish_at(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError> {
        if !stamp.is_publishable() {
            return Err(PublishError::Stamp { topic: self.topic(), stamp });
        }
        let buffer = self.writer.fill(size_bytes, 0, fill)?;
        match &self.sender {
            Some(sender) => {
                pass(Point::Queued, &self.traced, &*self.writer, stamp);
                Ok(sender.push((buffer, stamp)))
            }
            None => write(&*self.writer, &self.traced, buffer, stamp).map(i64::unsigned_abs),
        }
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        if self.sender.is_some() { Ok(()) } else { self.writer.wait_for_local_room() }
    }

    fn skip(&self, messages: u64) {
        self.writer.skip(messages);
    }

    fn matched_subscriptions(&self) -> usize {
        self.writer.matched_count()
    }

    fn matches(&self) -> Vec<Match> {
        self.writer.matches()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        announced::change(&*self.writer, self.type_hash, announcement)
    }

    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        let timed_out = || WaitForAckedError::Timeout { topic: self.topic(), waited: timeout };
        let left = self.wait_until_written(timeout).ok_or_else(timed_out)?;
        self.writer.wait_for_acknowledgements(left).map_err(|error| match error {
            NotAcknowledged::TimedOut => timed_out(),
            NotAcknowledged::Failed(code) => {
                WaitForAckedError::Engine { topic: self.topic(), code }
            }
        })
    }

    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool {
        self.wait_until_written(patience)
            .is_some_and(|left| self.writer.is_acknowledged_by(subscription, left))
    }

    fn is_announced_to(&self, subscription: Gid, patience: Duration) -> bool {
        self.writer.is_announced_to(subscription, patience)
    }

    fn forget_ended(&self, subscription: Gid) {
        self.writer.forget_participant_of(subscription);
    }

    fn assert_liveliness(&self) -> Result<(), EventError> {
        self.writer.assert_liveliness().map_err(|code| EventError { topic: self.topic(), code })
    }

    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        Ok(self.writer.take_event())
    }

    fn dropped_messages(&self) -> u64 {
        self.sender.as_ref().map_or(0, SendingThread::lost)
    }
}

fn pass(point: Point, traced: &Traced, writer: &impl Writer, stamp: Stamp) {
    feros_trace::pass(point, Transport::Network, traced, || MessageId {
        publisher: writer.gid().0,
        stamp: stamp.0,
        number: 0, // unknown: only the client library has the number, and the sample has none yet
    });
}

fn write<W: Writer>(
    writer: &W,
    traced: &Traced,
    buffer: W::Buffer,
    stamp: Stamp,
) -> Result<i64, PublishError> {
    pass(Point::WriteBegin, traced, writer, stamp);
    let written = writer.wait_for_local_room().and_then(|()| writer.write(buffer, stamp, None));
    pass(Point::WriteEnd, traced, writer, stamp);
    written
}
