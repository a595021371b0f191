//! The queue of a subscription on the intra-process transport. Publishers of the same process fill
//! it with objects of the kind that the subscription uses, or with serialized bytes.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use feros_doorbell::Ringer;
use feros_engine::{
    Gid, History, KEEP_ALL_LIMIT, Payload, QosProfile, Reliability, Stamp, TypeHash,
};
use feros_sync::{Condvar, Mutex, RwLock};
use feros_trace::MessageId;

use crate::registry::Registry;

/// The queues of the subscriptions of this process.
pub(crate) static SUBSCRIPTIONS: Registry<dyn AnyQueue> = Registry::new();

/// The form in which a subscription of a client library holds its messages: as structs, as pointers
/// or as bytes.
///
/// All that the transports know about an object is that it can be made from bytes. Messages arrive
/// as bytes if they come from other processes, or from publishers of this process that use another
/// kind of object.
pub trait Object: From<Payload> + Send + Sync + 'static {
    /// The requirements that a subscription can have for the objects that it gets from publishers
    /// with the same kind of object, for example that a message is not shared with other
    /// subscriptions.
    type Wish: Copy + Send + Sync + 'static;

    /// The size of the object's serialized bytes, or 0 if the object is not serialized.
    fn size_bytes(&self) -> usize;
}

/// Serialized bytes, which is the form used by a client library without message types.
impl Object for Payload {
    type Wish = ();

    fn size_bytes(&self) -> usize {
        self.len()
    }
}

/// The properties of a message other than its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) publisher: Gid,
    /// The source timestamp, which increases with each message of a publisher.
    pub(crate) stamp: Stamp,
    /// The publication number of the message, counted from 1.
    pub(crate) number: u64,
    /// The number of the first message that this subscription got over this transport.
    pub(crate) since: u64,
    /// The end of the message's lifespan.
    pub(crate) expires: Option<Instant>,
}

impl Envelope {
    /// The message's identity for trace points.
    pub(crate) fn id(&self) -> MessageId {
        MessageId { publisher: self.publisher.0, stamp: self.stamp.0, number: self.number }
    }
}

/// The error for a queue that was still full when the time limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StillFull;

/// A queue of messages with a limited length. Many threads put messages into it, and one thread
/// takes them out. No lock is held while a message is dropped.
pub(crate) struct Queue<O: Object> {
    type_hash: Option<TypeHash>,
    wish: O::Wish,
    depth: usize,
    /// Whether publishers wait for room and do not remove the oldest message.
    is_lossless: bool,
    /// The participant whose publishers are ignored.
    ignored: Option<Gid>,
    /// The function that runs the callback on the publishing thread. It is present while direct
    /// dispatch is on.
    direct: RwLock<Option<DirectRun>>,
    queue: Mutex<VecDeque<(Envelope, O)>>,
    /// The length of the queue, which can be read without the queue's lock.
    len: AtomicUsize,
    room: Condvar,
    ringer: Ringer,
}

/// A function that delivers all messages in the queue of a subscription with direct dispatch.
pub(crate) type DirectRun = Arc<dyn Fn() + Send + Sync>;

/// A queue whose user does not know the type of the messages in it.
pub(crate) trait AnyQueue: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    /// The hash of the message type. It distinguishes the type from another type with the same Rust
    /// name.
    fn type_hash(&self) -> Option<TypeHash>;
    fn ignores(&self, publisher: Gid) -> bool;
    /// Puts a message into the queue as serialized bytes, no matter what the subscription requests.
    /// The queue makes an object from the bytes.
    fn put_bytes(&self, envelope: Envelope, bytes: Payload);
    fn is_lossless(&self) -> bool;
    fn wait_for_room(&self, until: Instant) -> Result<(), StillFull>;
    /// Wakes the thread that takes from the queue, unless direct dispatch is on.
    fn wake(&self);
    /// Starts or ends direct dispatch.
    fn set_direct_run(&self, run: Option<DirectRun>);
    /// Runs the callback now, if direct dispatch is on.
    fn run_direct(&self);
}

impl<O: Object> Queue<O> {
    pub(crate) fn new(wish: O::Wish, qos: &QosProfile, ringer: Ringer) -> Self {
        let keep_all = qos.history == History::KeepAll;
        Self {
            type_hash: None,
            wish,
            depth: if keep_all { KEEP_ALL_LIMIT } else { qos.depth.max(1) },
            is_lossless: keep_all && qos.reliability == Reliability::Reliable,
            ignored: None,
            direct: RwLock::new(None),
            queue: Mutex::new(VecDeque::new()),
            len: AtomicUsize::new(0),
            room: Condvar::new(),
            ringer,
        }
    }

    /// Sets the hash of the message type.
    pub(crate) fn of_type(self, type_hash: Option<TypeHash>) -> Self {
        Self { type_hash, ..self }
    }

    /// Makes the queue ignore the publishers of a participant.
    pub(crate) fn ignoring(self, participant: Gid) -> Self {
        Self { ignored: Some(participant), ..self }
    }

    /// The subscription's requirements for the objects that it gets.
    pub(crate) fn wish(&self) -> O::Wish {
        self.wish
    }

    fn direct_run(&self) -> Option<DirectRun> {
        self.direct.read().clone()
    }

