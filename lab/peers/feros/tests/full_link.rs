//! Tests with a link that carries less than is published. A reliable publisher that keeps the last
//! messages slows down to the rate of the link, and the link carries messages, not repetitions of
//! them. If there is also a subscription on its own host, the publisher does not slow down. A
//! best-effort publisher skips whole messages on the link, so that the other messages arrive
//! complete, and skips no message on its own host. The tests need root for namespaces; without it,
//! they report this and are skipped.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use feros_link::{Link, LinkOptions, Namespace, NamespaceError};
use feros_test_support::skip;
use serde_json::Value;

const MESSAGES: u64 = 300;
const BYTES: u64 = 16_384;
const RELIABLE: [&str; 2] = ["--reliability", "reliable"];
const BEST_EFFORT: [&str; 2] = ["--reliability", "best_effort"];

/// A link that carries two thirds of the published messages, with a queue that holds five of them.
fn full() -> LinkOptions {
    LinkOptions {
        rate_bits_per_second: Some(10_000_000),
        delay: Duration::from_millis(2),
        queue_packets: Some(65),
        backpressure: false,
        ..LinkOptions::default()
    }
}

fn start(host: &Namespace, role: &str, messages: u64, qos: [&str; 2], own: &[&str]) -> Child {
    let command = host.command(env!("CARGO_BIN_EXE_feros-lab-feros"));
    let (bytes, messages) = (BYTES.to_string(), messages.to_string());
    let counts = ["--role", role, "--count", &messages, "--size", &bytes, "--depth", "10"];
    start_peer(command, &[&counts, &qos[..], own].concat())
}

fn start_peer(mut command: Command, own: &[&str]) -> Child {
    command
        .args("--placement remote --topic full_link --warm-up 0 --timeout 120".split(' '))
        .args(own)
        .env_remove("CYCLONEDDS_URI")
        .env_remove("FEROS_TRANSPORTS")
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
        .env("ROS_DOMAIN_ID", "97")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Stops a program and returns its last line.
fn end_early(mut program: Child) -> Value {
    drop(program.stdin.take());
    end(program)
}

/// The last line of a program that ended successfully; it has the number of messages.
fn end(mut program: Child) -> Value {
    let _input = program.stdin.take(); // its end would stop the program
    let output = program.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let end = text.lines().find_map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        Some(line.get_mut("end")?.take())
    });
    end.unwrap_or_else(|| panic!("no end in {text}"))
}

/// Two hosts and a link between them. Returns `None`, and reports the skip, if the test may not
/// create them.
fn hosts(options: LinkOptions) -> Option<(Namespace, Namespace, Link)> {
    let (here, there) = match (Namespace::new(), Namespace::new()) {
        (Ok(here), Ok(there)) => (here, there),
        (Err(error @ NamespaceError::NotPermitted { .. }), _) => {
            skip(error);
            return None;
        }
        (here, there) => panic!("{here:?} {there:?}"),
    };
    let link = Link::between(&here, &there, options).unwrap();
    Some((here, there, link))
}

#[test]
fn a_full_link_carries_messages_instead_of_repetitions() {
    let Some((here, there, link)) = hosts(full()) else { return };
    let listener = start(&there, "listener", MESSAGES, RELIABLE, &[]);
    let talker = start(&here, "talker", MESSAGES, RELIABLE, &["--rate", "100"]);
    let sent = end(talker)["sent"].as_u64().unwrap();
    let received = end(listener)["received"][0].as_u64().unwrap();
    let counters = link.counters().forward;
    assert_eq!(sent, MESSAGES);
    assert!(received * 10 >= sent * 9, "{received} of {sent} messages arrived: {counters:?}");
    // A tenth of the bytes are headers, and the first loss comes before the publisher has learned
    // the link's rate.
    let carried = counters.bytes / BYTES;
    assert!(received * 10 >= carried * 6, "{received} messages of {carried}: {counters:?}");
}

