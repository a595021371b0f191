//! A topic that a ROS 1 node publishes, with its connections and with the messages that each
//! subscriber has not received yet.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::connections::MOST_OF_A_TOPIC;
use crate::header::ConnectionHeader;
use crate::runtime::waiting;
use crate::types::ONE_DEFINITION;

/// The interval at which a thread that waits for room in a queue checks again. Tasks that write
/// wake the thread without holding its lock, so the thread may miss a wake-up.
const ROOM_AGAIN: Duration = Duration::from_millis(20);
/// The limit on messages that are kept for later subscribers, for all sources together.
const MOST_LATCHED: usize = 256;

/// The options of a publication.
#[derive(Clone, Debug)]
pub struct PublicationOptions {
    /// The fully qualified name of the topic.
    pub topic: String,
    /// The type, `package/Name`.
    pub type_name: String,
    /// The checksum of the type.
    pub md5sum: String,
    /// The definition, with all types that it refers to.
    pub definition: String,
    /// Whether the last message of each source is kept for later subscribers; see
    /// [`Publishing::source`].
    pub is_latching: bool,
    /// The limit on messages in the queue of each subscriber. When the queue is full, a new message
    /// replaces the oldest message.
    pub queue_len: usize,
    /// This function is called for each subscriber that connects.
    pub on_connection: Option<OnConnection>,
    /// This function is called for each subscriber that leaves.
    pub on_disconnection: Option<OnConnection>,
    /// Whether the publisher is a bridge. Other bridges under the master ignore publications with
    /// this mark.
    pub is_of_bridge: bool,
}

/// The options for one message.
#[derive(Clone, Copy, Debug)]
pub struct Publishing {
    /// The publisher that the message comes from. A publication may carry the messages of several
    /// publishers; each has its own history.
    pub source: u64,
    /// The limit on messages in the queue of each subscriber. When the queue is full, a new message
    /// replaces the oldest message.
    pub queue_len: usize,
    /// How many of the source's messages are kept for later subscribers.
    pub kept: usize,
    /// The time at which the message expires. After that, later subscribers no longer get it.
    pub expires: Option<Instant>,
}

/// A callback about a publication.
pub type Hears = dyn Fn(&Arc<Publication>) + Send + Sync;

/// A callback for a subscriber that has connected. A thread that serves connections calls it before
/// anything is sent to the subscriber.
#[derive(Clone)]
pub struct OnConnection(pub Arc<Hears>);

impl fmt::Debug for OnConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnConnection")
    }
}

/// The counters of a publication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublicationCounts {
    /// The number of messages that were published while a subscriber was connected.
    pub published: u64,
    /// The number of messages that were dropped from the queues of subscribers, counted once per
    /// subscriber.
    pub dropped: u64,
}

/// A published topic.
#[derive(Debug)]
pub struct Publication {
    pub(crate) options: PublicationOptions,
    links: Mutex<Vec<Arc<Link>>>,
    latched: Mutex<VecDeque<Latched>>,
    /// Notified when a queue becomes shorter.
    room: Condvar,
    published: AtomicU64,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Latched {
    source: u64,
    message: Arc<Vec<u8>>,
    expires: Option<Instant>,
}

#[derive(Debug)]
struct Link {
    caller: String,
    /// Whether a message has left the queue and is being written.
    is_writing: AtomicBool,
    queue: Mutex<VecDeque<Arc<Vec<u8>>>>,
    /// Notified when a message is queued.
    changed: Notify,
    /// Notified when the connection must end.
    closed: Notify,
}

/// Holds a connection in its publication's list until this value is dropped.
struct Linked<'a> {
    publication: &'a Arc<Publication>,
    link: Arc<Link>,
}

impl Publication {
    pub(crate) fn new(options: PublicationOptions) -> Self {
        Self {
            options,
            links: Mutex::default(),
            latched: Mutex::default(),
            room: Condvar::new(),
            published: AtomicU64::new(0),
            dropped: Arc::default(),
        }
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.options.topic
    }

    /// The number of connected subscribers.
    pub fn connections(&self) -> usize {
        self.links.lock().len()
    }