    /// Puts a message into the queue. If the queue is full, the message replaces the oldest
    /// message.
    pub(crate) fn put(&self, envelope: Envelope, content: O) {
        let pushed_out = {
            let mut queue = self.queue.lock();
            // For a lossless queue, publishers have already waited for room. If several publishers
            // do so at the same time, each of them may exceed the limit by one message.
            let is_full = queue.len() >= self.depth && !self.is_lossless;
            let pushed_out = if is_full { queue.pop_front() } else { None };
            queue.push_back((envelope, content));
            self.len.store(queue.len(), Ordering::Release);
            pushed_out
        };
        drop(pushed_out); // it is counted as lost when its number is found to be missing
    }

    /// Takes the oldest message, unless `wanted` returns false for it.
    pub(crate) fn take_if(&self, wanted: impl FnOnce(&Envelope) -> bool) -> Option<(Envelope, O)> {
        if self.is_empty() {
            return None;
        }
        let (item, was_full) = {
            let mut queue = self.queue.lock();
            let was_full = queue.len() >= self.depth;
            let item = if wanted(&queue.front()?.0) { queue.pop_front() } else { None };
            self.len.store(queue.len(), Ordering::Release);
            (item, was_full)
        };
        if was_full && self.is_lossless {
            self.room.notify_all();
        }
        item
    }

    /// The publisher of the oldest message.
    pub(crate) fn front_publisher(&self) -> Option<Gid> {
        if self.is_empty() {
            None
        } else {
            self.queue.lock().front().map(|(envelope, _)| envelope.publisher)
        }
    }

    /// The stamp of the oldest message from this publisher.
    pub(crate) fn first_stamp_of(&self, publisher: Gid) -> Option<Stamp> {
        if self.is_empty() {
            return None;
        }
        let queue = self.queue.lock();
        queue
            .iter()
            .find(|(envelope, _)| envelope.publisher == publisher)
            .map(|(envelope, _)| envelope.stamp)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }
}

impl<O: Object> AnyQueue for Queue<O> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn type_hash(&self) -> Option<TypeHash> {
        self.type_hash
    }

    fn ignores(&self, publisher: Gid) -> bool {
        self.ignored.is_some_and(|ignored| ignored.is_of_session_of(&publisher))
    }

    fn put_bytes(&self, envelope: Envelope, bytes: Payload) {
        self.put(envelope, O::from(bytes));
    }

    fn is_lossless(&self) -> bool {
        self.is_lossless
    }

    fn wait_for_room(&self, until: Instant) -> Result<(), StillFull> {
        let mut queue = self.queue.lock();
        while queue.len() >= self.depth {
            let left = until.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return Err(StillFull);
            }
            queue = self.room.wait_timeout(queue, left);
        }
        Ok(())
    }

    fn wake(&self) {
        if self.direct_run().is_none() {
            self.ringer.ring();
        }
    }

    fn set_direct_run(&self, run: Option<DirectRun>) {
        let former = std::mem::replace(&mut *self.direct.write(), run);
        drop(former);
    }

    fn run_direct(&self) {
        if let Some(run) = self.direct_run() {
            run();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn envelope(publisher: u8, number: u64) -> Envelope {
        let stamp = Stamp(i64::try_from(number).unwrap());
        Envelope { publisher: Gid([publisher; 16]), stamp, number, since: 1, expires: None }
    }

    /// An object that does not consist of serialized bytes.
    struct Text(String);

    impl From<Payload> for Text {
        fn from(bytes: Payload) -> Self {
            Self(String::from_utf8(bytes.to_vec()).unwrap())
        }
    }

    impl Object for Text {
        type Wish = ();

        fn size_bytes(&self) -> usize {
            0
        }
    }

    fn queue(qos: &QosProfile) -> Queue<Text> {
        Queue::new((), qos, Ringer::new())
    }

    fn take(queue: &Queue<Text>) -> Option<String> {
        queue.take_if(|_| true).map(|(_, Text(text))| text)
    }

    #[test]
    fn the_oldest_is_pushed_out() {
        let queue = queue(&QosProfile::keep_last(2));
        for number in 1..=3 {
            queue.put(envelope(1, number), Text(number.to_string()));
        }
        assert_eq!(
            [take(&queue), take(&queue), take(&queue)],
            [Some("2".into()), Some("3".into()), None]
        );
    }

    #[test]
    fn stamps_are_found_behind_messages_of_others() {
        let queue = queue(&QosProfile::keep_last(10));
        queue.put(envelope(1, 7), Text("a".into()));
        queue.put(envelope(2, 8), Text("b".into()));
        assert_eq!(queue.front_publisher(), Some(Gid([1; 16])));
        assert_eq!(queue.first_stamp_of(Gid([2; 16])), Some(Stamp(8)));
        assert_eq!(queue.first_stamp_of(Gid([3; 16])), None);
        assert!(queue.take_if(|envelope| envelope.number == 8).is_none());
        assert_eq!(take(&queue), Some("a".into()));
    }

    #[test]
    fn publishers_wait_for_room_where_all_is_kept() {
        let queue = Arc::new(queue(&QosProfile::keep_all()));
        for number in 0..KEEP_ALL_LIMIT as u64 {
            queue.wait_for_room(Instant::now()).unwrap();
            queue.put(envelope(1, number), Text(String::new()));
        }
        assert_eq!(queue.wait_for_room(Instant::now()), Err(StillFull));
        let waiting = queue.clone();
        let thread = std::thread::Builder::new().name("waits".into());
        let thread =
            thread.spawn(move || waiting.wait_for_room(Instant::now() + Duration::from_secs(60)));
        take(&queue).unwrap();
        assert_eq!(thread.unwrap().join().unwrap(), Ok(()));
    }
}
