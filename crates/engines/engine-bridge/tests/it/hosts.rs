//! Tests with two hosts, each in its own network namespace, and with a bridge on the first host.
//! The tests interrupt the link between the hosts for some time, and check the bridged messages.
//!
//! The tests need root. Without root, they are skipped with a message. The bridge runs in a
//! separate process of this program.

use std::sync::Arc;

use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{Engine as _, QosProfile, Session, SessionOptions, SubscriptionEvent};
use feros_engine_bridge::{BridgeOptions, Counts};
use feros_link::{Link, LinkOptions, Namespace, NamespaceError};
use feros_test_support::{TestProcess, Watchdog, eventually, skip, until};

use crate::ends::{Listener, Robot, Running, Talker, World, bridge_of, number_in, numbered};

/// The variable with the domains of the bridge on a host, and with its lease.
const BRIDGE_VARIABLE: &str = "FEROS_TEST_BRIDGE_ON_A_HOST";

/// Opens a session on the network of the host that this thread is on. Other participants forget the
/// session's participant when it has been silent for the time `lease`.
fn session(domain_id: u32, lease: &str) -> Arc<dyn Session> {
    let configuration =
        format!("<Domain><Discovery><LeaseDuration>{lease}</LeaseDuration></Discovery></Domain>");
    let options = SessionOptions { domain_id, ..SessionOptions::default() };
    ConfiguredCycloneEngine { configuration }.open(&options).unwrap()
}

/// The code of the bridge's process, which prints the bridge's counts. In a normal test run, this
/// test does nothing.
#[test]
fn bridge_on_a_host() {
    let Ok(told) = std::env::var(BRIDGE_VARIABLE) else { return };
    let [near, far, lease] = told.split(',').collect::<Vec<_>>()[..] else { panic!("{told}") };
    let sessions = [near, far].map(|id| session(id.parse().unwrap(), lease));
    let running = Running::start(bridge_of(&sessions, BridgeOptions::default()));
    println!("bridging");
    // The loop, and with it the process, ends when the parent process ends.
    for _ in std::io::stdin().lines() {
        let Counts { messages, calls, lost, failed } = running.counts(0, 1);
        println!("counts: {messages} {calls} {lost} {failed}");
    }
}

fn start_bridge(host: &Namespace, domains: [u32; 2], lease: &str) -> TestProcess {
    let mut command = host.command(std::env::current_exe().unwrap());
    command.env(BRIDGE_VARIABLE, format!("{},{},{lease}", domains[0], domains[1]));
    let mut process = TestProcess::start(command, "hosts::bridge_on_a_host");
    process.said("bridging");
    process
}

fn counts(bridge: &mut TestProcess) -> Counts {
    bridge.tell("");
    let said = bridge.said("counts: ");
    let counted: Vec<u64> = said.split(' ').map(|count| count.parse().unwrap()).collect();
    let [messages, calls, lost, failed] = counted[..] else { panic!("{said}") };
    Counts { messages, calls, lost, failed }
}

/// Two hosts with one robot each, in separate domains, and a bridge on the first host.
struct Hosts {
    near: Robot,
    far: Robot,
    bridge: TestProcess,
    link: Link,
    _hosts: [Namespace; 2],
    _world: World,
}

fn whole() -> LinkOptions {
    LinkOptions::default()
}

