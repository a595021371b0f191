//! Tests with masters, publishers and subscribers that try to exhaust the threads, descriptors and
//! time of a node. The tests check that the use of each of these remains below its limit.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "hostile/masters.rs"]
mod masters;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use feros_ros1::{
    Address, ConnectionHeader, Node, Publication, PublicationOptions, ServiceOptions,
    SubscriptionOptions, read_response,
};
use feros_test_support::{WATCHDOG, until};

use masters::{HostileMaster, SilentPublishers};

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
    let silent = SilentPublishers::start();
    let (first, more) = (silent.uris(30_000), silent.uris(60_000));
    let master = HostileMaster::new(0, &first);
    let node = Node::new("/hears", &master.uri()).unwrap();
    let _subscription = node.subscribe(subscribing("/flood")).unwrap();
    until("the most allowed connections", || silent.now() == MOST_OF_A_TOPIC);
    master.update_publishers("/flood", &more);
    // After the timeout, the node tries the same connections again, and tries no other connections.
    until("a second round", || silent.all() >= 2 * MOST_OF_A_TOPIC);
    assert_eq!(silent.most(), MOST_OF_A_TOPIC);
    assert!(threads() <= MOST_THREADS, "{}", threads());
}

#[test]
fn many_topics_make_neither_threads_nor_connections() {
    let _alone = alone();
    let silent = SilentPublishers::start();
    let master = HostileMaster::new(0, &silent.uris(3));
    let (before, node) = (descriptors(), Node::new("/hears", &master.uri()).unwrap());
    let subscribe = |number| node.subscribe(subscribing(&format!("/topic{number}"))).unwrap();
    let _subscriptions: Vec<_> = (0..1000).map(subscribe).collect();
    until("some connections", || silent.all() >= 256);
    // Both ends of the connections belong to this process, and some connections are still being
    // opened.
    assert!(silent.most() <= 1024, "{}", silent.most());
    assert!(descriptors() <= before + 2 * 1024 + 64, "{}", descriptors());
    assert!(threads() <= MOST_THREADS, "{}", threads());
}

#[test]
fn who_sends_a_byte_now_and_then_is_not_waited_for() {
    let _alone = alone();
    let master = HostileMaster::new(0, &[]);
    master.is_slow.store(true, SeqCst);
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
    let master = HostileMaster::new(0, &[]);
    let node = Node::new("/is_asked", &master.uri()).unwrap();
    let _publication = node.advertise(publishing("/served")).unwrap();
    let api = master.api();
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
    let master = HostileMaster::new(0, &[]);
    let node = Node::new("/ends", &master.uri()).unwrap();
    let subscribe = |number| node.subscribe(subscribing(&format!("/topic{number}"))).unwrap();
    let subscriptions: Vec<_> = (0..50).map(subscribe).collect();
    assert_eq!(master.asked.swap(0, SeqCst), 50);
    master.is_slow.store(true, SeqCst);
    drop((subscriptions, node));
    assert_eq!(master.asked.load(SeqCst), 1, "a master that does not answer is not asked again");
}

#[test]
fn strangers_take_a_bounded_number_of_connections() {
    let _alone = alone();
    let master = HostileMaster::new(0, &[]);
    let node = Node::new("/serves", &master.uri()).unwrap();
    let _publication = node.advertise(publishing("/served")).unwrap();
    let api = master.api();
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
    let master = HostileMaster::new(0, &[]);
    let node = Node::new("/serves", &master.uri()).unwrap();
    let publication: Arc<Publication> = node.advertise(publishing("/served")).unwrap();
    let place = tcpros_of(&master.api(), "/served");
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
