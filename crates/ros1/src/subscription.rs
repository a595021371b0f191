//! A topic that a node of ROS 1 subscribes to: a connection to each publisher, made again when it
//! breaks.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use feros_sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering};

use crate::header::ConnectionHeader;
use crate::http::{self, Address};
use crate::peer_text::{shown, shown_name};
use crate::siblings::Siblings;
use crate::types::not_received;
use crate::xmlrpc::{self, Value};

/// The longest message that is taken.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// Messages up to this length are read into memory that is asked for at once, longer ones as they
/// come.
const AT_ONCE_BYTES: usize = 16 << 20;
/// Waits between attempts, as roscpp does: doubled up to the greatest.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(2);

/// Takes the bodies of a connection.
pub type Sink = Box<dyn FnMut(&[u8]) + Send>;
/// Looks at a publisher's header and makes what takes its messages; an error is said, once per
/// connection.
pub type Accept = Arc<dyn Fn(&ConnectionHeader) -> Result<Sink, String> + Send + Sync>;

/// What a subscription is.
#[derive(Clone)]
pub struct SubscriptionOptions {
    /// The topic, fully qualified.
    pub topic: String,
    /// The type, `package/Name`, or `*`.
    pub type_name: String,
    /// The checksum of the type, or `*` for any.
    pub md5sum: String,
    /// Who takes the messages.
    pub accept: Accept,
}

/// A topic that is subscribed to.
pub struct Subscription {
    pub(crate) options: SubscriptionOptions,
    caller: String,
    connections: Mutex<BTreeMap<Address, Arc<Connection>>>,
    followed: AtomicUsize,
    received: AtomicU64,
}

#[derive(Default)]
struct Connection {
    is_closed: AtomicBool,
    stream: Mutex<Option<TcpStream>>,
}

/// How a connection ended.
enum Followed {
    Messages,
    Nothing,
    Refused,
}

impl Connection {
    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        if let Some(stream) = self.stream.lock().take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }
}

impl Subscription {
    pub(crate) fn new(options: SubscriptionOptions, caller: &str) -> Self {
        Self {
            options,
            caller: caller.to_owned(),
            connections: Mutex::default(),
            followed: AtomicUsize::new(0),
            received: AtomicU64::new(0),
        }
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        &self.options.topic
    }

    /// How many publishers are connected, and were accepted.
    pub fn publishers(&self) -> usize {
        self.followed.load(Ordering::Relaxed)
    }

    /// How many messages came.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Connects to publishers that are new, and leaves those that are gone.
    pub(crate) fn update(self: &Arc<Self>, publishers: &[String], siblings: &Siblings) {
        let addresses = publishers.iter().filter_map(|uri| Address::parse(uri));
        let wanted: Vec<Address> = addresses.filter(|place| !siblings.contains(place)).collect();
        let mut connections = self.connections.lock();
        connections.retain(|address, connection| {
            let stays = wanted.contains(address) && !connection.is_closed();
            if !stays {
                connection.close();
            }
            stays
        });
        for address in wanted {
            if connections.contains_key(&address) {
                continue;
            }
            let connection = Arc::new(Connection::default());
            connections.insert(address.clone(), connection.clone());
            let subscription = self.clone();
            let started = std::thread::Builder::new()
                .name("feros-ros1-sub".to_owned())
                .spawn(move || subscription.keep(&address, &connection));
            if let Err(error) = started {
                tracing::warn!("{}: no thread for a connection: {error}", self.options.topic);
            }
        }
    }

    pub(crate) fn close(&self) {
        let connections = std::mem::take(&mut *self.connections.lock());
        connections.values().for_each(|connection| connection.close());
    }

    /// Follows one publisher until the master says that it is gone.
    fn keep(&self, address: &Address, connection: &Connection) {
        let mut wait = FIRST_RETRY;
        let mut is_said = false;
        while !connection.is_closed() {
            match self.follow(address, connection) {
                Ok(Followed::Messages) => wait = FIRST_RETRY,
                Ok(Followed::Nothing) => {}
                // Asking again changes nothing; a publisher that starts anew has another address.
                Ok(Followed::Refused) => return,
                Err(error) => self.say(address, &error, &mut is_said),
            }
            let mut waited = Duration::ZERO;
            while waited < wait && !connection.is_closed() {
                std::thread::sleep(FIRST_RETRY);
                waited += FIRST_RETRY;
            }
            wait = (wait * 2).min(LAST_RETRY);
        }
    }

    /// That a publisher is not there is nothing new; that it speaks another language is said once.
    fn say(&self, address: &Address, error: &io::Error, is_said: &mut bool) {
        let topic = &self.options.topic;
        if error.kind() == io::ErrorKind::InvalidData && !std::mem::replace(is_said, true) {
            tracing::warn!(
                "{topic}: the publisher at {address} does not speak TCPROS: {error}; nothing is taken from it, end it \
                 (`rosnode info` and `rostopic info {topic}` say which node it is)"
            );
        } else {
            tracing::debug!("{topic} of {address}: {error}");
        }
    }

