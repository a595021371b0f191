//! Masters of ROS 1, and publishers that they name, which try to exhaust the threads, descriptors,
//! log lines and time of a node. Tests of the library and of the bridge use them.
#![allow(dead_code, reason = "each of the two suites uses a part of this module")]

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use feros_ros1::{Address, Value, read_call, read_request, read_response};
use feros_test_support::WATCHDOG;

/// The time between two bytes of a slow answer.
const PAUSE: Duration = Duration::from_millis(50);

/// A listener with its own thread. Dropping this value ends the thread.
struct Listening {
    port: u16,
    is_over: Arc<AtomicBool>,
}

impl Listening {
    /// Calls `serve` with each connection, and with a flag that ends long work.
    fn new(host: Ipv4Addr, mut serve: impl FnMut(TcpStream, &AtomicBool) + Send + 'static) -> Self {
        let listener = TcpListener::bind((host, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_over = Arc::<AtomicBool>::default();
        let ends = is_over.clone();
        let run = move || {
            for stream in listener.incoming() {
                if ends.load(SeqCst) {
                    return;
                }
                match stream {
                    Ok(stream) => serve(stream, &ends),
                    // Descriptors may be short for a moment.
                    Err(_) => std::thread::sleep(Duration::from_millis(2)),
                }
            }
        };
        std::thread::Builder::new().name("test-peer".to_owned()).spawn(run).unwrap();
        Self { port, is_over }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        let own = (Ipv4Addr::LOCALHOST, self.port).into();
        let _ = TcpStream::connect_timeout(&own, Duration::from_secs(1)); // wakes the thread
    }
}

/// A master that names the same publishers for every topic, however many they are.
pub(crate) struct HostileMaster {
    listening: Listening,
    /// Whether the master answers one byte at a time, with pauses.
    pub(crate) is_slow: Arc<AtomicBool>,
    /// The number of all calls.
    pub(crate) asked: Arc<AtomicUsize>,
    /// The number of registrations that the master has answered.
    pub(crate) registered: Arc<AtomicUsize>,
    /// The number of bytes that the master has sent one at a time.
    pub(crate) bytes: Arc<AtomicUsize>,
    /// The API address of the node that registered last.
    api: Arc<Mutex<String>>,
}

impl HostileMaster {
    /// Starts a master whose system state has this many topics.
    pub(crate) fn new(topics: usize, publishers: &[String]) -> Self {
        let (state, types) = (state(topics), types(topics));
        let (publishers, uri) = (texts(publishers), text("http://hostile:1/"));
        let (is_slow, api) = (Arc::<AtomicBool>::default(), Arc::<Mutex<String>>::default());
        let [asked, registered, bytes] = [(); 3].map(|()| Arc::<AtomicUsize>::default());
        let (slow, node) = (is_slow.clone(), api.clone());
        let [calls, registrations, sent] = [&asked, &registered, &bytes].map(Arc::clone);
        let serve = move |mut stream: TcpStream, is_over: &AtomicBool| {
            let Ok(Some(call)) = read_request(&mut stream) else { return };
            let (method, parameters) = read_call(&call).unwrap();
            calls.fetch_add(1, SeqCst);
            if let Some(uri) = parameters.get(3).and_then(Value::as_text) {
                uri.clone_into(&mut node.lock().unwrap());
            }
            if slow.load(SeqCst) {
                send_bytes(&mut stream, &sent, is_over);
                return;
            }
            registrations.fetch_add(usize::from(method.starts_with("register")), SeqCst);
            let value = match &*method {
                "getSystemState" => &state,
                "getTopicTypes" => &types,
                "getUri" => &uri,
                _ => &publishers,
            };
            let _ = stream.write_all(answer(value).as_bytes()); // the node may have ended
        };
        let listening = Listening::new(Ipv4Addr::LOCALHOST, serve);
        Self { listening, is_slow, asked, registered, bytes, api }
    }

    pub(crate) fn port(&self) -> u16 {
        self.listening.port
    }

    pub(crate) fn uri(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port())
    }

    /// Returns the API address of the node that registered last.
    pub(crate) fn api(&self) -> String {
        self.api.lock().unwrap().clone()
    }

    /// Makes the call by which a master reports the publishers of a topic to that node.
    pub(crate) fn update_publishers(&self, topic: &str, uris: &[String]) {
        let mut stream = Address::parse(&self.api()).unwrap().connect(WATCHDOG).unwrap();
        let body = format!(
            "<methodCall><methodName>publisherUpdate</methodName><params><param><value>/m</value></param>\
             <param><value>{topic}</value></param><param>{}</param></params></methodCall>",
            texts(uris)
        );
        let head = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).unwrap();
        assert!(read_response(&mut stream).unwrap().contains("<int>1</int>"));
    }
}

