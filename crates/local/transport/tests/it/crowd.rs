//! Tests that many endpoints of one topic that reach a limit do not fill the log. Each of them
//! knows of many others that it cannot be connected to, so a line for each would be thousands of
//! lines.

use std::io::Read as _;
use std::process::Command;
use std::sync::Mutex;

use feros_engine::{Payload, QosProfile};
use feros_shm::{Reason, Transport, TransportSet};
use feros_test_support::{TestProcess, listen_to_log, own_domain};
use feros_transport::{Publisher, Receiver, Subscription};

use crate::support::{Place, until};

/// The number of publishers, and the number of subscriptions.
const ENDS: usize = 40;
/// The number of subscriptions that a publisher serves through shared memory.
const SERVED: usize = 16;
/// The variable with the domain and the topic of a separate process of this program.
const PLACE_VARIABLE: &str = "FEROS_TEST_CROWDED_PLACE";
const END_OF_LOG: &str = "end of the log";

/// The log lines of all tests in this process.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn listen() {
    listen_to_log(|_, line| LOG.lock().unwrap().push(line));
}

/// The log lines about the topic.
fn logged(topic: &str) -> Vec<String> {
    LOG.lock().unwrap().iter().filter(|line| line.contains(topic)).cloned().collect()
}

fn transports() -> TransportSet {
    TransportSet::from(Transport::SharedMemory).with(Transport::Network)
}

fn publishers(place: &Place) -> Vec<Publisher> {
    (0..ENDS).map(|_| place.publisher(transports(), QosProfile::keep_last(10))).collect()
}

fn subscriptions(place: &Place) -> Vec<(Subscription, Receiver<Payload>)> {
    (0..ENDS).map(|_| place.subscription(transports(), QosProfile::keep_last(10))).collect()
}

/// Waits until no publisher has a free slot, and all subscriptions without a slot know this.
fn wait_for_the_limit(subscriptions: &[(Subscription, Receiver<Payload>)]) {
    let full = Some(Reason::TooManySubscriptions { limit: SERVED });
    until("the limit of each publisher", || {
        let matches = subscriptions.iter().flat_map(|(one, _)| one.transports());
        let declined = matches.filter(|found| found.reason == full).count();
        (declined == ENDS * (ENDS - SERVED)).then_some(())
    });
}

/// Of 960 connections without a slot, the 1st, 2nd, 4th and so on are logged. Connections that fail
/// several times, or at first for another reason, may add a few lines.
fn check(lines: &[String]) {
    let of_limit = lines.iter().filter(|line| line.contains("serves 16 subscriptions"));
    let of_limit: Vec<&String> = of_limit.collect();
    assert!((10..=12).contains(&of_limit.len()) && lines.len() < 30, "{lines:?}");
    for part in ["max_subscriptions", "FEROS_MAX_SUBSCRIPTIONS", "feros topic info -v"] {
        assert!(of_limit.iter().all(|line| line.contains(part)), "{part} is missing: {lines:?}");
    }
    assert!(of_limit.iter().any(|line| line.contains("(512 so far)")), "{lines:?}");
}

#[test]
fn in_one_process() {
    listen();
    let (here, there) = (Place::new(), Place::new());
    let publishers = publishers(&here);
    let subscriptions = subscriptions(&there);
    wait_for_the_limit(&subscriptions);
    check(&logged(here.topic()));
    drop((publishers, subscriptions));
}

#[test]
fn between_two_processes() {
    let place = Place::new();
    let publishers = publishers(&place);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(PLACE_VARIABLE, format!("{} {}", own_domain(), place.topic()));
    let mut process = TestProcess::start(command, "crowd::the_other_process");
    let said = std::iter::repeat_with(|| process.line());
    let said = said.take_while(|line| line != END_OF_LOG);
    let lines: Vec<String> =
        said.filter_map(|line| line.strip_prefix("logged ").map(str::to_owned)).collect();
    process.end();
    check(&lines);
    drop(publishers);
}

/// The code of the other process. In a normal test run, this test does nothing.
#[test]
fn the_other_process() {
    let Ok(place) = std::env::var(PLACE_VARIABLE) else { return };
    let (domain, topic) = place.split_once(' ').unwrap();
    listen();
    let place = Place::on(domain.parse().unwrap(), topic.to_owned());
    let subscriptions = subscriptions(&place);
    wait_for_the_limit(&subscriptions);
    println!(); // the harness writes the name of the test at the start of the line
    for line in logged(topic) {
        println!("logged {line}");
    }
    println!("{END_OF_LOG}");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap(); // returns when the parent closes it
}
