//! Tests of hosts that no multicast connects: they find each other if they know the same meeting
//! point, and hosts that list each other do not lose each other.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod namespace;

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use feros_conformance::TestNode;
use feros_cyclonedds::CycloneEngine;
use feros_engine::engine::meeting_points;
use feros_engine::{DiscoveryRange, Engine as _, QosProfile, SessionOptions};
use feros_test_support::{TestProcess, Watchdog, obey, skip, until, words_of};
use namespace::in_namespace;

/// The number of the host of a process of these tests.
const HOST: &str = "FEROS_TEST_HOSTS_HOST";
/// The meeting points of this process.
const POINTS: &str = "FEROS_TEST_HOSTS_POINTS";
/// The static peers of this process.
const PEERS: &str = "FEROS_TEST_HOSTS_PEERS";
/// The variable that selects the case of `child`.
const CASE: &str = "FEROS_TEST_HOSTS_CASE";

/// A participant announces itself again soon, so that the test is short.
const OFTEN: &str = "<CycloneDDS><Domain><Discovery><SPDPInterval>500ms</SPDPInterval>\
    </Discovery></Domain></CycloneDDS>";
/// Others soon forget a participant that sends them nothing.
const SHORT_LEASE: &str = "<CycloneDDS><Domain><Discovery><LeaseDuration>4s</LeaseDuration>\
    </Discovery></Domain></CycloneDDS>";
/// Longer than that lease.
const LONG: Duration = Duration::from_secs(7);

/// A process of these tests: it has a publisher, and says which publishers it knows.
#[test]
fn process() {
    let Ok(host) = std::env::var(HOST) else { return };
    let hosts = |variable| std::env::var(variable).map(|list| meeting_points::hosts(&list));
    let options = SessionOptions {
        discovery_range: DiscoveryRange::Subnet,
        static_peers: hosts(PEERS).unwrap_or_default(),
        meeting_points: hosts(POINTS).unwrap_or_default(),
        ..SessionOptions::localhost(7)
    };
    let node = TestNode::new(CycloneEngine.open(&options).unwrap());
    let _publisher = node.publisher(&format!("/of_{host}"), QosProfile::default());
    obey(|_| {
        let graph = node.session.graph();
        let names = graph.endpoints.iter().map(|endpoint| endpoint.name.as_str());
        let names: BTreeSet<_> = names.filter(|name| name.starts_with("/of_")).collect();
        println!("topics: {}", names.into_iter().collect::<Vec<_>>().join(" "));
    });
}

/// A host in a network of its own. The namespace of the test routes between the hosts, but it
/// routes no multicast.
struct Host {
    number: usize,
    /// Its process keeps the network namespace.
    keeper: Child,
}

impl Host {
    fn new(number: usize) -> Self {
        let mut keeper = Command::new("unshare");
        keeper.args(["--net", "sh", "-c", "echo made && exec cat"]);
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut made = [0; 5];
        std::io::Read::read_exact(keeper.stdout.as_mut().unwrap(), &mut made).unwrap();
        let host = Self { number, keeper };
        let (address, router, id) = (host.address(), host.router(), host.keeper.id());
        let outside = format!(
            "ip link add h{number} type veth peer name eth0 netns {id} && \
             ip addr add {router}/24 dev h{number} && ip link set h{number} up"
        );
        run(Command::new("sh").args(["-c", &outside]));
        let inside = format!(
            "ip link set lo up && ip addr add {address}/24 dev eth0 && ip link set eth0 up && \
             ip route add default via {router}"
        );
        run(host.command().args(["sh", "-c", &inside]));
        host
    }

    fn address(&self) -> String {
        format!("10.9.{}.2", self.number)
    }

    fn router(&self) -> String {
        format!("10.9.{}.1", self.number)
    }

    /// A command that runs on this host; its program is still to be added.
    fn command(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.keeper.id()));
        command
    }

    /// Starts a process for which this variable has these hosts.
    fn start(&self, variable: &str, hosts: &[&Host], configuration: &str) -> TestProcess {
        let mut command = self.command();
        command.args(words_of(std::env::current_exe().unwrap()));
        let hosts: Vec<_> = hosts.iter().map(|host| host.address()).collect();
        command.env(HOST, self.number.to_string()).env(variable, hosts.join(";"));
        command.env("CYCLONEDDS_URI", configuration);
        TestProcess::start(command, "process")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        self.keeper.wait().unwrap();
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// Returns the topics that a process knows.
fn known(process: &mut TestProcess) -> String {
    process.tell("topics");
    let known = process.said("topics: ");
    process.said("topics");
    known
}

fn wait_until_known(processes: &mut [TestProcess], expected: &str) {
    for (number, process) in processes.iter_mut().enumerate() {
        let what = format!("process {number} knows {expected}");
        until(&what, || known(process) == expected);
    }
}

#[test]
#[ignore = "runs in a network namespace of its own"]
fn child() {
    let _watchdog = Watchdog::start();
    if std::env::var(CASE).unwrap() == "points" { meet() } else { list_each_other() }
}

fn meet() {
    let hosts: Vec<_> = (0..4).map(Host::new).collect();
    let [first, base, third, far] = &hosts[..] else { panic!("four hosts") };
    // The far host has another meeting point, and the third host has both.
    let mut processes = vec![
        first.start(POINTS, &[base], OFTEN),
        base.start(POINTS, &[base], OFTEN),
        third.start(POINTS, &[base, third], OFTEN),
        far.start(POINTS, &[third], OFTEN),
        base.start(POINTS, &[base], OFTEN),
    ];
    processes.iter_mut().for_each(|process| drop(process.said("ready")));
    wait_until_known(&mut processes, "/of_0 /of_1 /of_2 /of_3");
    // The meeting point may end.
    for number in [4, 1] {
        processes.remove(number).end();
    }
    wait_until_known(&mut processes, "/of_0 /of_2 /of_3");
    println!("done");
}

fn list_each_other() {
    const ALL: &str = "/of_0 /of_1 /of_2";
    let hosts: Vec<_> = (0..3).map(Host::new).collect();
    let all: Vec<_> = hosts.iter().collect();
    let start = |host: &Host| host.start(PEERS, &all, SHORT_LEASE);
    let mut processes: Vec<_> = hosts.iter().map(start).collect();
    processes.iter_mut().for_each(|process| drop(process.said("ready")));
    wait_until_known(&mut processes, ALL);
    std::thread::sleep(LONG);
    for process in &mut processes {
        assert_eq!(known(process), ALL);
    }
    println!("done");
}

fn check(case: &str) {
    let setup = "ip link set lo up && echo 1 > /proc/sys/net/ipv4/ip_forward && unshare --net true";
    match in_namespace(setup, CASE, case) {
        Ok(output) => assert!(output.contains("done"), "{output}"),
        Err(why) => skip(why),
    }
}

#[test]
fn hosts_with_the_same_meeting_point_find_each_other() {
    check("points");
}

/// See `called_hosts.patch`.
#[test]
fn hosts_that_list_each_other_do_not_lose_each_other() {
    check("peers");
}
