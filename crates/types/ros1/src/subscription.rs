//! A topic that a ROS 1 node subscribes to. The subscription has one connection to each publisher,
//! and connects again after an error.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use feros_sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::address::Address;
use crate::connections::{self, MOST_OF_A_TOPIC, Place};
use crate::header::{ConnectionHeader, checked_len};
use crate::http::{self, PATIENCE};
use crate::lines::Lines;
use crate::peer_text::{shown, shown_name};
use crate::runtime::waiting;
use crate::siblings::Siblings;
use crate::types::not_received;
use crate::xmlrpc::{self, Value};

/// The size limit of a received message, in bytes.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// Memory for a message is first allocated in this size, and then doubled as the message arrives.
/// So a sender that only announces a long message causes no large allocation.
const STEP_BYTES: usize = 64 << 10;
/// The wait between attempts. It is doubled with each attempt, up to the limit. The times are the
/// same as in roscpp.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(2);

/// A callback that takes the bodies of the messages from one connection.
pub type Sink = Box<dyn FnMut(&[u8]) + Send>;
/// Checks a publisher's header and creates the sink for its messages. An error is logged once per
/// connection.
pub type Accept = Arc<dyn Fn(&ConnectionHeader) -> Result<Sink, String> + Send + Sync>;

/// The options of a subscription.
#[derive(Clone)]
pub struct SubscriptionOptions {
    /// The fully qualified name of the topic.
    pub topic: String,
    /// The type, `package/Name`, or `*`.
    pub type_name: String,
    /// The checksum of the type, or `*` for any.
    pub md5sum: String,
    /// Creates the sink for the messages of a publisher.
    pub accept: Accept,
}

/// A subscribed topic.
pub struct Subscription {
    pub(crate) options: SubscriptionOptions,
    caller: String,
    tasks: Handle,
    lines: Arc<Lines>,
    publishers: Mutex<BTreeMap<Address, Publisher>>,
    /// Whether some publishers have no connection because there was no free slot.
    is_short: AtomicBool,
    followed: AtomicUsize,
    received: AtomicU64,
}

/// A publisher that is connected, or that the node must not ask again because it has refused.
struct Publisher {
    task: AbortHandle,
    _remembered: Place,
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How a connection to a publisher ended.
enum Followed {
    Messages,
    Nothing,
    Refused,
}

/// Counts an accepted publisher while it is connected.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Subscription {
    pub(crate) fn new(
        options: SubscriptionOptions,
        caller: &str,
        tasks: &Handle,
        lines: &Arc<Lines>,
    ) -> Self {
        Self {
            options,
            caller: caller.to_owned(),
            tasks: tasks.clone(),
            lines: lines.clone(),
            publishers: Mutex::default(),
            is_short: AtomicBool::new(false),
            followed: AtomicUsize::new(0),
            received: AtomicU64::new(0),
        }
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.options.topic
    }

    /// The number of publishers that are connected and accepted.
    pub fn publishers(&self) -> usize {
        self.followed.load(Ordering::Relaxed)
    }

    /// The number of received messages.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Connects to new publishers and disconnects from those that have left. A connected publisher
    /// keeps its slot, no matter how many publishers the master names.
    pub(crate) fn update(self: &Arc<Self>, publishers: &[String], siblings: &Siblings) {
        let addresses = publishers.iter().filter_map(|uri| Address::parse(uri));
        let wanted: BTreeSet<Address> =
            addresses.filter(|place| !siblings.contains(place)).collect();
        let mut known = self.publishers.lock();
        known.retain(|address, _| wanted.contains(address));
        let mut is_short = false;
        for address in wanted {
            if known.contains_key(&address) {
                continue;
            }
            let places = (known.len() < MOST_OF_A_TOPIC)
                .then(|| connections::place().zip(connections::place_in_memory()))
                .flatten();
            let Some((place, remembered)) = places else {
                is_short = true;
                break;
            };
            let (subscription, followed) = (self.clone(), address.clone());
            let task = self.tasks.spawn(async move { subscription.keep(&followed, place).await });
            let task = task.abort_handle();
            known.insert(address, Publisher { task, _remembered: remembered });
        }
        drop(known);
        if is_short && !self.is_short.swap(true, Ordering::Relaxed) {
            self.lines.warn(format_args!(
                "{} has more publishers than connections are allowed: at most {MOST_OF_A_TOPIC} for a topic, and {} \
                 for the process; the other publishers wait",
                self.options.topic,
                connections::most()
            ));
        }
        self.is_short.store(is_short, Ordering::Relaxed);
    }

