//! Sends the messages of a publisher: directly to subscriptions in this process, and over TCPROS to
//! other subscriptions.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use feros_engine::engine::LOG_TARGET;
use feros_engine::{
    Durability, FailureCounter, Gid, History, KEEP_ALL_LIMIT, PublishError, QosProfile, Stamp,
};
use feros_ros1::Publishing;
use feros_sync::Mutex;

use crate::matches::{Matches, Reach, for_each_inbox, reach};
use crate::message::{Body, Inbox, Message};
use crate::outgoing::Outgoing;
use feros_inbox::Room;

/// How long a publisher waits for a subscription that has no room.
const ROOM_WAIT: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Sending {
    /// The number of the last message.
    last: i64,
    history: VecDeque<Message>,
}

/// Memory that is used again for the next message.
#[derive(Default)]
struct Spare {
    body: Vec<u8>,
    /// The memory can be used again when all connections have sent the message.
    framed: Arc<Vec<u8>>,
}

pub(crate) struct Writer {
    pub(crate) gid: Gid,
    pub(crate) topic: String,
    pub(crate) matches: Arc<Matches>,
    pub(crate) qos: QosProfile,
    outgoing: Arc<Outgoing>,
    room: Arc<Room>,
    sending: Mutex<Sending>,
    /// Identifies this publisher in the history of the publication, which the node's publishers
    /// share.
    source: u64,
    /// The memory of the last message. It is faster to use it again, because its pages are already
    /// mapped.
    spare: Mutex<Spare>,
    /// Counts messages that could not be stored for late subscribers of ROS 1.
    unkept: FailureCounter,
}

impl Writer {
    pub(crate) fn new(
        gid: Gid,
        qos: QosProfile,
        matches: &Arc<Matches>,
        outgoing: &Arc<Outgoing>,
        room: &Arc<Room>,
    ) -> Self {
        let mut source = [0; 8];
        source.copy_from_slice(&gid.0[8..]);
        Self {
            gid,
            topic: outgoing.topic.clone(),
            matches: matches.clone(),
            qos,
            outgoing: outgoing.clone(),
            room: room.clone(),
            sending: Mutex::default(),
            source: u64::from_le_bytes(source),
            spare: Mutex::default(),
            unkept: FailureCounter::new(),
        }
    }

    /// The number of messages that are stored for late subscriptions.
    fn kept(&self) -> usize {
        match (self.qos.durability, self.qos.history) {
            (Durability::TransientLocal, History::KeepAll) => KEEP_ALL_LIMIT,
            (Durability::TransientLocal, _) => self.qos.depth.max(1),
            _ => 0,
        }
    }

    fn keeps_all(&self) -> bool {
        self.qos.history == History::KeepAll
    }

    /// Matches a new subscription of this process by calling `appear`. If the subscription requests
    /// the history, passes the history to it.
    pub(crate) fn meet(&self, qos: &QosProfile, inbox: &Inbox, appear: impl FnOnce()) {
        // The lock is held during both steps, so that the subscription gets each message exactly
        // once.
        let sending = self.sending.lock();
        appear();
        if qos.durability == Durability::TransientLocal {
            let most = if qos.history == History::KeepAll { usize::MAX } else { qos.depth.max(1) };
            let skipped = sending.history.len().saturating_sub(most);
            sending.history.iter().skip(skipped).for_each(|kept| inbox.push(kept.clone()));
        }
    }

