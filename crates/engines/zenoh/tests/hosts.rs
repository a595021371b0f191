//! Tests with two hosts, each in its own network namespace and with a router, which are connected
//! by a link that delays and loses packets. The tests check the traffic over the link, also after
//! the link has been interrupted for some time.
//!
//! The tests need root. Without root, they are skipped with a message. Each host is a separate
//! process of this program, because the sockets of a session belong to the network namespace of its
//! process.
#![allow(clippy::unwrap_used)]

mod ends;
mod measured;
mod network;

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_conformance::{text_in, text_message};
use feros_engine::{QosProfile, Sample};
use feros_link::{Link, LinkOptions, Namespace, NamespaceError, host_address};
use feros_test_support::{TestProcess, obey, skip, spawn};

use ends::{SET_BOOL, STRING, lost, response, wire_node};
use network::{Network, WATCHFUL};

/// The variable that names the site of a process, `near` or `far`. It is not set in the test's own
/// process.
const SITE_VARIABLE: &str = "FEROS_TEST_ZENOH_SITE";
const PORT: u16 = 7447;
/// The variable for a configuration that the routers of both sites use instead of `WATCHFUL`.
const SETTING_VARIABLE: &str = "FEROS_TEST_ZENOH_SITE_SETTING";

/// Starts the process of a site.
fn start(host: &Namespace, name: &str, setting: &str) -> TestProcess {
    let mut command = host.command(std::env::current_exe().unwrap());
    command.env(SITE_VARIABLE, name).env(SETTING_VARIABLE, setting);
    let mut process = TestProcess::start(command, "site_process");
    process.said("ready");
    process
}