    /// Whether there are publishers that wait for a slot, and a slot may be free now.
    pub(crate) fn may_go_on(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
            && connections::are_free()
            && self.publishers.lock().len() < MOST_OF_A_TOPIC
    }

    pub(crate) fn close(&self) {
        let publishers = std::mem::take(&mut *self.publishers.lock());
        drop(publishers); // without the lock, because this ends the tasks of the publishers
    }

    /// Stays connected to one publisher until the master reports that it has left.
    async fn keep(&self, address: &Address, _place: Place) {
        let mut wait = FIRST_RETRY;
        let mut is_said = false;
        loop {
            match self.follow(address).await {
                Ok(Followed::Messages) => wait = FIRST_RETRY,
                Ok(Followed::Nothing) => {}
                // It is useless to ask again, because a restarted publisher has another address.
                Ok(Followed::Refused) => return,
                Err(error) => self.say(address, &error, &mut is_said),
            }
            sleep(wait).await;
            wait = (wait * 2).min(LAST_RETRY);
        }
    }

    /// Logs an error of a connection. It is normal that a publisher is absent. A wrong protocol
    /// causes one warning.
    fn say(&self, address: &Address, error: &io::Error, is_said: &mut bool) {
        let topic = &self.options.topic;
        if error.kind() == io::ErrorKind::InvalidData && !std::mem::replace(is_said, true) {
            self.lines.warn(format_args!(
                "{topic}: the publisher at {address} does not speak TCPROS: {error}; its messages are ignored; end \
                 that program (`rosnode info` and `rostopic info {topic}` show which node it is)"
            ));
        } else {
            tracing::debug!("{topic} of {address}: {error}");
        }
    }

    /// Sends the subscription's header and returns the publisher's header.
    async fn greet(
        &self,
        stream: &mut TcpStream,
        ty: (&str, &str),
    ) -> io::Result<ConnectionHeader> {
        let header = ConnectionHeader::new(&[
            ("callerid", &self.caller),
            ("topic", &self.options.topic),
            ("type", ty.0),
            ("md5sum", ty.1),
            ("tcp_nodelay", "1"),
        ]);
        let greeted = async {
            header.put(stream).await?;
            ConnectionHeader::next(stream).await
        };
        timeout(PATIENCE, greeted).await?
    }

    /// Describes the reason why a publisher refuses. rospy reports its own type only to subscribers
    /// that accept any type, so this function asks again for any type.
    async fn refusal(&self, address: &Address, reason: &str) -> String {
        let (topic, reason) = (&self.options.topic, shown(reason));
        let (ty, md5sum) = (&*self.options.type_name, &*self.options.md5sum);
        let asked = async { self.greet(&mut self.connect(address).await?, ("*", "*")).await };
        match asked.await {
            Ok(header) if header.has("md5sum") && header.get("md5sum") != md5sum => {
                let theirs = (header.get("type"), header.get("md5sum"));
                let who = header.get("callerid");
                format!("{}; it says: {reason}", not_received(topic, who, theirs, (ty, md5sum)))
            }
            _ => format!("{address} refuses {topic}, {ty} with md5sum {md5sum} here: {reason}"),
        }
    }

    /// Handles one connection to the publisher from its start to its end.
    async fn follow(&self, address: &Address) -> io::Result<Followed> {
        let mut stream = self.connect(address).await?;
        let header =
            self.greet(&mut stream, (&self.options.type_name, &self.options.md5sum)).await?;
        let refused = match header.has("error") {
            true => Err(self.refusal(address, header.get("error")).await),
            false => waiting(|| (self.options.accept)(&header)),
        };
        let mut sink = match refused {
            Ok(sink) => sink,
            Err(reason) => {
                self.lines.warn(shown(&reason));
                return Ok(Followed::Refused);
            }
        };
        let _counted = Counted::new(&self.followed);
        self.hand_over(&mut stream, &mut sink).await
    }

