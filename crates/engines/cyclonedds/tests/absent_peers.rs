//! Tests that a static peer that is off does not delay the discovery of others. The test runs in
//! its own network namespace, if the kernel lets users create a namespace. There, the kernel never
//! gives up to look for the absent hosts, so the datagrams for these hosts wait forever.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod meeting;
mod namespace;

use std::sync::Arc;

use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{DiscoveryRange, Engine, Session, SessionOptions};
use feros_test_support::skip;
use meeting::find_each_other;
use namespace::in_namespace;

/// The environment variable that names the discovery range for the child.
const RANGE: &str = "FEROS_TEST_ABSENT_PEERS_RANGE";

/// An Ethernet on which there is no other host.
const ALONE: &str = "ip link set lo up && ip link add t0 type veth peer name t1 && \
    ip addr add 10.9.0.5/24 dev t0 && ip link set t0 up && ip link set t1 up && \
    ip ntable change name arp_cache dev t0 mcast_probes 1000000";

/// The address of this host, 10.9.0.5, and addresses of no host.
const PEERS: [&str; 4] = ["10.9.0.3", "10.9.0.5", "10.9.0.7", "10.9.0.9"];

#[test]
fn peers_that_are_off_do_not_delay_discovery_on_this_host() {
    for range in ["localhost", "subnet"] {
        match in_namespace(ALONE, RANGE, range) {
            Ok(output) => assert!(output.contains("found each other"), "{output}"),
            Err(why) => {
                return skip(format!(
                    "network namespaces of a user take util-linux, iproute2 and a kernel that \
                     permits them: {why}"
                ));
            }
        }
    }
}

/// Opens a session on its own stack, which is in domain 63 on the network.
fn open(stack: u32, discovery_range: DiscoveryRange) -> Arc<dyn Session> {
    let configuration = "<CycloneDDS><Domain id=\"64\"><Discovery><ExternalDomainId>63</ExternalDomainId></Discovery>\
        </Domain></CycloneDDS>";
    let options = SessionOptions {
        domain_id: stack,
        discovery_range,
        static_peers: PEERS.map(String::from).into(),
        ..SessionOptions::default()
    };
    ConfiguredCycloneEngine { configuration: configuration.into() }.open(&options).unwrap()
}

/// Returns the bytes that wait in the buffers of sockets, from the column `tx_queue:rx_queue`.
fn waiting_bytes() -> u64 {
    let table = std::fs::read_to_string("/proc/net/udp").unwrap();
    let queues = table.lines().skip(1).map(|line| line.split_whitespace().nth(4).unwrap());
    queues.map(|queues| u64::from_str_radix(&queues[..8], 16).unwrap()).sum()
}

/// The code that the test above runs in a namespace.
#[test]
#[ignore = "run by the other test, in a network namespace"]
fn child() {
    let Ok(range) = std::env::var(RANGE) else { return };
    // A session whose thread waits for an absent host never closes.
    std::panic::set_hook(Box::new(|panic| {
        println!("{panic}");
        std::process::exit(1);
    }));
    let range =
        if range == "localhost" { DiscoveryRange::Localhost } else { DiscoveryRange::Subnet };
    let (near, far) = (open(63, range), open(64, range));
    find_each_other(&near, &far, "the sessions of this host do not find each other");
    find_each_other(&far, &near, "the sessions of this host do not find each other");
    println!("found each other");
    assert!(waiting_bytes() > 0, "no datagram waits for the absent hosts");
}
