//! Tests that processes of this host find each other in shared memory: each knows exactly what
//! exists, whatever joins, leaves or is killed, and they send each other little by the network.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod namespace;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use feros_conformance::TestNode;
use feros_cyclonedds::CycloneEngine;
use feros_engine::{DiscoveryRange, Engine as _, QosProfile, SessionOptions};
use feros_test_support::{ReservedDomain, TestProcess, Watchdog, obey, skip, this_program, until};
use namespace::in_namespace;

/// The variable with the domain of a process of these tests.
const DOMAIN: &str = "FEROS_TEST_NEIGHBOURS_DOMAIN";
const RANGE: &str = "FEROS_TEST_NEIGHBOURS_RANGE";
const NEIGHBOURS: &str = "FEROS_NEIGHBOURS";
/// The variable that selects the case of `child`.
const CASE: &str = "FEROS_TEST_NEIGHBOURS_CASE";

/// A process of these tests: it makes publishers, and says what it knows.
#[test]
fn process() {
    let Ok(domain) = std::env::var(DOMAIN) else { return };
    let is_subnet = std::env::var(RANGE).is_ok_and(|range| range == "subnet");
    let options = SessionOptions {
        discovery_range: if is_subnet { DiscoveryRange::Subnet } else { DiscoveryRange::Localhost },
        ..SessionOptions::localhost(domain.parse().unwrap())
    };
    let node = TestNode::new(CycloneEngine.open(&options).unwrap());
    let mut publishers = BTreeMap::new();
    obey(|command| match command.split_once(' ') {
        Some(("publish", topic)) => {
            publishers.insert(topic.to_owned(), node.publisher(topic, QosProfile::default()));
        }
        Some(("drop", topic)) => drop(publishers.remove(topic)),
        _ => {
            let graph = node.session.graph();
            let named = graph.endpoints.iter().filter(|endpoint| {
                matches!(&endpoint.node, feros_engine::graph::EndpointNode::Named(_))
            });
            let topics: BTreeSet<_> = named.map(|endpoint| endpoint.name.as_str()).collect();
            let topics = topics.into_iter().filter(|name| name.starts_with("/of_"));
            println!("topics: {}", topics.collect::<Vec<_>>().join(" "));
        }
    });
}

/// Processes in one domain, and the topics that each of them publishes.
struct Robot {
    domain: ReservedDomain,
    range: &'static str,
    /// The engine's configuration, if it is not that of the environment.
    configuration: Option<&'static str>,
    processes: BTreeMap<usize, (TestProcess, BTreeSet<String>)>,
    made: usize,
}

impl Robot {
    fn new(range: &'static str) -> Self {
        let domain = ReservedDomain::new();
        Self { domain, range, configuration: None, processes: BTreeMap::new(), made: 0 }
    }

    /// Starts a process, with neighbours or without them, and returns its number.
    fn start(&mut self, with_neighbours: bool) -> usize {
        let mut command = this_program();
        command.env(DOMAIN, self.domain.id().to_string()).env(RANGE, self.range);
        if !with_neighbours {
            command.env(NEIGHBOURS, "0");
        }
        if let Some(configuration) = self.configuration {
            command.env("CYCLONEDDS_URI", configuration);
        }
        let process = TestProcess::start(command, "process");
        self.made += 1;
        self.processes.insert(self.made, (process, BTreeSet::new()));
        self.made
    }

    fn wait_until_ready(&mut self) {
        for (process, _) in self.processes.values_mut() {
            process.said("ready");
        }
    }

    fn publish(&mut self, number: usize, topic: usize) {
        let topic = format!("/of_{number}_{topic}");
        let (process, topics) = self.processes.get_mut(&number).unwrap();
        process.command(&format!("publish {topic}"));
        topics.insert(topic);
    }

    fn drop_one(&mut self, number: usize) {
        let (process, topics) = self.processes.get_mut(&number).unwrap();
        if let Some(topic) = topics.pop_first() {
            process.command(&format!("drop {topic}"));
        }
    }

    /// Waits until each process knows exactly what all of them publish.
    fn wait_until_known(&mut self, after: &str) {
        let all: Vec<_> = self.processes.values().flat_map(|(_, topics)| topics).cloned().collect();
        let mut all: Vec<_> = all.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        all.sort();
        let expected = all.join(" ");
        for (number, (process, _)) in &mut self.processes {
            until(&format!("process {number} knows what there is after {after}"), || {
                process.tell("topics");
                let known = process.said("topics: ");
                process.said("topics");
                known == expected
            });
        }
    }
}

/// A sequence of numbers that looks random, and is the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// Starts, ends and kills processes, and makes and drops publishers. With `mixed`, every third
/// process finds the others by the network, and no process is killed, because that is noticed by
/// the network only after a lease of ten seconds.
fn life(seed: u64, mixed: bool) {
    let has_neighbours = |number: usize| !mixed || !number.is_multiple_of(3);
    let mut kills = 0;
    let _watchdog = Watchdog::start();
    let mut random = Random(seed);
    let mut robot = Robot::new("localhost");
    for step in 0..80 {
        let numbers: Vec<_> = robot.processes.keys().copied().collect();
        let any = numbers.get(random.below(numbers.len().max(1))).copied();
        let what = match (random.below(10), any) {
            (0..3, _) | (_, None) => {
                let number = robot.start(has_neighbours(robot.made + 1));
                robot.processes.get_mut(&number).unwrap().0.said("ready");
                robot.publish(number, 0);
                "a start"
            }
            (3..6, Some(number)) => {
                robot.publish(number, step);
                "a new publisher"
            }
            (6..8, Some(number)) => {
                robot.drop_one(number);
                "the end of a publisher"
            }
            (8, Some(number)) => {
                robot.processes.remove(&number).unwrap().0.end();
                "the end of a process"
            }
            (_, Some(number)) if !mixed => {
                kills += 1;
                robot.processes.remove(&number).unwrap().0.kill();
                "a kill"
            }
            _ => continue,
        };
        robot.wait_until_known(&format!("step {step}, {what}"));
    }
    assert_eq!(kills == 0, mixed, "{kills} kills");
}