    pub(crate) fn write(&self, body: Body, stamp: Stamp) -> Result<u64, PublishError> {
        self.wait_for_room()?;
        let framed = self.framed(body.bytes())?;
        // The lock is held for both transports, so that messages are sent in the order of their
        // numbers.
        let mut sending = self.sending.lock();
        let number = sending.last + 1;
        sending.last = number;
        let message = Message {
            body: Arc::new(body),
            from: self.gid,
            number: Some(number),
            stamp: Some(stamp),
            at: SystemTime::now(),
        };
        for_each_inbox(&self.matches, |inbox| inbox.push(message.clone()));
        if self.kept() > 0 {
            if sending.history.len() >= self.kept() {
                sending.history.pop_front();
            }
            sending.history.push_back(message);
        } else if let Ok(body) = Arc::try_unwrap(message.body) {
            self.spare.lock().body = body.into_memory();
        }
        if let (Some(mut framed), Some(publication)) = (framed, self.outgoing.publication()) {
            self.outgoing.number(&mut framed);
            // A keep-all publisher has waited for room, but other publishers of the node may have
            // used the room in the meantime. So the queue may become longer than usual.
            let queue_len =
                if self.keeps_all() { 2 * KEEP_ALL_LIMIT } else { self.qos.depth.max(1) };
            let expires =
                self.qos.lifespan.finite().and_then(|age| Instant::now().checked_add(age));
            let (source, kept) = (self.source, self.kept());
            let framed = Arc::new(framed);
            if kept == 0 {
                self.spare.lock().framed = framed.clone();
            }
            publication.publish_as(Publishing { source, queue_len, kept, expires }, framed);
        }
        Ok(u64::try_from(number).unwrap_or_default())
    }

    /// Converts a message to the ROS 1 format if a ROS 1 node will get it, now or later.
    fn framed(&self, cdr: &[u8]) -> Result<Option<Vec<u8>>, PublishError> {
        let is_wanted = self.outgoing.is_wanted();
        if !is_wanted && self.kept() == 0 {
            return Ok(None);
        }
        let spare = std::mem::take(&mut self.spare.lock().framed);
        match self.outgoing.framed(Arc::try_unwrap(spare).unwrap_or_default(), cdr) {
            Ok(framed) => Ok(Some(framed)),
            Err(error) if is_wanted => {
                Err(PublishError::Engine { topic: self.topic.clone(), code: error.to_string() })
            }
            Err(error) => {
                if let Some(count) = self.unkept.count() {
                    tracing::warn!(
                        target: LOG_TARGET,
                        "{}: {count} messages so far were not kept for later ROS 1 subscribers: \
                         {error}",
                        self.topic
                    );
                }
                Ok(None)
            }
        }
    }

    pub(crate) fn wait_for_room(&self) -> Result<(), PublishError> {
        let is_full = || {
            let mut any = false;
            for_each_inbox(&self.matches, |inbox| any |= inbox.is_full());
            any
        };
        let publication = self.outgoing.publication().filter(|_| self.keeps_all());
        let has_room = self.room.wait(ROOM_WAIT, is_full)
            && publication.is_none_or(|all| all.wait_for_room(KEEP_ALL_LIMIT, ROOM_WAIT));
        let late = || PublishError::Timeout { topic: self.topic.clone(), waited: ROOM_WAIT };
        has_room.then_some(()).ok_or_else(late)
    }

    /// Takes the memory of the last message.
    pub(crate) fn spare(&self) -> Vec<u8> {
        std::mem::take(&mut self.spare.lock().body)
    }

    /// Counts messages that were delivered without the engine.
    pub(crate) fn skip(&self, messages: u64) {
        let mut sending = self.sending.lock();
        sending.last = sending.last.saturating_add_unsigned(messages);
    }

    /// Waits until all messages have been passed to the subscriptions of this process and to the
    /// operating system. Returns false after `longest`.
    pub(crate) fn is_handed_over(&self, longest: Duration) -> bool {
        self.outgoing.publication().is_none_or(|all| all.wait_until_written(longest))
    }

    /// Like [`is_handed_over`](Self::is_handed_over), but for one subscription.
    pub(crate) fn is_handed_to(&self, subscription: Gid, longest: Duration) -> bool {
        match reach(&self.matches, subscription) {
            Some(Reach::Apart) => self.is_handed_over(longest),
            _ => true,
        }
    }

    /// Deletes the history for late subscriptions.
    pub(crate) fn close(&self) -> &Arc<Outgoing> {
        if let Some(publication) = self.outgoing.publication() {
            publication.forget(self.source);
        }
        &self.outgoing
    }
}
