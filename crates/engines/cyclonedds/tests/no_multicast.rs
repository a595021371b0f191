//! Tests that a session logs one warning if multicast is impossible, and that the nodes of the host
//! still find each other. The test runs in its own network namespace, if the kernel lets users
//! create a namespace.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod meeting;
mod namespace;

use std::sync::Arc;

use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::engine::LOG_TARGET;
use feros_engine::{DiscoveryRange, Engine, Session, SessionOptions};
use feros_test_support::{listen_to_log, skip};
use meeting::find_each_other;
use namespace::in_namespace;

/// The environment variable that names the case for the child.
const CASE: &str = "FEROS_TEST_NO_MULTICAST_CASE";

/// Checks the output of each case, and reports all cases that could not run.
fn in_namespaces(cases: &[(&str, &str)], check: impl Fn(&str, &str)) {
    let mut missing = Vec::new();
    for (setup, case) in cases {
        match in_namespace(setup, CASE, case) {
            Ok(output) => check(setup, &output),
            Err(why) => missing.push(why),
        }
    }
    if !missing.is_empty() {
        skip(format!(
            "{} of {} cases: network namespaces of a user take util-linux, iproute2 and a kernel \
             that permits them: {}",
            missing.len(),
            cases.len(),
            missing.join("; ")
        ));
    }
}

const LOOPBACK: &str = "ip link set lo up";
const TUNNEL: &str = "ip link set lo up && ip link add t0 type veth peer name t1 && ip addr add 10.9.0.1/24 dev t0 && \
    ip link set t0 multicast off up && ip link set t1 up";

/// Returns the engine's log lines about multicast.
fn warnings(output: &str) -> Vec<&str> {
    output.lines().filter(|line| line.contains("multicast is not possible")).collect()
}

#[test]
fn one_warning_is_logged_and_the_host_is_still_connected() {
    in_namespaces(&[(LOOPBACK, "subnet"), (TUNNEL, "subnet")], |setup, output| {
        let interface = if setup == LOOPBACK { "lo" } else { "t0" };
        let said = warnings(output);
        assert_eq!(said.len(), 1, "{output}");
        let cures = [format!("on {interface}:"), "LOCALHOST".into(), "ROS_STATIC_PEERS".into()];
        assert!(cures.iter().all(|cure| said[0].contains(cure)), "{output}");
        assert!(output.contains("found each other"), "{output}");
    });
}

#[test]
fn no_warning_is_logged_where_multicast_is_unwanted_or_possible() {
    let multicast = "ip link set lo up && ip link set lo multicast on";
    let cases = [(LOOPBACK, "localhost"), (LOOPBACK, "peers"), (multicast, "subnet")];
    in_namespaces(&cases, |_, output| {
        assert_eq!(warnings(output), Vec::<&str>::new(), "{output}");
        assert!(output.contains("found each other"), "{output}");
    });
}

fn open(domain_id: u32, case: &str) -> Arc<dyn Session> {
    // This process has two stacks. On the network, they form one domain.
    let configuration = "<CycloneDDS><Domain id=\"64\"><Discovery><ExternalDomainId>63</ExternalDomainId></Discovery>\
        </Domain></CycloneDDS>";
    let (discovery_range, static_peers) = match case {
        "localhost" => (DiscoveryRange::Localhost, vec![]),
        "peers" => (DiscoveryRange::Subnet, vec!["127.0.0.1".into()]),
        _ => (DiscoveryRange::Subnet, vec![]),
    };
    let options =
        SessionOptions { domain_id, discovery_range, static_peers, ..SessionOptions::default() };
    ConfiguredCycloneEngine { configuration: configuration.into() }.open(&options).unwrap()
}

/// The code that the tests above run in a namespace.
#[test]
#[ignore = "run by the other tests, in a network namespace"]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    listen_to_log(|target, text| {
        if target == LOG_TARGET {
            println!("WARNING {text}");
        }
    });
    let (near, far) = (open(63, &case), open(64, &case));
    find_each_other(&near, &far, "the nodes of this host do not find each other");
    println!("found each other");
}