#[test]
fn everybody_knows_exactly_what_exists() {
    life(0x2545_f491_4f6c_dd1d, false);
}

#[test]
fn everybody_knows_exactly_what_exists_beside_processes_without_neighbours() {
    life(0x9e37_79b9_7f4a_7c15, true);
}

/// A session tells which participants are neighbours, and how much came by the network.
#[test]
fn neighbours_and_what_the_network_brings_are_counted() {
    let _watchdog = Watchdog::start();
    let mut robot = Robot::new("localhost");
    let options = SessionOptions::localhost(robot.domain.id().into());
    let node = TestNode::new(CycloneEngine.open(&options).unwrap());
    let found = || {
        let (graph, own) = (node.session.graph(), node.session.gid());
        let others = graph.participants.iter().filter(|participant| participant.gid != own);
        let (neighbours, others): (Vec<_>, Vec<_>) = others.partition(|other| other.is_neighbour);
        (neighbours.len(), others.len())
    };
    robot.start(true);
    until("the neighbour is known", || found() == (1, 0));
    let before = node.session.received().unwrap();
    robot.start(false);
    until("the network has found the other process", || found() == (1, 1));
    let after = node.session.received().unwrap();
    let (datagrams, bytes) = (after.datagrams - before.datagrams, after.bytes - before.bytes);
    // The header of each datagram has 20 bytes.
    assert!(datagrams > 0 && bytes > 20 * datagrams, "{before:?} {after:?}");
}

/// The packets that have left this network namespace's interfaces.
fn packets() -> u64 {
    let devices = std::fs::read_to_string("/proc/net/dev").unwrap();
    let sent = |line: &str| line.split_once(':')?.1.split_whitespace().nth(9)?.parse::<u64>().ok();
    devices.lines().filter_map(sent).sum()
}

#[test]
#[ignore = "runs in a network namespace of its own"]
fn child() {
    let _watchdog = Watchdog::start();
    match std::env::var(CASE).unwrap().as_str() {
        "rest" => rest(),
        case => start(case == "neighbours"),
    }
}

/// A network namespace that has one interface with multicast.
const SETUP: &str = "ip link set lo up && ip link add t0 type veth peer name t1 && \
    ip addr add 10.9.0.1/24 dev t0 && ip link set t0 up && ip link set t1 up";

/// The numbers of packets that `child` prints in this case.
fn packets_of(case: &str) -> Result<Vec<u64>, String> {
    in_namespace(SETUP, CASE, case).map(|output| {
        let counts = output.lines().filter_map(|line| line.strip_prefix("packets: "));
        counts.map(|count| count.parse().unwrap()).collect()
    })
}

const PROCESSES: usize = 6;
const PUBLISHERS: usize = 5;

/// Prints how many packets some processes send until each knows what the others publish.
fn start(with_neighbours: bool) {
    let mut robot = Robot::new("subnet");
    let before = packets();
    let numbers: Vec<_> = (0..PROCESSES).map(|_| robot.start(with_neighbours)).collect();
    robot.wait_until_ready();
    for number in numbers {
        (0..PUBLISHERS).for_each(|topic| robot.publish(number, topic));
    }
    robot.wait_until_known("the start");
    println!("packets: {}", packets() - before);
}

/// By the network, each process sends each endpoint to each other process, which acknowledges it.
#[test]
fn neighbours_send_little_by_the_network() {
    match (packets_of("neighbours"), packets_of("network")) {
        (Ok(neighbours), Ok(network)) => {
            let (neighbours, network) = (neighbours[0], network[0]);
            assert!(neighbours * 4 < network, "{neighbours} packets, {network} by the network");
        }
        (Err(why), _) | (_, Err(why)) => skip(why),
    }
}

/// Twice as many participants as announce themselves at the interval of the configuration.
const MANY: usize = 40;
/// Participants with this configuration announce themselves ten times in a second.
const OFTEN: &str = "<CycloneDDS><Domain><Discovery><SPDPInterval>100ms</SPDPInterval>\
    </Discovery></Domain></CycloneDDS>";
const REST: Duration = Duration::from_secs(2);

/// Prints how many packets many processes send while nothing happens: first as neighbours, then
/// beside a process that finds them by the network.
fn rest() {
    let mut robot = Robot::new("subnet");
    robot.configuration = Some(OFTEN);
    let numbers: Vec<_> = (0..MANY).map(|_| robot.start(true)).collect();
    robot.wait_until_ready();
    numbers.into_iter().for_each(|number| robot.publish(number, 0));
    print_packets_at_rest(&mut robot);
    let other = robot.start(false);
    robot.publish(other, 0);
    print_packets_at_rest(&mut robot);
}

fn print_packets_at_rest(robot: &mut Robot) {
    robot.wait_until_known("the start");
    std::thread::sleep(REST); // until the announcements of the start are over
    let before = packets();
    std::thread::sleep(REST);
    println!("packets: {}", packets() - before);
}

/// See `announcement_rate.patch`.
#[test]
fn many_neighbours_announce_themselves_less_often_until_the_network_finds_another() {
    match packets_of("rest") {
        Ok(counts) => {
            let [neighbours, mixed] = counts[..] else { panic!("{counts:?}") };
            assert!(neighbours > 0 && neighbours * 3 < mixed * 2, "{neighbours} packets, {mixed}");
        }
        Err(why) => skip(why),
    }
}