    /// Says who subscribes, and to what; what the publisher answers.
    fn greet(&self, stream: &mut TcpStream, ty: (&str, &str)) -> io::Result<ConnectionHeader> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        ConnectionHeader::new(&[
            ("callerid", &self.caller),
            ("topic", &self.options.topic),
            ("type", ty.0),
            ("md5sum", ty.1),
            ("tcp_nodelay", "1"),
        ])
        .send(stream)?;
        let header = ConnectionHeader::receive(stream)?;
        stream.set_read_timeout(None)?;
        Ok(header)
    }

    /// Why a publisher refuses. rospy does not say what it has itself, but to who takes anything.
    fn refusal(&self, address: &Address, reason: &str) -> String {
        let (topic, reason) = (&self.options.topic, shown(reason));
        let (ty, md5sum) = (&*self.options.type_name, &*self.options.md5sum);
        let asked = || self.greet(&mut self.connect(address)?, ("*", "*"));
        match asked() {
            Ok(header) if header.has("md5sum") && header.get("md5sum") != md5sum => {
                let theirs = (header.get("type"), header.get("md5sum"));
                let who = header.get("callerid");
                format!("{}; it says: {reason}", not_received(topic, who, theirs, (ty, md5sum)))
            }
            _ => format!("{address} refuses {topic}, {ty} with md5sum {md5sum} here: {reason}"),
        }
    }

    /// One connection from its beginning to its end.
    fn follow(&self, address: &Address, connection: &Connection) -> io::Result<Followed> {
        let mut stream = self.connect(address)?;
        *connection.stream.lock() = Some(stream.try_clone()?);
        if connection.is_closed() {
            return Ok(Followed::Nothing);
        }
        let header = self.greet(&mut stream, (&self.options.type_name, &self.options.md5sum))?;
        let refused = match header.has("error") {
            true => Err(self.refusal(address, header.get("error"))),
            false => (self.options.accept)(&header),
        };
        let mut sink = match refused {
            Ok(sink) => sink,
            Err(reason) => {
                tracing::warn!("{}", shown(&reason));
                return Ok(Followed::Refused);
            }
        };
        self.followed.fetch_add(1, Ordering::Relaxed);
        let ended = self.hand_over(&mut stream, &mut sink);
        self.followed.fetch_sub(1, Ordering::Relaxed);
        ended
    }

    /// Messages from the first to the end of the connection.
    fn hand_over(&self, stream: &mut TcpStream, sink: &mut Sink) -> io::Result<Followed> {
        let mut buffer = Vec::new();
        let mut came = false;
        while let Some(len) = read_message(stream, &mut buffer)? {
            came = true;
            self.received.fetch_add(1, Ordering::Relaxed);
            sink(&buffer[..len]);
        }
        Ok(if came { Followed::Messages } else { Followed::Nothing })
    }

    /// Asks the publisher where its messages are, and connects there.
    fn connect(&self, address: &Address) -> io::Result<TcpStream> {
        let protocols = Value::List(vec![Value::List(vec!["TCPROS".into()])]);
        let parameters =
            [self.caller.as_str().into(), self.options.topic.as_str().into(), protocols];
        let text = http::post(address, &xmlrpc::call("requestTopic", &parameters))?;
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let answer = xmlrpc::read_answer(&text).map_err(|error| invalid(&error.to_string()))?;
        let place = match answer.as_list() {
            [code, _, place] if code.as_int() == Some(1) => place.as_list(),
            // It publishes no longer, and the master is about to say so.
            [_, reason, _] => {
                let reason = shown_name(reason.as_text().unwrap_or("refused"));
                return Err(io::Error::other(reason.into_owned()));
            }
            _ => return Err(invalid("no answer to requestTopic")),
        };
        let (Some(host), Some(port)) = (
            place.get(1).and_then(Value::as_text),
            place.get(2).and_then(Value::as_int).and_then(|port| u16::try_from(port).ok()),
        ) else {
            return Err(invalid("requestTopic is answered without host and port"));
        };
        let place = Address::new(host, port)
            .ok_or_else(|| invalid("requestTopic is answered with a host that is none"))?;
        place.connect(Duration::from_secs(5))
    }
}

/// Reads a message into the beginning of a buffer; its length, or `None` at the end of the
/// connection.
pub(crate) fn read_message(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<usize>> {
    let mut len = [0; 4];
    if let Err(error) = stream.read_exact(&mut len) {
        let is_end = error.kind() == io::ErrorKind::UnexpectedEof;
        return if is_end { Ok(None) } else { Err(error) };
    }
    let len = u32::from_le_bytes(len) as usize;
    if len > MAX_MESSAGE_BYTES {
        let what = format!("a message of {len} bytes is announced, more than are read");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let at_once = len.min(AT_ONCE_BYTES);
    if buffer.len() < at_once {
        buffer.resize(at_once, 0);
    }
    let ready = len.min(buffer.len());
    stream.read_exact(&mut buffer[..ready])?;
    if ready < len {
        let got = stream.take((len - ready) as u64).read_to_end(buffer)?;
        if ready + got < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Some(len))
}
