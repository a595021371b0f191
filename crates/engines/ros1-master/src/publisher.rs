//! Publishers, both synchronous and asynchronous.

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::engine::Fill;
use feros_engine::sending_thread::LINGER;
use feros_engine::{
    AnnounceError, Created, Durability, EndpointKind, EventError, Gid, Match, PublishError,
    PublishMode, Publisher, PublisherEvent, PublisherOptions, QosProfile, SendingThread, Stamp,
    WaitForAckedError,
};

use crate::matches::{Matches, Reach};
use crate::message::{Body, filled_in};
use crate::participant::Member;
use crate::place::{Described, Place};
use crate::writer::Writer;

pub(crate) struct Ros1Publisher {
    sender: Option<SendingThread<(Body, Stamp)>>,
    member: Member,
    writer: Arc<Writer>,
    place: Place,
}

impl Ros1Publisher {
    pub(crate) fn new(place: Place, options: PublisherOptions<'_>) -> Created<Self> {
        let qos = options.qos;
        let matches = Arc::new(Matches::new(options.on_event));
        let described = Described {
            kind: EndpointKind::Publisher,
            name: options.topic,
            type_name: options.type_name,
            type_hash: options.type_hash,
            announcement: options.announcement,
        };
        let mut entry = place.entry(&described, qos, &matches, Reach::Apart);
        let gid = entry.info.gid;
        let joining = (gid, &matches);
        let announced = (options.type_name, qos.durability == Durability::TransientLocal);
        let outgoing = place.topics.publish(options.topic, announced, joining)?;
        let writer = Writer::new(gid, qos, &matches, &outgoing, &place.participant.room);
        let writer = Arc::new(writer);
        entry.writer = Some(Arc::downgrade(&writer));
        let member = place.participant.add(entry);
        let mut publisher = Self { sender: None, member, writer, place };
        if let PublishMode::Asynchronous { queue_depth } = options.mode {
            let to = publisher.writer.clone();
            let send = move |(body, stamp)| to.write(body, stamp).map(|_| ());
            let topic = &publisher.writer.topic;
            publisher.sender = Some(SendingThread::start(topic, queue_depth, send)?);
        }
        Ok(publisher)
    }
}

impl Publisher for Ros1Publisher {
    fn gid(&self) -> Gid {
        self.writer.gid
    }

    fn qos(&self) -> QosProfile {
        self.writer.qos
    }

    fn publish_at(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError> {
        if !stamp.is_publishable() {
            return Err(PublishError::Stamp { topic: self.writer.topic.clone(), stamp });
        }
        let body = filled_in(self.writer.spare(), &self.writer.topic, size_bytes, fill)?;
        match &self.sender {
            Some(sender) => Ok(sender.push((body, stamp))),
            None => self.writer.write(body, stamp),
        }
    }

    fn wait_for_room(&self) -> Result<(), PublishError> {
        if self.sender.is_some() { Ok(()) } else { self.writer.wait_for_room() }
    }

    fn skip(&self, messages: u64) {
        self.writer.skip(messages);
    }

    fn matched_subscriptions(&self) -> usize {
        self.writer.matches.count()
    }

    fn matches(&self) -> Vec<Match> {
        self.writer.matches.list()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        self.member.announce(announcement)
    }

    /// TCPROS has no acknowledgements, so a message counts as acknowledged when it has been passed
    /// to the operating system.
    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError> {
        let deadline = Instant::now() + timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let is_sent = self.sender.as_ref().is_none_or(|sender| sender.wait_until_done(left()));
        let late =
            || WaitForAckedError::Timeout { topic: self.writer.topic.clone(), waited: timeout };
        (is_sent && self.writer.is_handed_over(left())).then_some(()).ok_or_else(late)
    }

    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let is_sent = self.sender.as_ref().is_none_or(|sender| sender.wait_until_done(patience));
        let left = deadline.saturating_duration_since(Instant::now());
        is_sent && self.writer.is_handed_to(subscription, left)
    }

    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError> {
        Ok(self.writer.matches.take(feros_inbox::Status::take_of_publisher))
    }

    fn dropped_messages(&self) -> u64 {
        self.sender.as_ref().map_or(0, SendingThread::lost)
    }
}

impl Drop for Ros1Publisher {
    fn drop(&mut self) {
        drop(self.sender.take());
        self.writer.matches.close();
        self.member.leave();
        // Waits, so that the last messages reach the connected subscribers.
        self.writer.is_handed_over(LINGER);
        self.place.topics.unpublish(self.writer.close(), self.member.gid);
    }
}