    /// Passes messages to the sink until the connection ends.
    async fn hand_over(&self, stream: &mut TcpStream, sink: &mut Sink) -> io::Result<Followed> {
        let mut buffer = Vec::new();
        let mut came = false;
        while read_message(stream, &mut buffer).await? {
            came = true;
            self.received.fetch_add(1, Ordering::Relaxed);
            sink(&buffer);
        }
        Ok(if came { Followed::Messages } else { Followed::Nothing })
    }

    /// Asks the publisher for its TCPROS address and connects to it.
    async fn connect(&self, address: &Address) -> io::Result<TcpStream> {
        let protocols = Value::List(vec![Value::List(vec!["TCPROS".into()])]);
        let parameters =
            [self.caller.as_str().into(), self.options.topic.as_str().into(), protocols];
        let text = http::ask(address, &xmlrpc::call("requestTopic", &parameters)).await?;
        let place = place_in(&text)?;
        timeout(PATIENCE, place.reach()).await?
    }
}

/// Reads the TCPROS address from a publisher's answer.
fn place_in(text: &str) -> io::Result<Address> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let answer = xmlrpc::read_answer(text).map_err(|error| invalid(&error.to_string()))?;
    let place = match answer.as_list() {
        [code, _, place] if code.as_int() == Some(1) => place.as_list(),
        // The node no longer publishes the topic, and the master will soon report that.
        [_, reason, _] => {
            let reason = shown_name(reason.as_text().unwrap_or("refused"));
            return Err(io::Error::other(reason.into_owned()));
        }
        _ => return Err(invalid("the answer to requestTopic is malformed")),
    };
    let (Some(host), Some(port)) = (
        place.get(1).and_then(Value::as_text),
        place.get(2).and_then(Value::as_int).and_then(|port| u16::try_from(port).ok()),
    ) else {
        return Err(invalid("the answer to requestTopic lacks host and port"));
    };
    Address::new(host, port)
        .ok_or_else(|| invalid("the answer to requestTopic has an invalid host"))
}

/// Reads a message into a buffer. Returns false at the end of the connection.
pub(crate) async fn read_message(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> io::Result<bool> {
    let mut len = [0; 4];
    if let Err(error) = stream.read_exact(&mut len).await {
        let is_end = error.kind() == io::ErrorKind::UnexpectedEof;
        return if is_end { Ok(false) } else { Err(error) };
    }
    let len = message_len(len)?;
    buffer.clear();
    while buffer.len() < len {
        let missing = len - buffer.len();
        buffer.reserve(missing.min(buffer.len().max(STEP_BYTES)));
        if (&mut *stream).take(missing as u64).read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(true)
}

/// Returns the length of a message. Fails if the message is too long.
pub(crate) fn message_len(len: [u8; 4]) -> io::Result<usize> {
    checked_len(len, MAX_MESSAGE_BYTES, "message")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn memory_is_taken_for_what_comes_alone() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut buffer = Vec::new();
        let mut read = |bytes: &[u8]| {
            let done = runtime.block_on(read_message(&mut &*bytes, &mut buffer));
            (done.map_err(|error| error.kind()), buffer.clone(), buffer.capacity())
        };
        let announced = (MAX_MESSAGE_BYTES as u32).to_le_bytes();
        let (done, _, capacity) = read(&[&announced[..], b"a few bytes"].concat());
        assert_eq!(done, Err(io::ErrorKind::UnexpectedEof));
        assert!(capacity <= 2 * STEP_BYTES, "{capacity}");
        let long = vec![7; 1_000_000];
        let (done, message, _) = read(&[&1_000_000_u32.to_le_bytes()[..], &long, b"next"].concat());
        assert_eq!((done, message == long), (Ok(true), true));
        assert_eq!(read(&[2, 0, 0, 0, 8, 9]).1, [8, 9]);
        assert_eq!(read(&[0, 0, 0, 0]).0, Ok(true));
        assert_eq!(read(&[]).0, Ok(false));
        assert_eq!(read(&[0xff; 8]).0, Err(io::ErrorKind::InvalidData));
    }
}
