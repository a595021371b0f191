//! Publishers, synchronous and asynchronous.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use feros_fastdds_sys as sys;
use feros_rmw::engine::Fill;
use feros_rmw::{
    AnnounceError, CreateEndpointError, EventError, Gid, Match, PublishError, PublishMode,
    Publisher, PublisherEvent, PublisherOptions, QosProfile, SendingThread, Stamp,
    WaitForAckedError,
};

use crate::announcement::Announced;
use crate::endpoint::{Creation, Writer};
use crate::listener::Notifications;
use crate::names::EndpointNames;
use crate::sample::Buffer;
use crate::session_state::{NodeMember, SessionState};
use feros_rmw_dds::graph::IncompatibleType;

pub(crate) struct FastDdsPublisher {
    // Dropped in this order: the sending thread ends, the announcement goes, then the writer.
    sender: Option<SendingThread<(Buffer, Stamp)>>,
    _member: NodeMember,
    writer: Arc<Writer>,
    qos: QosProfile,
    announced: Announced,
}

impl FastDdsPublisher {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        names: EndpointNames,
        qos: QosProfile,
        options: PublisherOptions<'_>,
    ) -> Result<Arc<Self>, CreateEndpointError> {
        let announced = Announced::new(options.type_hash, &qos, false);
        let name = names.ros.clone();
        let (topic, type_name) = (names.topic.clone(), names.type_name.clone());
        let creation = Creation {
            names: &names,
            qos: &qos,
            user_data: &announced.user_data(options.announcement),
            notifications: Notifications { on_event: options.on_event, ..Notifications::default() },
        };
        let writer = Arc::new(Writer::new(&shared.participant, &creation)?);
        let watcher =
            Arc::downgrade(&writer.listener_state) as std::sync::Weak<dyn IncompatibleType>;
        shared.graph.watch_type(writer.gid, true, &topic, &type_name, watcher);
        let member = shared.join_node(options.node, &name, vec![], vec![writer.gid]);
        let member = member.inspect_err(|_| shared.graph.unwatch_type(writer.gid))?;
        let sender = match options.mode {
            PublishMode::Synchronous => None,
            PublishMode::Asynchronous { queue_depth } => {
                // A write that waits for a full subscription ends in a second.
                let to = writer.clone();
                let send = move |(sample, stamp)| to.write(&sample, stamp, None).map(|_| ());
                Some(SendingThread::start(&name, queue_depth, send)?)
            }
        };
        Ok(Arc::new(Self { sender, _member: member, writer, qos, announced }))
    }

    fn topic(&self) -> String {
        self.writer.names.ros.clone()
    }
}

impl Publisher for FastDdsPublisher {
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
            Some(sender) => Ok(sender.push((sample, stamp))),
            None => self.writer.write(&sample, stamp, None).map(i64::unsigned_abs),
        }
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        Ok(()) // a subscription of this process that is full lets the write itself wait
    }

    fn skip(&self, messages: u64) {
        self.writer.skipped.fetch_add(messages, Ordering::Relaxed);
    }

    fn matched_subscriptions(&self) -> usize {
        self.writer.listener_state.matched_count.load(Ordering::Acquire)
    }

    fn matches(&self) -> Vec<Match> {
        self.writer.listener_state.matches()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        let set = |data: &str| self.writer.set_user_data(data);
        self.announced.change(&self.writer.names.ros, announcement, set)
    }

    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        let timed_out = || WaitForAckedError::Timeout { topic: self.topic(), waited: timeout };
        let started = Instant::now();
        if self.sender.as_ref().is_some_and(|sender| !sender.wait_until_done(timeout)) {
            return Err(timed_out());
        }
        let left = timeout.saturating_sub(started.elapsed());
        match self.writer.wait_for_acknowledgments(left) {
            Ok(()) => Ok(()),
            Err(code) if code == sys::RETCODE_TIMEOUT => Err(timed_out()),
            Err(code) => {
                Err(WaitForAckedError::Engine { topic: self.topic(), code: code.to_string() })
            }
        }
    }

    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool {
        // Fast DDS says only whether all acknowledged, which is no less than this one did.
        if !self.writer.listener_state.is_matched(subscription) {
            return true;
        }
        let started = Instant::now();
        let is_written = self.sender.as_ref().is_none_or(|sender| sender.wait_until_done(patience));
        let left = patience.saturating_sub(started.elapsed());
        is_written && self.writer.wait_for_acknowledgments(left).is_ok()
    }

    fn forget_ended(&self, subscription: Gid) {
        self.writer.forget_participant_of(subscription);
    }

    fn assert_liveliness(&self) -> Result<(), EventError> {
        match self.writer.assert_liveliness() {
            0 => Ok(()),
            code => Err(EventError { topic: self.topic(), code: code.to_string() }),
        }
    }

    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        Ok(self.writer.listener_state.status.lock().take())
    }

    fn dropped_messages(&self) -> u64 {
        self.sender.as_ref().map_or(0, SendingThread::lost)
    }
}
