//! Tests that a publisher with subscriptions on this host and on another host sends packets of two
//! sizes. To this host, packets are as large as loopback allows. To the other host, they fit into
//! an Ethernet MTU. The test reads the packet counters of the kernel in network namespaces, and
//! needs a kernel that lets users create namespaces.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::process::Command;
use std::sync::Arc;

use feros_conformance::{TestNode, TestSubscription};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{DiscoveryRange, Engine, QosProfile, Session, SessionOptions};
use feros_test_support::{skip, words_of};

/// The environment variable that names the case for the child.
const CASE: &str = "FEROS_TEST_LARGE_PACKETS_CASE";
/// The environment variable that names the process whose network namespace is the other host.
const OTHER_HOST: &str = "FEROS_TEST_LARGE_PACKETS_OTHER_HOST";

const BYTES: usize = 1_000_000;
const MESSAGES: usize = 10;

/// Creates two hosts that are connected by Ethernet, and runs a command on the first host.
const TWO_HOSTS: &str = r#"
    set -e
    ip link set lo up
    ip link add t0 type veth peer name t1
    ip addr add 10.9.0.1/24 dev t0
    ip link set t0 up
    unshare --net sleep 600 & other=$!
    trap 'kill $other' EXIT
    while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    ip link set t1 netns $other
    nsenter --net=/proc/$other/ns/net sh -c \
        'ip link set lo up && ip addr add 10.9.0.2/24 dev t1 && ip link set t1 up'
    FEROS_TEST_LARGE_PACKETS_OTHER_HOST=$other "$@"
"#;

/// Runs `child` on the first of two hosts, and returns its output. If namespaces are not permitted
/// or the tools are not installed, reports this and returns `None`.
fn on_two_hosts(case: &str) -> Option<String> {
    let run = |program: &[OsString]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "sh", "-c", TWO_HOSTS, "sh"]);
        command.args(program).env(CASE, case).output()
    };
    let prepared = run(&["true".into()]);
    if !prepared.as_ref().is_ok_and(|prepared| prepared.status.success()) {
        skip(format!(
            "network namespaces of a user are not to be had; they take util-linux, iproute2 and a \
             kernel that permits them: {prepared:?}"
        ));
        return None;
    }
    let mut program = words_of(std::env::current_exe().unwrap());
    program.extend(["child", "--exact", "--ignored", "--nocapture"].map(OsString::from));
    let output = run(&program).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

/// Returns a number that `child` printed.
fn value(output: &str, name: &str) -> u64 {
    let line = output.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name} in {output}")).parse().unwrap()
}

/// Returns a counter of this host's network, as defined in RFC 4293 and RFC 4113.
fn counter(protocol: &str, name: &str) -> u64 {
    let table = std::fs::read_to_string("/proc/net/snmp").unwrap();
    let mut lines = table.lines().filter_map(|line| line.strip_prefix(&format!("{protocol}: ")));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let at = names.split(' ').position(|column| column == name).unwrap();
    values.split(' ').nth(at).unwrap().parse().unwrap()
}

#[test]
fn messages_on_one_host_travel_in_large_packets() {
    let Some(output) = on_two_hosts("near") else { return };
    let sent = value(&output, "datagrams");
    // A message takes 16 packets on loopback or 780 on Ethernet. There are also some
    // acknowledgements.
    assert!(sent < 40 * MESSAGES as u64, "{sent} datagrams: {output}");
    assert_eq!(value(&output, "fragmented"), 0, "{output}");
}

#[test]
fn several_subscriptions_of_the_host_get_large_packets_each() {
    let Some(output) = on_two_hosts("several") else { return };
    let sent = value(&output, "datagrams");
    assert!(sent < 80 * MESSAGES as u64, "{sent} datagrams: {output}");
    assert_eq!(value(&output, "fragmented"), 0, "{output}");
}

#[test]
fn packets_to_other_hosts_fit_into_ethernet_frames() {
    let Some(output) = on_two_hosts("both") else { return };
    assert!(value(&output, "datagrams") > 700 * MESSAGES as u64, "{output}");
    assert_eq!(value(&output, "fragmented"), 0, "an Ethernet would carry pieces: {output}");
}

#[test]
fn lost_fragments_are_repeated_in_packets_of_the_same_size() {
    let Some(output) = on_two_hosts("lossy") else { return };
    assert_eq!(value(&output, "fragmented"), 0, "{output}");
}

/// Opens a session on its own stack, which is in domain 63 on the wire.
fn open(stack: u32, configuration: &str) -> Arc<dyn Session> {
    let configuration = format!(
        "<CycloneDDS><Domain id=\"any\"><Discovery><ExternalDomainId>63</ExternalDomainId>\
         </Discovery>{configuration}</Domain></CycloneDDS>"
    );
    let options = SessionOptions {
        domain_id: stack,
        discovery_range: DiscoveryRange::Subnet,
        ..SessionOptions::default()
    };
    ConfiguredCycloneEngine { configuration }.open(&options).unwrap()
}

fn content(message: usize) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    bytes
        .extend((4..BYTES).map(|at| (at as u8).wrapping_mul(31) ^ (at >> 8) as u8 ^ message as u8));
    bytes
}

/// Creates a subscription, and the node that it needs.
fn listen(stack: u32) -> (TestNode, TestSubscription) {
    let node = TestNode::new(open(stack, ""));
    let subscription = node.subscription("/large", QosProfile::keep_last(MESSAGES));
    (node, subscription)
}

fn receive_all((_, subscription): &(TestNode, TestSubscription)) {
    for message in 0..MESSAGES {
        let sample = subscription.next();
        assert!(*sample.payload == *content(message), "message {message} is another");
    }
}

/// The code that runs in a namespace: either the remote listener, or the talker with a listener on
/// its host.
#[test]
#[ignore = "run by the other tests, in network namespaces"]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    if case == "far" {
        return receive_all(&listen(64));
    }
    let lossy = "<Internal><Test><XmitLossiness>100</XmitLossiness></Test></Internal>";
    let node = TestNode::new(open(63, if case == "lossy" { lossy } else { "" }));
    let publisher = node.publisher("/large", QosProfile::keep_last(MESSAGES));
    let near = if case == "several" { vec![listen(64), listen(65)] } else { vec![listen(64)] };
    let far = matches!(case.as_str(), "both" | "lossy").then(|| {
        let namespace = format!("--net=/proc/{}/ns/net", std::env::var(OTHER_HOST).unwrap());
        let mut command = Command::new("nsenter");
        command.arg(namespace).args(words_of(std::env::current_exe().unwrap()));
        command.args(["child", "--exact", "--ignored", "--nocapture"]).env(CASE, "far");
        command.spawn().unwrap()
    });
    let listeners = near.len() + usize::from(far.is_some());
    publisher.wait_for_matches(listeners);
    let before = (counter("Udp", "OutDatagrams"), counter("Ip", "FragCreates"));
    for message in 0..MESSAGES {
        publisher.publish(&content(message));
    }
    near.iter().for_each(receive_all);
    if let Some(mut far) = far {
        assert!(far.wait().unwrap().success(), "the far listener");
    }
    println!("datagrams: {}", counter("Udp", "OutDatagrams") - before.0);
    println!("fragmented: {}", counter("Ip", "FragCreates") - before.1);
}