#[test]
fn a_far_subscription_does_not_slow_one_of_the_same_host() {
    // The link carries 23 messages each second. The publisher has six times that rate; if it waited
    // for the link, the far subscription would get all messages. A busy machine may slow it down.
    let narrow = LinkOptions { rate_bits_per_second: Some(3_000_000), ..full() };
    let Some((here, there, link)) = hosts(narrow) else { return };
    let far = start(&there, "listener", MESSAGES, RELIABLE, &["--index", "1"]);
    let near = start(&here, "listener", MESSAGES, RELIABLE, &[]);
    let talker = start(&here, "talker", MESSAGES, RELIABLE, &["--rate", "150", "--matched", "2"]);
    let sent = end(talker)["sent"].as_u64().unwrap();
    let near = end_early(near)["received"][0].as_u64().unwrap();
    let far = end_early(far)["received"][0].as_u64().unwrap();
    let counters = link.counters().forward;
    assert_eq!(sent, MESSAGES);
    assert!(near > far, "{near} within the host, {far} beyond the link: {counters:?}");
    assert!(far * 10 < sent * 9, "{far} of {sent} came over a full link: {counters:?}");
}

/// Publishes at 1.5 times the rate of the link, long enough for the publisher to learn it.
fn publish_best_effort(matched: usize) -> Option<(u64, u64, u64)> {
    let (here, there, link) = hosts(full())?;
    let messages = 3 * MESSAGES;
    let near = (matched == 2).then(|| start(&here, "listener", messages, BEST_EFFORT, &[]));
    let far = start(&there, "listener", messages, BEST_EFFORT, &["--index", "1"]);
    let all = matched.to_string();
    let own = ["--rate", "100", "--matched", &all];
    let talker = start(&here, "talker", messages, BEST_EFFORT, &own);
    assert_eq!(end(talker)["sent"].as_u64().unwrap(), messages);
    let received = |listener| end_early(listener)["received"][0].as_u64().unwrap();
    let (near, far) = (near.map_or(0, received), received(far));
    let counters = link.counters().forward;
    eprintln!("{near} within the host, {far} beyond the link: {counters:?}");
    Some((near, far, counters.bytes / BYTES))
}

/// Checks that the link carried whole messages. On a busy machine, the talker sends bursts, and the
/// queue drops parts of them. If a third of the packets were lost independently, fewer than one in
/// a hundred messages, which have 13 packets each, would arrive.
fn assert_whole(far: u64, carried: u64) {
    assert!(far * 10 >= carried * 3, "{far} messages of {carried}");
}

#[test]
fn a_full_link_carries_whole_messages_of_best_effort() {
    let Some((_, far, carried)) = publish_best_effort(1) else { return };
    assert_whole(far, carried);
}

#[test]
fn a_far_subscription_of_best_effort_costs_one_of_the_same_host_nothing() {
    let Some((near, far, carried)) = publish_best_effort(2) else { return };
    // The talker does not wait for the near subscription either, which may be late.
    let sent = 3 * MESSAGES;
    assert!(near * 10 >= sent * 9, "{near} of {sent} within the host");
    assert_whole(far, carried);
}

/// A publisher of depth 1 drops messages while the stock node has one part of them and requests the
/// rest. If it gets a GAP for such a message, the take of Fast DDS loops forever, and the whole
/// interpreter waits for it.
#[test]
fn a_stock_subscription_goes_on_where_the_rest_of_a_message_left_the_history() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.venv/bin/python");
    if !python.exists() {
        return skip("no stock ROS 2 in .venv; scripts/setup.sh --test installs it");
    }
    let lossy = LinkOptions {
        rate_bits_per_second: Some(250_000_000),
        loss: 0.005,
        queue_packets: Some(2000),
        backpressure: false,
        ..LinkOptions::default()
    };
    let Some((here, there, _link)) = hosts(lossy) else { return };
    let mut stock = there.command(python.display().to_string());
    stock.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rclpy/peer.py"));
    stock.env("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp").env_remove("LD_PRELOAD");
    let large = ["--count", "300", "--size", "1200000"];
    let listener = ["--role", "listener", "--depth", "10"];
    let talker = ["--role", "talker", "--rate", "30", "--depth", "1"];
    let mut stock = start_peer(stock, &[&listener[..], &large, &RELIABLE].concat());
    let talker = start_peer(
        here.command(env!("CARGO_BIN_EXE_feros-lab-feros")),
        &[&talker[..], &large, &RELIABLE].concat(),
    );
    assert_eq!(end(talker)["sent"], 300);
    drop(stock.stdin.take());
    let watchdog = Instant::now() + Duration::from_secs(60);
    while stock.try_wait().unwrap().is_none() {
        if Instant::now() > watchdog {
            stock.kill().unwrap();
            stock.wait().unwrap();
            panic!("stock ROS 2 does not end: its take loops");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(end(stock)["received"][0].as_u64().unwrap() > 0);
}
