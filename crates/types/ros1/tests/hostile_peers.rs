//! Tests with masters, publishers and subscribers that try to exhaust the threads, descriptors and
//! time of a node. The tests check that the use of each of these remains below its limit.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use feros_ros1::{
    Address, ConnectionHeader, Node, Publication, PublicationOptions, ServiceOptions,
    SubscriptionOptions, Value, read_call, read_request, read_response,
};
use feros_test_support::{WATCHDOG, until};

/// The limits that the crate guarantees.
const MOST_OF_A_TOPIC: usize = 256;
const MOST_STRANGERS: usize = 256;
const MOST_THREADS: usize = 4 + 32 + 1;
const MD5: &str = "992ce8a1687cec8c8bd883ec73ca41d1";

/// Makes the tests run one after the other, because they count resources of the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of threads that the crate has started.
fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("feros-ros1")).count()
}

/// Returns the number of descriptors of the process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A listener with its own thread. Dropping this value ends the thread.
struct Listening {
    port: u16,
    is_over: Arc<AtomicBool>,
}

impl Listening {
    fn new(mut serve: impl FnMut(Option<TcpStream>) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        let thread = std::thread::Builder::new().name("test-peer".to_owned());
        let run = move || {
            while !ends.load(SeqCst) {
                let stream = listener.accept().ok().map(|(stream, _)| stream);
                if stream.is_none() {
                    std::thread::sleep(Duration::from_millis(2));
                }
                serve(stream);
            }
        };
        thread.spawn(run).unwrap();
        Self { port, is_over }
    }

    /// Returns addresses of the listener, each with a different host.
    fn uris(&self, many: u32) -> Vec<String> {
        let host = |number| Ipv4Addr::from_bits(0x7f00_0001 + number);
        (0..many).map(|number| format!("http://{}:{}/", host(number), self.port)).collect()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
    }
}

/// Publishers that accept connections but never answer.
#[derive(Clone, Default)]
struct Silent {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
}

impl Silent {
    fn listen(&self) -> Listening {
        let (counts, mut open) = (self.clone(), Vec::<TcpStream>::new());
        Listening::new(move |stream| {
            open.retain(|stream| !matches!(stream.peek(&mut [0]), Ok(0)));
            if let Some(stream) = stream {
                // The request is read so that the end of the stream can be noticed.
                stream.set_nonblocking(false).unwrap();
                let _ = read_request(&mut &stream);
                stream.set_nonblocking(true).unwrap();
                open.push(stream);
                counts.all.fetch_add(1, SeqCst);
            }
            counts.now.store(open.len(), SeqCst);
            counts.most.fetch_max(open.len(), SeqCst);
        })
    }
}

fn list(texts: &[String]) -> String {
    let each = texts.iter().map(|text| format!("<value><string>{text}</string></value>"));
    format!("<value><array><data>{}</data></array></value>", each.collect::<String>())
}

/// A master's answer to a call.
enum Answer {
    With(String),
    /// Sends one byte occasionally.
    InBytes,
}

/// A master whose answers are defined by the test. It counts its calls, and it counts the bytes
/// that it sends in single steps.
struct FakeMaster {
    listening: Listening,
    asked: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
    /// The API address of the node that registered last.
    api: Arc<Mutex<String>>,
}

impl FakeMaster {
    fn new(mut answer: impl FnMut(&str, &[Value]) -> Answer + Send + 'static) -> Self {
        let asked = Arc::<AtomicUsize>::default();
        let (bytes, api) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<String>>::default());
        let (counts, sent, node) = (asked.clone(), bytes.clone(), api.clone());
        let listening = Listening::new(move |stream| {
            let Some(mut stream) = stream else { return };
            stream.set_nonblocking(false).unwrap();
            let Ok(Some(text)) = read_request(&mut stream) else { return };
            let (method, parameters) = read_call(&text).unwrap();
            counts.fetch_add(1, SeqCst);
            if let Some(uri) = parameters.get(3).and_then(Value::as_text) {
                *node.lock().unwrap() = uri.to_owned();
            }
            match answer(&method, &parameters) {
                Answer::With(value) => drop(stream.write_all(answered(&value).as_bytes())),
                Answer::InBytes => {
                    for _ in 0..2000 {
                        if stream.write_all(b"H").is_err() {
                            return;
                        }
                        sent.fetch_add(1, SeqCst);
                        std::thread::sleep(Duration::from_millis(50));
                    }
                }
            }
        });
        Self { listening, asked, bytes, api }
    }

    fn uri(&self) -> String {
        format!("http://127.0.0.1:{}/", self.listening.port)
    }
}

fn answered(value: &str) -> String {
    let body = format!(
        "<methodResponse><params><param><value><array><data><value><int>1</int></value>\
         <value></value>{value}</data></array></value></param></params></methodResponse>"
    );
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Makes the call by which a master reports the publishers of a topic to a node.
fn publisher_update(api: &str, topic: &str, uris: &[String]) {
    let mut stream = Address::parse(api).unwrap().connect(WATCHDOG).unwrap();
    let body = format!(
        "<methodCall><methodName>publisherUpdate</methodName><params><param><value>/m</value></param>\
         <param><value>{topic}</value></param><param>{}</param></params></methodCall>",
        list(uris)
    );
    let head = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).unwrap();
    assert!(read_response(&mut stream).unwrap().contains("<int>1</int>"));
}