/// Creates two hosts. If this process is not permitted to create them, reports this and returns
/// `None`.
fn two_hosts() -> Option<(Namespace, Namespace)> {
    match Namespace::new().and_then(|near| Ok((near, Namespace::new()?))) {
        Ok(hosts) => Some(hosts),
        Err(error @ NamespaceError::NotPermitted { .. }) => {
            skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn two_hosts_with_a_router_each_are_joined_parted_and_joined_again() {
    let Some((near, far)) = two_hosts() else { return };
    let long =
        LinkOptions { delay: Duration::from_millis(5), loss: 0.02, ..LinkOptions::default() };
    let link = Link::between(&near, &far, long.clone()).unwrap();
    let mut far = start(&far, "far", WATCHFUL);
    let mut near = start(&near, "near", WATCHFUL);
    near.command("joined");
    far.command("joined");
    let carried = link.counters();
    assert!(carried.forward.dropped_loss > 0 && carried.backward.bytes > 0, "{carried:?}");
    link.set(LinkOptions { loss: 1.0, ..long.clone() }).unwrap();
    near.command("parted");
    far.command("parted");
    link.set(long).unwrap();
    near.command("joined again");
    far.command("joined again");
    near.end();
    far.end();
}

/// Measures how soon a message, its echo and a call succeed again after the repair of a link that
/// has lost every packet:
///
/// ```console
/// cargo test --manifest-path crates/engines/zenoh/Cargo.toml --test hosts -- --ignored --nocapture
/// ```
#[test]
#[ignore = "a measurement that takes minutes"]
fn how_soon_a_partition_heals() {
    let lease = "transport/link/tx/lease=2000";
    let timeout = "transport/unicast/open_timeout=500";
    for (name, setting) in [
        ("retry of rmw_zenoh", format!("{lease};{}", measured::RETRY_OF_RMW_ZENOH)),
        ("retry of Feros", lease.to_owned()),
        ("retry of Feros, open_timeout=500", format!("{lease};{timeout}")),
    ] {
        let Some((near, far)) = two_hosts() else { return };
        let link = Link::between(&near, &far, LinkOptions::default()).unwrap();
        let mut far = start(&far, "far", &setting);
        let mut near = start(&near, "near", &setting);
        near.command("joined");
        far.command("joined");
        measured::rounds(&format!("partition heals; {name}"), |round| {
            link.set(LinkOptions { loss: 1.0, ..LinkOptions::default() }).unwrap();
            near.command("parted");
            far.command("parted");
            std::thread::sleep(measured::pause(round));
            let mended = Instant::now();
            link.set(LinkOptions::default()).unwrap();
            near.command("back");
            mended.elapsed()
        });
        near.end();
        far.end();
    }
}

/// Plays a site, which takes commands line by line. In a normal test run, this test does nothing.
#[test]
fn site_process() {
    match std::env::var(SITE_VARIABLE).as_deref() {
        Ok("near") => near(&site_network(0, &format!("connect/endpoints=[\"{}\"];", endpoint(1)))),
        Ok("far") => far(&site_network(1, "")),
        _ => {}
    }
}

fn endpoint(host: usize) -> String {
    format!("tcp/{}:{PORT}", host_address(host))
}

fn site_network(host: usize, more: &str) -> Network {
    let setting = std::env::var(SETTING_VARIABLE).unwrap();
    Network::at(endpoint(host), &format!("{more}{setting}"))
}

/// Publishes messages, receives their echoes, and calls a service.
fn near(network: &Network) {
    let here = wire_node(network.client(), "near");
    let pings = here.publisher_of("/sites/ping", STRING, QosProfile::default());
    let pongs = here.subscription_of("/sites/pong", STRING, QosProfile::default());
    let latched =
        here.publisher_of("/sites/latched", STRING, QosProfile::default().transient_local());
    let client = here.client_of("/sites/call", SET_BOOL);
    let exchange = |text: &str, lost: u64| {
        pings.publish(&text_message(text));
        assert_eq!(text_in(&pongs.next().payload), echo(text, lost));
        client.send(&[0, 1, 0, 0, 1]);
        assert_eq!(text_in(&client.next().1.payload[4..]), "from afar");
    };
    let wait_for_matches = || {
        pings.wait_for_matches(1);
        pongs.wait_for_matches(1);
        client.wait_for_server();
    };
    latched.publish(&text_message("before"));
    let mut rounds = 0;
    obey(|line| match line {
        "joined" => {
            wait_for_matches();
            // Each message takes several packets. The link loses some of them, and Zenoh sends
            // these again.
            (0..100).for_each(|number| exchange(&format!("{number}{}", "x".repeat(4000)), 0));
        }
        "parted" => {
            pings.wait_for_matches(0);
            (0..10).for_each(|_| pings.send(&text_message("into the void")));
        }
        "joined again" => {
            wait_for_matches();
            exchange("again", 10);
        }
        // A link that is busy with declarations may drop a message, so the message is sent
        // repeatedly until its echo arrives.
        "back" => {
            wait_for_matches();
            rounds += 1;
            let text = format!("back in round {rounds}");
            let is_echo = |sample: Sample| text_in(&sample.payload).ends_with(&text);
            for waited in 0_u32.. {
                if waited.is_multiple_of(10) {
                    pings.publish(&text_message(&text));
                }
                if pongs.subscription.take().unwrap().is_some_and(is_echo) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            client.send(&[0, 1, 0, 0, 1]);
            assert_eq!(text_in(&client.next().1.payload[4..]), "from afar");
        }
        other => panic!("{other}"),
    });
}

fn echo(text: &str, lost: u64) -> String {
    format!("{lost} lost before {text}")
}

/// Echoes messages and responds to calls, on threads that end with the process.
fn far(network: &Network) {
    let there = wire_node(network.client(), "far");
    let pings = Arc::new(there.subscription_of("/sites/ping", STRING, QosProfile::default()));
    let pongs = there.publisher_of("/sites/pong", STRING, QosProfile::default());
    let server = there.service_of("/sites/call", SET_BOOL);
    let heard = pings.clone();
    spawn("echo", move || {
        loop {
            let sample = heard.next();
            let text = text_in(&sample.payload);
            pongs.wait_for_matches(1);
            pongs.publish(&text_message(&echo(text, lost(&heard))));
        }
    });
    spawn("echo", move || {
        loop {
            server.respond_once(&server.next().0, &response(true, "from afar")).unwrap();
        }
    });
    let latched = || {
        let late = there.subscription_of(
            "/sites/latched",
            STRING,
            QosProfile::default().transient_local(),
        );
        assert_eq!(text_in(&late.next().payload), "before");
    };
    obey(|line| match line {
        "joined" | "joined again" => latched(),
        "parted" => pings.wait_for_matches(0),
        other => panic!("{other}"),
    });
}
