//! Masters that name very many topics and publishers, or that answer one byte at a time: the bridge
//! limits its threads, descriptors and lines, and a signal still ends it.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use feros_ros1::{read_call, read_request};
use feros_test_support::until;

use crate::peers::World;

/// The topics that the master names; a thread for each would exceed the limit below.
const TOPICS: usize = 1500;
/// The limit on threads: the bridge has four for connections and 32 for waiting tasks; the rest are
/// those of ROS 2.
const MOST_THREADS: usize = 100;
/// The limit on descriptors: 1,024 connections, and the files of ROS 2.
const MOST_DESCRIPTORS: usize = 1024 + 100;

/// The test's own master.
struct FakeMaster {
    port: u16,
    /// Whether it answers a byte at a time, with pauses.
    is_slow: Arc<AtomicBool>,
    /// The number of registrations, and of all requests.
    registered: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl FakeMaster {
    fn new(topics: usize, publishers: Vec<String>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let master = Self {
            port: listener.local_addr().unwrap().port(),
            is_slow: Arc::default(),
            registered: Arc::default(),
            asked: Arc::default(),
            is_over: Arc::default(),
        };
        let (slow, over) = (master.is_slow.clone(), master.is_over.clone());
        let (registered, asked) = (master.registered.clone(), master.asked.clone());
        let thread = std::thread::Builder::new().name("test-master".to_owned());
        let serve = move || {
            for stream in listener.incoming() {
                if over.load(SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                let Ok(Some(text)) = read_request(&mut stream) else { continue };
                let (method, _) = read_call(&text).unwrap();
                asked.fetch_add(1, SeqCst);
                if slow.load(SeqCst) {
                    send_bytes(&mut stream, &over);
                    continue;
                }
                registered.fetch_add(usize::from(method.starts_with("register")), SeqCst);
                let value = match &*method {
                    "getSystemState" => list(&[state(topics), list(&[]), list(&[])]),
                    "getTopicTypes" => list(&types(topics)),
                    "getUri" => text_of("http://fake:1/"),
                    _ => list(&publishers.iter().map(|uri| text_of(uri)).collect::<Vec<_>>()),
                };
                let _ = stream.write_all(answer(&value).as_bytes()); // the bridge may have ended
            }
        };
        thread.spawn(serve).unwrap();
        master
    }
}

impl Drop for FakeMaster {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)); // which wakes it
    }
}

/// Sends a byte now and then, until the client has gone.
fn send_bytes(stream: &mut TcpStream, is_over: &AtomicBool) {
    while stream.write_all(b"H").is_ok() && !is_over.load(SeqCst) {
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn text_of(text: &str) -> String {
    format!("<value>{text}</value>")
}

fn list(values: &[String]) -> String {
    format!("<value><array><data>{}</data></array></value>", values.concat())
}

fn state(topics: usize) -> String {
    let entry = |number| list(&[text_of(&format!("/t{number}")), list(&[text_of("/liar")])]);
    list(&(0..topics).map(entry).collect::<Vec<_>>())
}

fn types(topics: usize) -> Vec<String> {
    let entry = |number| list(&[text_of(&format!("/t{number}")), text_of("std_msgs/String")]);
    (0..topics).map(entry).collect()
}

fn answer(value: &str) -> String {
    let value = list(&["<value><int>1</int></value>".to_owned(), text_of(""), value.to_owned()]);
    let body = format!("<methodResponse><params><param>{value}</param></params></methodResponse>");
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn very_many_topics_make_neither_threads_nor_lines() {
    // It accepts connections into its backlog and never answers.
    let silent = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let publishers =
        (1..=20).map(|host| format!("http://127.1.{}.{}:{port}/", host / 250, host % 250 + 1));
    let master = FakeMaster::new(TOPICS, publishers.collect());
    let world = World::under(master.port);
    let mut bridge = world.bridge(&["--bridge-all-1to2-topics"]);
    let mut most = (0, 0);
    until("all topics", || {
        let (threads, descriptors) = bridge.threads_and_descriptors();
        most = (most.0.max(threads), most.1.max(descriptors));
        master.registered.load(SeqCst) >= TOPICS
    });
    bridge.line(|line| line.contains("more topics from ROS 1 to ROS 2"));
    assert!(most.0 <= MOST_THREADS && most.1 <= MOST_DESCRIPTORS, "{most:?}");
    let said = bridge.interrupt();
    assert!(said.len() < 600, "{} lines", said.len());
    let has_more = |line: &&String| line.contains("has more publishers than connections");
    assert!((1..=64).contains(&said.iter().filter(has_more).count()), "{said:#?}");
}

#[test]
fn a_master_that_answers_a_byte_at_a_time_does_not_hold_the_bridge() {
    let master = FakeMaster::new(100, Vec::new());
    let world = World::under(master.port);
    let mut bridge = world.bridge(&["--bridge-all-1to2-topics"]);
    bridge.line(|line| line.contains("bridged: topic /t99 "));
    master.is_slow.store(true, SeqCst);
    let said = bridge.line(|line| line.contains("no ROS 1 master at"));
    assert!(said.contains("no complete answer arrived within 5 s"), "{said}");
    master.asked.store(0, SeqCst);
    let said = bridge.interrupt();
    assert_eq!(said.iter().filter(|line| line.contains("no ROS 1 master at")).count(), 1);
    // The check that was under way, and one attempt, out of 100, to report an end.
    let asked = master.asked.load(SeqCst);
    assert!(asked <= 3, "{asked} times");
}
