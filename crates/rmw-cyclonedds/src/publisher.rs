//! Publishers, synchronous and asynchronous.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use feros_cyclonedds_sys as sys;
use feros_rmw::engine::Fill;
use feros_rmw::{
    AnnounceError, CreateEndpointError, EventError, Gid, Match, PublishError, PublishMode,
    Publisher, PublisherEvent, PublisherOptions, QosProfile, SendingThread, Stamp,
    WaitForAckedError,
};

use feros_trace::{Endpoint, Kind, MessageId, Point, Transport};

use crate::announcement::Announced;
use crate::dds::check;
use crate::endpoint::{Notifications, Writer, wait_until_announced};
use crate::matches::as_match;
use crate::qos::Qos;
use crate::sample::SampleRef;
use crate::session_state::{NodeMember, SessionState};
use crate::topic::EndpointNames;
use feros_rmw_dds::graph::IncompatibleType;

pub(crate) struct CyclonePublisher {
    // Dropped in this order: the sending thread ends, the announcement goes, then the writer.
    sender: Option<SendingThread<(SampleRef, Stamp)>>,
    _member: NodeMember,
    writer: Arc<Writer>,
    qos: QosProfile,
    announced: Announced,
    traced: Endpoint,
}

impl CyclonePublisher {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        names: EndpointNames,
        qos: QosProfile,
        options: PublisherOptions<'_>,
    ) -> Result<Arc<Self>, CreateEndpointError> {
        let announced = Announced::new(options.type_hash);
        let notifications =
            Notifications { on_event: options.on_event, ..Notifications::default() };
        let name = names.ros.clone();
        let (topic, type_name) = (names.topic.clone(), names.type_name.clone());
        let writer = Arc::new(Writer::new(
            &shared.participant,
            names,
            &Qos::writer(&qos, &announced.user_data(options.announcement)),
            notifications,
        )?);
        let watcher =
            Arc::downgrade(&writer.listener_state) as std::sync::Weak<dyn IncompatibleType>;
        shared.graph.watch_type(writer.gid, true, &topic, &type_name, watcher);
        let member = shared.join_node(options.node, &name, vec![], vec![writer.gid]);
        let member = member.inspect_err(|_| shared.graph.unwatch_type(writer.gid))?;
        let traced = Endpoint::new(Kind::Publisher, writer.gid.0, &name);
        let sender = match options.mode {
            PublishMode::Synchronous => None,
            PublishMode::Asynchronous { queue_depth } => {
                let (to, unblocked, traced) = (writer.clone(), writer.clone(), traced.clone());
                let send = move |(sample, stamp)| write(&to, &traced, sample, stamp).map(|_| ());
                let sender = SendingThread::start(&name, queue_depth, send)?;
                // A write that waits for a full link ends when its writer goes.
                Some(sender.unblocked_by(move || unblocked.entity.delete()))
            }
        };
        Ok(Arc::new(Self { sender, _member: member, writer, qos, announced, traced }))
    }

    fn topic(&self) -> String {
        self.writer.names.ros.clone()
    }
}

impl Publisher for CyclonePublisher {
    fn gid(&self) -> Gid {
        self.writer.gid
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
        let sample = self.writer.fill(size_bytes, 0, fill)?;
        match &self.sender {
            Some(sender) => {
                pass(Point::Queued, &self.traced, &self.writer, stamp);
                Ok(sender.push((sample, stamp)))
            }
            None => write(&self.writer, &self.traced, sample, stamp).map(i64::unsigned_abs),
        }
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        if self.sender.is_some() { Ok(()) } else { self.writer.wait_for_local_room() }
    }

    fn skip(&self, messages: u64) {
        self.writer.skipped.fetch_add(messages, Ordering::Relaxed);
    }

    fn matched_subscriptions(&self) -> usize {
        self.writer.listener_state.matched.load(Ordering::Acquire)
    }

    fn matches(&self) -> Vec<Match> {
        self.writer.matched(as_match)
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        self.announced.change(&self.writer.entity, &self.writer.names.ros, announcement)
    }

    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        let timed_out = || WaitForAckedError::Timeout { topic: self.topic(), waited: timeout };
        let started = Instant::now();
        if self.sender.as_ref().is_some_and(|sender| !sender.wait_until_done(timeout)) {
            return Err(timed_out());
        }
        let left = timeout.saturating_sub(started.elapsed());
        match self.writer.wait_for_acks(left) {
            Ok(()) => Ok(()),
            Err(code) if code.0 == sys::DDS_RETCODE_TIMEOUT => Err(timed_out()),
            Err(code) => {
                Err(WaitForAckedError::Engine { topic: self.topic(), code: code.to_string() })
            }
        }
    }

    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool {
        let started = Instant::now();
        let is_written = self.sender.as_ref().is_none_or(|sender| sender.wait_until_done(patience));
        let left = patience.saturating_sub(started.elapsed());
        is_written && self.writer.wait_for_acks_of(subscription, left).is_ok()
    }

    fn is_announced_to(&self, subscription: Gid, patience: Duration) -> bool {
        !matches!(
            wait_until_announced(&self.writer.entity, subscription, patience),
            Err(code) if code.0 == sys::DDS_RETCODE_TIMEOUT
        )
    }

    fn forget_ended(&self, subscription: Gid) {
        self.writer.forget_participant_of(subscription);
    }

    fn assert_liveliness(&self) -> Result<(), EventError> {
        // SAFETY: the writer is alive.
        let code = unsafe { sys::dds_assert_liveliness(self.writer.entity.handle()) };
        check(code)
            .map(|_| ())
            .map_err(|code| EventError { topic: self.topic(), code: code.to_string() })
    }

    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        Ok(self.writer.listener_state.status.lock().take())
    }

    fn dropped_messages(&self) -> u64 {
        self.sender.as_ref().map_or(0, SendingThread::lost)
    }
}

fn pass(point: Point, traced: &Endpoint, writer: &Writer, stamp: Stamp) {
    feros_trace::pass(point, Transport::Network, traced, || MessageId {
        publisher: writer.gid.0,
        stamp: stamp.0,
        number: 0, // the client's; the engine's is not known yet
    });
}

fn write(
    writer: &Writer,
    traced: &Endpoint,
    sample: SampleRef,
    stamp: Stamp,
) -> Result<i64, PublishError> {
    pass(Point::WriteBegin, traced, writer, stamp);
    let written = writer.wait_for_local_room().and_then(|()| writer.write(sample, stamp));
    pass(Point::WriteEnd, traced, writer, stamp);
    written
}