fn subscribing(topic: &str) -> SubscriptionOptions {
    SubscriptionOptions {
        topic: topic.to_owned(),
        type_name: "std_msgs/String".to_owned(),
        md5sum: MD5.to_owned(),
        accept: Arc::new(|_| Ok(Box::new(|_| {}))),
    }
}

fn publishing(topic: &str) -> PublicationOptions {
    PublicationOptions {
        topic: topic.to_owned(),
        type_name: "std_msgs/String".to_owned(),
        md5sum: MD5.to_owned(),
        definition: "string data".to_owned(),
        is_latching: false,
        queue_len: 1,
        on_connection: None,
        on_disconnection: None,
        is_of_bridge: false,
    }
}

#[test]
fn many_publishers_make_neither_threads_nor_connections() {
    let _alone = alone();
    let silent = Silent::default();
    let publishers = silent.listen();
    let (first, more) = (publishers.uris(30_000), publishers.uris(60_000));
    let answer = list(&first);
    let master = FakeMaster::new(move |_, _| Answer::With(answer.clone()));
    let node = Node::new("/hears", &master.uri()).unwrap();
    let _subscription = node.subscribe(subscribing("/flood")).unwrap();
    until("the most allowed connections", || silent.now.load(SeqCst) == MOST_OF_A_TOPIC);
    publisher_update(&master.api.lock().unwrap(), "/flood", &more);
    // After the timeout, the node tries the same connections again, and tries no other connections.
    until("a second round", || silent.all.load(SeqCst) >= 2 * MOST_OF_A_TOPIC);
    assert_eq!(silent.most.load(SeqCst), MOST_OF_A_TOPIC);
    assert!(threads() <= MOST_THREADS, "{}", threads());
}

#[test]
fn many_topics_make_neither_threads_nor_connections() {
    let _alone = alone();
    let silent = Silent::default();
    let publishers = silent.listen();
    let answer = list(&publishers.uris(3));
    let master = FakeMaster::new(move |_, _| Answer::With(answer.clone()));
    let (before, node) = (descriptors(), Node::new("/hears", &master.uri()).unwrap());
    let subscribe = |number| node.subscribe(subscribing(&format!("/topic{number}"))).unwrap();
    let _subscriptions: Vec<_> = (0..1000).map(subscribe).collect();
    until("some connections", || silent.all.load(SeqCst) >= 256);
    // Both ends of the connections belong to this process, and some connections are still being
    // opened.
    assert!(silent.most.load(SeqCst) <= 1024, "{}", silent.most.load(SeqCst));
    assert!(descriptors() <= before + 2 * 1024 + 64, "{}", descriptors());
    assert!(threads() <= MOST_THREADS, "{}", threads());
}

#[test]
fn who_sends_a_byte_now_and_then_is_not_waited_for() {
    let _alone = alone();
    let master = FakeMaster::new(|_, _| Answer::InBytes);
    let node = Node::new("/asks", &master.uri()).unwrap();
    let error = node.master().system_state().unwrap_err().to_string();
    assert!(error.contains("no complete answer arrived within 5 s"), "{error}");
    until("the end of the connection", || {
        let before = master.bytes.load(SeqCst);
        std::thread::sleep(Duration::from_millis(500));
        master.bytes.load(SeqCst) == before
    });
    assert!(master.bytes.load(SeqCst) < 2000);
    // The same is true for a TCPROS header and for a call.
    drop(master);
    let master = FakeMaster::new(|_, _| Answer::With(list(&[])));
    let node = Node::new("/is_asked", &master.uri()).unwrap();
    let _publication = node.advertise(publishing("/served")).unwrap();
    let api = master.api.lock().unwrap().clone();
    let mut connected = [&api, &tcpros_of(&api, "/served")]
        .map(|uri| Address::parse(uri).unwrap().connect(WATCHDOG).unwrap());
    connected[1].write_all(&1_000_000_u32.to_le_bytes()).unwrap();
    for stream in &mut connected {
        let ended = (0..2000).find(|_| {
            std::thread::sleep(Duration::from_millis(20));
            stream.write_all(b"P").is_err()
        });
        assert!(ended.is_some(), "a connection survives with a byte now and then");
    }
}

/// Returns the TCPROS address at which a node publishes the topic.
fn tcpros_of(api: &str, topic: &str) -> String {
    let mut stream = Address::parse(api).unwrap().connect(WATCHDOG).unwrap();
    let body = format!(
        "<methodCall><methodName>requestTopic</methodName><params><param><value>/t</value></param>\
         <param><value>{topic}</value></param><param><value><array><data><value><array><data>\
         <value>TCPROS</value></data></array></value></data></array></value></param></params></methodCall>"
    );
    let head = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).unwrap();
    let answer = feros_ros1::read_answer(&read_response(&mut stream).unwrap()).unwrap();
    let place = answer.as_list()[2].as_list();
    format!("http://{}:{}/", place[1].as_text().unwrap(), place[2].as_int().unwrap())
}