impl Hosts {
    /// Creates the hosts. Returns `None` if the test is not permitted to create them.
    fn new(lease: &str) -> Option<Self> {
        let hosts = Namespace::new().and_then(|near| Ok([near, Namespace::new()?]));
        let hosts = match hosts {
            Ok(hosts) => hosts,
            Err(error @ NamespaceError::NotPermitted { .. }) => {
                skip(error);
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let link = Link::between(&hosts[0], &hosts[1], whole()).unwrap();
        let world = World::new();
        let domains = [0, 1].map(|side| world.domain_id(side));
        let bridge = start_bridge(&hosts[0], domains, lease);
        let [near, far] = [0, 1].map(|side| {
            let session = hosts[side].run(|| session(domains[side], lease)).unwrap();
            Robot::on(session, "robot")
        });
        Some(Self { near, far, bridge, link, _hosts: hosts, _world: world })
    }

    fn cut(&self) {
        self.link.set(LinkOptions { loss: 1.0, ..whole() }).unwrap();
    }

    fn heal(&self) {
        self.link.set(whole()).unwrap();
    }
}

/// Publishes numbers until one number arrives, and then ten more, which must all arrive. Returns
/// the next number.
fn talk(talker: &Talker, listener: &Listener, from: u32) -> u32 {
    talker.wait_for_matches(1);
    listener.wait_for_matches(1);
    let mut next = from;
    let mut heard = eventually(|| {
        talker.say(&numbered(next));
        next += 1;
        listener.0.take().unwrap().map(|sample| number_in(&sample.payload)).ok_or("a number")
    });
    assert!(heard >= from, "{heard} is from before {from}");
    while heard + 1 < next {
        let after = listener.next_number();
        assert_eq!(after, heard + 1);
        heard = after;
    }
    for number in next..next + 10 {
        talker.say(&numbered(number));
        assert_eq!(listener.next_number(), number);
    }
    assert!(listener.has_nothing(), "a message arrived twice");
    next + 10
}

/// Returns the number of messages that the listener has lost. Ignores the listener's other events.
fn lost(listener: &Listener) -> u64 {
    let mut lost = 0;
    while let Some(event) = listener.0.take_event().unwrap() {
        if let SubscriptionEvent::MessageLost { total, .. } = event {
            lost = total;
        }
    }
    lost
}

/// During a long interruption, the bridge notices that it can no longer reach the other host, and
/// drops the messages that are published in the meantime. When the link works again, messages and
/// calls continue.
#[test]
fn hosts_that_were_parted_talk_again() {
    let _watchdog = Watchdog::start();
    let Some(mut hosts) = Hosts::new("2s") else { return };
    let talker = hosts.near.talker("/parted", QosProfile::default());
    let listener = hosts.far.listener("/parted", QosProfile::keep_last(1000));
    let (server, caller) = (hosts.far.server("/asked"), hosts.near.caller("/asked"));
    let mut next = 0;
    for round in 0..3 {
        next = talk(&talker, &listener, next);
        caller.wait_for_server();
        let asked = caller.ask(round);
        let (request, _) = server.next();
        server.respond(&request, round + 1);
        assert_eq!(caller.next(), (asked, round + 1));
        if round < 2 {
            hosts.cut();
            talker.wait_for_matches(0);
            listener.wait_for_matches(0);
            until("the server is gone", || !caller.0.service_is_available());
            (next..next + 10).for_each(|number| talker.say(&numbered(number)));
            next += 10;
            hosts.heal();
        }
    }
    let counted = counts(&mut hosts.bridge);
    assert_eq!((counted.lost, counted.failed), (0, 0), "{counted:?}");
    assert!((30..=u64::from(next) - 20).contains(&counted.messages), "{counted:?}");
}

/// After a short interruption, the other host is not considered gone yet. The newest messages are
/// sent again, and the receiver counts the other messages as lost.
#[test]
fn messages_lost_in_a_short_interruption_are_counted() {
    let _watchdog = Watchdog::start();
    let Some(mut hosts) = Hosts::new("1000s") else { return };
    let talker = hosts.near.talker("/cut", QosProfile::keep_last(10));
    let listener = hosts.far.listener("/cut", QosProfile::keep_last(1000));
    let next = talk(&talker, &listener, 0);
    let before = counts(&mut hosts.bridge);
    assert_eq!(lost(&listener), 0);
    hosts.cut();
    let published = 100;
    for number in next..next + published {
        talker.say(&numbered(number));
        // Messages are published one at a time, because the queue of the bridge is only as long as
        // the queue of the talker.
        let passed = before.messages + u64::from(number - next) + 1;
        until("the bridge has passed it on", || counts(&mut hosts.bridge).messages == passed);
    }
    assert!(listener.has_nothing());
    hosts.heal();
    let last = next + published - 1;
    let mut heard = vec![listener.next_number()];
    while heard.last() != Some(&last) {
        heard.push(listener.next_number());
    }
    assert!(heard.is_sorted_by(|one, next| one + 1 == *next), "{heard:?}");
    assert!(heard.len() >= 10, "{heard:?}");
    assert_eq!(lost(&listener), u64::from(published) - heard.len() as u64, "{heard:?}");
    talk(&talker, &listener, last + 1);
    let counted = counts(&mut hosts.bridge);
    assert_eq!((counted.lost, counted.failed), (0, 0), "{counted:?}");
}