    /// The names of the connected nodes.
    pub fn subscribers(&self) -> Vec<String> {
        self.links.lock().iter().map(|link| link.caller.clone()).collect()
    }

    /// The current counters.
    pub fn counts(&self) -> PublicationCounts {
        PublicationCounts {
            published: self.published.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
        }
    }

    /// Sends a message, which consists of its length in four bytes and its body. A latching
    /// publication keeps the last message of each `source`.
    pub fn publish(&self, source: u64, framed: Arc<Vec<u8>>) {
        let kept = usize::from(self.options.is_latching);
        let queue_len = self.options.queue_len;
        self.publish_as(Publishing { source, queue_len, kept, expires: None }, framed);
    }

    /// Like [`Publication::publish`], but `how` sets the lengths of the history and of the queues.
    pub fn publish_as(&self, how: Publishing, framed: Arc<Vec<u8>>) {
        // The lock is held while the message is stored and while it is queued, so that a new
        // subscriber neither misses a message nor gets it twice.
        let links = self.links.lock();
        if how.kept > 0 {
            let mut latched = self.latched.lock();
            let own = latched.iter().filter(|kept| kept.source == how.source).count();
            if own >= how.kept || latched.len() >= MOST_LATCHED {
                let oldest = match own {
                    0 => Some(0),
                    _ => latched.iter().position(|kept| kept.source == how.source),
                };
                let _ = oldest.and_then(|oldest| latched.remove(oldest));
            }
            let Publishing { source, expires, .. } = how;
            latched.push_back(Latched { source, message: framed.clone(), expires });
        }
        if !links.is_empty() {
            self.published.fetch_add(1, Ordering::Relaxed);
        }
        for link in links.iter() {
            link.push(framed.clone(), how.queue_len, &self.dropped);
        }
    }

    /// Deletes the kept messages of this source.
    pub fn forget(&self, source: u64) {
        self.latched.lock().retain(|kept| kept.source != source);
    }

    /// Waits until each subscriber has fewer than `most` messages in its queue. Returns false after
    /// `longest`.
    pub fn wait_for_room(&self, most: usize, longest: Duration) -> bool {
        self.wait_for_links(longest, |link| link.queue.lock().len() < most)
    }

    /// Waits until all published messages have been passed to the operating system. Returns false
    /// after `longest`.
    pub fn wait_until_written(&self, longest: Duration) -> bool {
        let is_written = |link: &Link| {
            // A message cannot be missed here, since `is_writing` is set while the queue's lock is
            // held.
            link.queue.lock().is_empty() && !link.is_writing.load(Ordering::Acquire)
        };
        self.wait_for_links(longest, is_written)
    }

