//! A topic that a node of ROS 1 publishes: who is connected, and what each of them still has to
//! get.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use feros_sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering};

use crate::header::ConnectionHeader;

/// How often an idle connection is looked at, whether its peer is still there.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Most messages that are kept for subscribers to come, of as many sources.
const MOST_LATCHED: usize = 256;

/// What a publication is.
#[derive(Clone, Debug)]
pub struct PublicationOptions {
    /// The topic, fully qualified.
    pub topic: String,
    /// The type, `package/Name`.
    pub type_name: String,
    /// The checksum of the type.
    pub md5sum: String,
    /// The definition with all that it refers to.
    pub definition: String,
    /// Whether the last message of each source is kept for subscribers to come.
    pub is_latching: bool,
    /// Most messages that wait for a subscriber; the oldest one gives way.
    pub queue_len: usize,
    /// Who hears of subscribers that connect.
    pub on_connection: Option<OnConnection>,
}

/// What hears of a publication.
pub type Hears = dyn Fn(&Arc<Publication>) + Send + Sync;

/// Called when a subscriber has connected, on that connection's thread, before anything is sent
/// to it.
#[derive(Clone)]
pub struct OnConnection(pub Arc<Hears>);

impl fmt::Debug for OnConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnConnection")
    }
}

/// What a publication sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublicationCounts {
    /// Messages that were published while somebody was connected.
    pub published: u64,
    /// Messages that gave way in the queue of a subscriber, each for itself.
    pub dropped: u64,
}

/// A topic that is published.
#[derive(Debug)]
pub struct Publication {
    pub(crate) options: PublicationOptions,
    links: Mutex<Vec<Arc<Link>>>,
    latched: Mutex<VecDeque<(u64, Arc<Vec<u8>>)>>,
    published: AtomicU64,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Link {
    stream: TcpStream,
    queue: Mutex<VecDeque<Arc<Vec<u8>>>>,
    changed: Condvar,
    is_closed: AtomicBool,
}

impl Publication {
    pub(crate) fn new(options: PublicationOptions) -> Self {
        Self {
            options,
            links: Mutex::default(),
            latched: Mutex::default(),
            published: AtomicU64::new(0),
            dropped: Arc::default(),
        }
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.options.topic
    }

    /// How many subscribers are connected.
    pub fn connections(&self) -> usize {
        self.links.lock().len()
    }

    /// What was sent so far.
    pub fn counts(&self) -> PublicationCounts {
        PublicationCounts {
            published: self.published.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
        }
    }

    /// Sends a message: its length in four bytes, and its body. `source` tells apart whose last
    /// message a latching publication keeps.
    pub fn publish(&self, source: u64, framed: Arc<Vec<u8>>) {
        // Held over both, so that no new subscriber misses a message or gets it twice.
        let links = self.links.lock();
        if self.options.is_latching {
            let mut latched = self.latched.lock();
            latched.retain(|(kept, _)| *kept != source);
            if latched.len() >= MOST_LATCHED {
                latched.pop_front();
            }
            latched.push_back((source, framed.clone()));
        }
        if !links.is_empty() {
            self.published.fetch_add(1, Ordering::Relaxed);
        }
        for link in links.iter() {
            link.push(framed.clone(), self.options.queue_len, &self.dropped);
        }
    }

    /// Answers the header of a subscriber; an error is for its eyes.
    pub(crate) fn check(&self, header: &ConnectionHeader) -> Result<(), String> {
        let (wanted, ours) = (header.get("md5sum"), &self.options.md5sum);
        if wanted == "*" || wanted == ours {
            return Ok(());
        }
        Err(format!(
            "{} of {} wants {} with md5sum {wanted}, it is {} with md5sum {ours} here; the definition here is:\n{}",
            header.get("callerid"),
            self.options.topic,
            header.get("type"),
            self.options.type_name,
            self.options.definition
        ))
    }

    pub(crate) fn header(&self, caller: &str) -> ConnectionHeader {
        let latching = if self.options.is_latching { "1" } else { "0" };
        ConnectionHeader::new(&[
            ("callerid", caller),
            ("topic", &self.options.topic),
            ("type", &self.options.type_name),
            ("md5sum", &self.options.md5sum),
            ("message_definition", &self.options.definition),
            ("latching", latching),
            // For other bridges of one master, which must not bring back what came from here.
            ("feros_bridge", "1"),
        ])
    }

    /// Serves a subscriber until it goes; the header was answered already.
    pub(crate) fn serve(self: &Arc<Self>, stream: TcpStream) {
        let link = Arc::new(Link {
            stream,
            queue: Mutex::default(),
            changed: Condvar::new(),
            is_closed: AtomicBool::new(false),
        });
        {
            let mut links = self.links.lock();
            let latched = self.latched.lock();
            link.queue.lock().extend(latched.iter().map(|(_, message)| message.clone()));
            links.push(link.clone());
        }
        if let Some(OnConnection(hear)) = &self.options.on_connection {
            hear(self);
        }
        link.write();
        self.links.lock().retain(|other| !Arc::ptr_eq(other, &link));
    }

    pub(crate) fn close(&self) {
        self.links.lock().iter().for_each(|link| link.close());
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

    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        let _ = self.stream.shutdown(Shutdown::Both);
        self.changed.notify_one();
    }

    fn write(&self) {
        let _ = self.stream.set_read_timeout(Some(Duration::from_millis(1)));
        loop {
            let mut queue = self.queue.lock();
            while queue.is_empty() {
                if self.is_closed.load(Ordering::Acquire) {
                    return;
                }
                queue = self.changed.wait_timeout(queue, LOOK_EVERY);
                if queue.is_empty() {
                    drop(queue);
                    if !self.peer_is_there() {
                        return;
                    }
                    queue = self.queue.lock();
                }
            }
            let Some(message) = queue.pop_front() else { continue };
            drop(queue);
            if (&self.stream).write_all(&message).is_err() {
                return;
            }
        }
    }

    /// A subscriber sends nothing, so all that can be read is its end.
    fn peer_is_there(&self) -> bool {
        match self.stream.peek(&mut [0; 1]) {
            Ok(0) => false,
            Ok(_) => true,
            Err(error) => matches!(
                error.kind(),
                std::io::ErrorKind::WouldBlock
                    | std::io::ErrorKind::TimedOut
                    | std::io::ErrorKind::Interrupted
            ),
        }
    }
}