/// Sends a byte now and then, until the client has gone.
fn send_bytes(stream: &mut TcpStream, sent: &AtomicUsize, is_over: &AtomicBool) {
    while !is_over.load(SeqCst) && stream.write_all(b"H").is_ok() {
        sent.fetch_add(1, SeqCst);
        std::thread::sleep(PAUSE);
    }
}

/// Publishers that accept connections but never answer.
pub(crate) struct SilentPublishers {
    listening: Listening,
    counts: Counts,
}

#[derive(Clone, Default)]
struct Counts {
    open: Arc<Mutex<Vec<TcpStream>>>,
    most: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
}

impl Counts {
    /// Returns the connections that are still open.
    fn open(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        let mut open = self.open.lock().unwrap();
        open.retain(|stream| !matches!(stream.peek(&mut [0]), Ok(0)));
        open
    }
}

impl SilentPublishers {
    pub(crate) fn start() -> Self {
        let counts = Counts::default();
        let counted = counts.clone();
        let serve = move |mut stream: TcpStream, _: &AtomicBool| {
            // The request is read so that the end of the stream can be noticed.
            let _ = read_request(&mut stream);
            stream.set_nonblocking(true).unwrap();
            let mut open = counted.open();
            open.push(stream);
            counted.most.fetch_max(open.len(), SeqCst);
            counted.all.fetch_add(1, SeqCst);
        };
        Self { listening: Listening::new(Ipv4Addr::UNSPECIFIED, serve), counts }
    }

    /// Returns addresses of these publishers, each with a different host.
    pub(crate) fn uris(&self, many: u32) -> Vec<String> {
        uris(self.listening.port, many)
    }

    /// The number of connections that are open now.
    pub(crate) fn now(&self) -> usize {
        self.counts.open().len()
    }

    /// The largest number of connections that were open at a time.
    pub(crate) fn most(&self) -> usize {
        self.counts.most.load(SeqCst)
    }

    /// The number of all connections so far.
    pub(crate) fn all(&self) -> usize {
        self.counts.all.load(SeqCst)
    }
}

/// Returns the addresses of publishers that never accept a connection, so that connections wait in
/// the backlog of this listener.
pub(crate) fn publishers_that_never_accept(many: u32) -> (TcpListener, Vec<String>) {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let uris = uris(listener.local_addr().unwrap().port(), many);
    (listener, uris)
}

fn uris(port: u16, many: u32) -> Vec<String> {
    let host = |number| Ipv4Addr::from_bits(0x7f00_0001 + number);
    (0..many).map(|number| format!("http://{}:{port}/", host(number))).collect()
}

fn text(text: &str) -> String {
    format!("<value><string>{text}</string></value>")
}

fn list(values: &[String]) -> String {
    format!("<value><array><data>{}</data></array></value>", values.concat())
}

fn texts(all: &[String]) -> String {
    list(&all.iter().map(|one| text(one)).collect::<Vec<_>>())
}

/// A system state with topics that all have the same publisher, and without services.
fn state(topics: usize) -> String {
    let publisher = texts(&["/liar".to_owned()]);
    let entry = |number| list(&[text(&format!("/t{number}")), publisher.clone()]);
    let topics = list(&(0..topics).map(entry).collect::<Vec<_>>());
    list(&[topics, list(&[]), list(&[])])
}

fn types(topics: usize) -> String {
    let entry = |number| texts(&[format!("/t{number}"), "std_msgs/String".to_owned()]);
    list(&(0..topics).map(entry).collect::<Vec<_>>())
}

fn answer(value: &str) -> String {
    let value = list(&["<value><int>1</int></value>".to_owned(), text(""), value.to_owned()]);
    let body = format!("<methodResponse><params><param>{value}</param></params></methodResponse>");
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