    fn wait_for_links(&self, longest: Duration, is_fine: impl Fn(&Link) -> bool) -> bool {
        let deadline = Instant::now() + longest;
        let mut links = self.links.lock();
        while !links.iter().all(|link| is_fine(link)) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            links = self.room.wait_timeout(links, left.min(ROOM_AGAIN));
        }
        true
    }

    /// Checks the header of a subscriber. If the check fails, the caller sends the error to the
    /// subscriber.
    pub(crate) fn check(&self, header: &ConnectionHeader) -> Result<(), String> {
        let (wanted, ours) = (header.get("md5sum"), &self.options.md5sum);
        if wanted.is_empty() {
            return Err(format!(
                "a subscriber of {} does not state the md5sum of its type; TCPROS requires `md5sum={ours}` or `md5sum=*`",
                self.options.topic
            ));
        }
        if wanted == "*" || wanted == ours {
            return Ok(());
        }
        Err(format!(
            "{} of {} wants {} with md5sum {wanted}, but it is {} with md5sum {ours} here; {ONE_DEFINITION}; the definition here \
             is:\n{}",
            header.get("callerid"),
            self.options.topic,
            header.get("type"),
            self.options.type_name,
            self.options.definition
        ))
    }

    pub(crate) fn header(&self, caller: &str) -> ConnectionHeader {
        let is_latching = self.options.is_latching || !self.latched.lock().is_empty();
        let latching = if is_latching { "1" } else { "0" };
        let mut fields = vec![
            ("callerid", caller),
            ("topic", &self.options.topic),
            ("type", &self.options.type_name),
            ("md5sum", &self.options.md5sum),
            ("message_definition", &self.options.definition),
            ("latching", latching),
        ];
        // This field tells other bridges under the same master not to bridge this topic back.
        if self.options.is_of_bridge {
            fields.push(("feros_bridge", "1"));
        }
        ConnectionHeader::new(&fields)
    }

    /// Returns the reason to refuse another subscriber, or `None` if one more subscriber is
    /// allowed.
    pub(crate) fn refusal(&self) -> Option<String> {
        let is_full = self.connections() >= MOST_OF_A_TOPIC;
        is_full.then(|| {
            format!(
                "{} already has {MOST_OF_A_TOPIC} subscribers, and accepts no others",
                self.topic()
            )
        })
    }

    /// Serves a subscriber until it leaves. The caller must have answered the subscriber's header.
    pub(crate) async fn serve(self: &Arc<Self>, mut stream: TcpStream, caller: &str) {
        let link = Arc::new(Link {
            caller: caller.to_owned(),
            is_writing: AtomicBool::new(false),
            queue: Mutex::default(),
            changed: Notify::new(),
            closed: Notify::new(),
        });
        {
            let mut links = self.links.lock();
            let (latched, now) = (self.latched.lock(), Instant::now());
            let young = latched.iter().filter(|kept| kept.expires.is_none_or(|end| now < end));
            link.queue.lock().extend(young.map(|kept| kept.message.clone()));
            links.push(link.clone());
        }
        let linked = Linked { publication: self, link };
        if let Some(OnConnection(hear)) = &self.options.on_connection {
            waiting(|| hear(self));
        }
        let link = &linked.link;
        let (mut from, mut to) = stream.split();
        tokio::select! {
            () = has_gone(&mut from) => {}
            () = link.write(&mut to, || self.room.notify_all()) => {}
            () = link.closed.notified() => {}
        }
    }

    pub(crate) fn close(&self) {
        self.links.lock().iter().for_each(|link| link.closed.notify_one());
    }
}

impl Drop for Linked<'_> {
    fn drop(&mut self) {
        let publication = self.publication;
        publication.links.lock().retain(|other| !Arc::ptr_eq(other, &self.link));
        publication.room.notify_all();
        if let Some(OnConnection(hear)) = &publication.options.on_disconnection {
            hear(publication);
        }
    }
}

impl Link {
    fn push(&self, message: Arc<Vec<u8>>, queue_len: usize, dropped: &AtomicU64) {
        let mut queue = self.queue.lock();
        if queue.len() >= queue_len.max(1) {
            queue.pop_front();
            dropped.fetch_add(1, Ordering::Relaxed);
        }
        queue.push_back(message);
        drop(queue);
        self.changed.notify_one();
    }

    fn pop(&self) -> Option<Arc<Vec<u8>>> {
        let mut queue = self.queue.lock();
        let message = queue.pop_front()?;
        // This is set while the lock of the queue is held, so that a waiting thread always finds
        // the message: either it is in the queue, or it is being written.
        self.is_writing.store(true, Ordering::Release);
        Some(message)
    }

    /// Passes messages to the operating system until an error occurs.
    async fn write(&self, to: &mut (impl AsyncWrite + Unpin), wrote: impl Fn()) {
        loop {
            let Some(message) = self.pop() else {
                self.changed.notified().await;
                continue;
            };
            let written = to.write_all(&message).await;
            self.is_writing.store(false, Ordering::Release);
            wrote();
            if written.is_err() {
                return;
            }
        }
    }
}

/// Waits until a subscriber has left. Subscribers send nothing, so the only thing to read is the
/// end of the stream.
async fn has_gone(from: &mut (impl AsyncRead + Unpin)) {
    let mut block = [0; 64];
    while from.read(&mut block).await.is_ok_and(|bytes| bytes > 0) {}
}