#[test]
fn a_node_ends_although_its_master_is_slow() {
    let _alone = alone();
    let is_slow = Arc::new(AtomicBool::new(false));
    let slow = is_slow.clone();
    let master = FakeMaster::new(move |_, _| match slow.load(SeqCst) {
        true => Answer::InBytes,
        false => Answer::With(list(&[])),
    });
    let node = Node::new("/ends", &master.uri()).unwrap();
    let subscribe = |number| node.subscribe(subscribing(&format!("/topic{number}"))).unwrap();
    let subscriptions: Vec<_> = (0..50).map(subscribe).collect();
    assert_eq!(master.asked.swap(0, SeqCst), 50);
    is_slow.store(true, SeqCst);
    drop((subscriptions, node));
    assert_eq!(master.asked.load(SeqCst), 1, "a master that does not answer is not asked again");
}

#[test]
fn strangers_take_a_bounded_number_of_connections() {
    let _alone = alone();
    let master = FakeMaster::new(|_, _| Answer::With(list(&[])));
    let node = Node::new("/serves", &master.uri()).unwrap();
    let _publication = node.advertise(publishing("/served")).unwrap();
    let api = master.api.lock().unwrap().clone();
    let place = Address::parse(&api).unwrap();
    let mut strangers: Vec<_> = (0..300).map(|_| place.connect(WATCHDOG).unwrap()).collect();
    let mut ended = || {
        strangers.retain_mut(|stream| {
            stream.set_nonblocking(true).unwrap();
            !matches!(stream.read(&mut [0]), Ok(0))
        });
        300 - strangers.len()
    };
    until("the connections without a slot", || ended() >= 300 - MOST_STRANGERS);
    assert!(threads() <= MOST_THREADS, "{}", threads());
    drop(strangers);
    until("a free slot", || {
        let mut stream = place.connect(WATCHDOG).unwrap();
        let body = "<methodCall><methodName>getPid</methodName></methodCall>";
        let head = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + body).as_bytes()).is_ok() && read_response(&mut stream).is_ok()
    });
}

fn greet(place: &Address, fields: &[(&str, &str)]) -> (TcpStream, ConnectionHeader) {
    let mut stream = place.connect(WATCHDOG).unwrap();
    stream.write_all(&ConnectionHeader::new(fields).to_bytes()).unwrap();
    let mut len = [0; 4];
    stream.read_exact(&mut len).unwrap();
    let mut bytes = vec![0; u32::from_le_bytes(len) as usize];
    stream.read_exact(&mut bytes).unwrap();
    (stream, ConnectionHeader::parse(&bytes).unwrap())
}

#[test]
fn subscribers_and_calls_make_no_threads() {
    let _alone = alone();
    let master = FakeMaster::new(|_, _| Answer::With(list(&[])));
    let node = Node::new("/serves", &master.uri()).unwrap();
    let publication: Arc<Publication> = node.advertise(publishing("/served")).unwrap();
    let place = tcpros_of(&master.api.lock().unwrap(), "/served");
    let place = Address::parse(&place).unwrap();
    let (told, answers) = tokio::sync::watch::channel(false);
    let handler = move |request: &[u8]| -> feros_ros1::Answer {
        let (request, mut answers) = (request.to_vec(), answers.clone());
        Box::pin(async move {
            let _ = answers.wait_for(|told| *told).await;
            Ok(request)
        })
    };
    let service = ServiceOptions {
        service: "/slow".to_owned(),
        type_name: "std_srvs/Empty".to_owned(),
        md5sum: MD5.to_owned(),
        handler: Arc::new(handler),
    };
    node.serve(service).unwrap();
    // Both ends of each connection belong to this process. So the test uses far fewer connections
    // than the limit, in case only few descriptors are allowed.
    let callers: Vec<_> = (0..100)
        .map(|_| {
            let fields = [("callerid", "/c"), ("service", "/slow"), ("md5sum", MD5)];
            let (mut stream, header) = greet(&place, &fields);
            assert!(!header.has("error"));
            stream.write_all(&[3, 0, 0, 0, 7, 8, 9]).unwrap();
            stream
        })
        .collect();
    let subscribe = || greet(&place, &[("callerid", "/s"), ("topic", "/served"), ("md5sum", MD5)]);
    let subscribers: Vec<_> = (0..100).map(|_| subscribe()).collect();
    until("all subscribers", || publication.connections() == 100);
    assert!(threads() <= MOST_THREADS, "{}", threads());
    publication.publish(0, Arc::new(vec![1, 0, 0, 0, 5]));
    for (mut stream, _) in subscribers {
        let mut message = [0; 5];
        stream.read_exact(&mut message).unwrap();
        assert_eq!(message, [1, 0, 0, 0, 5]);
    }
    until("the end of the subscribers", || publication.connections() == 0);
    told.send(true).unwrap();
    for mut stream in callers {
        let mut answer = [0; 8];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [1, 3, 0, 0, 0, 7, 8, 9]);
    }
}
