//! A link that carries less than is published: a reliable publisher that keeps the last messages
//! goes down to what the link carries, and the link carries messages, not repetitions of them. With
//! a subscription on its own host the publisher does not. One of best effort leaves out whole
//! messages, so what the link carries arrives whole, and nothing is left out on its own host.
//! Needs root, for namespaces; without it the test says so and is skipped.
#![allow(clippy::unwrap_used)]

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use feros_link::{Link, LinkOptions, Namespace, NamespaceError};
use feros_test_support::skip;
use serde_json::Value;

const MESSAGES: u64 = 300;
const BYTES: u64 = 16_384;
const RELIABLE: [&str; 2] = ["--reliability", "reliable"];
const BEST_EFFORT: [&str; 2] = ["--reliability", "best_effort"];

/// Two thirds of what is published, in a queue that holds five messages.
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
    let mut command: Command = host.command(env!("CARGO_BIN_EXE_feros-lab-feros"));
    let options = "--placement remote --topic full_link --warm-up 0 --depth 10 --timeout 120";
    command
        .args(["--role", role, "--count", &messages.to_string(), "--size", &BYTES.to_string()])
        .args(options.split_ascii_whitespace())
        .args(qos)
        .args(own)
        .env_remove("CYCLONEDDS_URI")
        .env_remove("FEROS_TRANSPORTS")
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
        .env("ROS_DOMAIN_ID", "97")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// The last line of a program that is stopped now.
fn end_early(mut program: Child) -> Value {
    drop(program.stdin.take());
    end(program)
}

/// The last line of a program that ended well, which says how many messages it had.
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

/// Two hosts and the full link between them; `None`, which is reported, where the test
/// may not make them.
fn hosts() -> Option<(Namespace, Namespace, Link)> {
    let (here, there) = match (Namespace::new(), Namespace::new()) {
        (Ok(here), Ok(there)) => (here, there),
        (Err(error @ NamespaceError::NotPermitted { .. }), _) => {
            skip(error);
            return None;
        }
        (here, there) => panic!("{here:?} {there:?}"),
    };
    let link = Link::between(&here, &there, full()).unwrap();
    Some((here, there, link))
}

#[test]
fn a_full_link_carries_messages_instead_of_repetitions() {
    let Some((here, there, link)) = hosts() else { return };
    let listener = start(&there, "listener", MESSAGES, RELIABLE, &[]);
    let talker = start(&here, "talker", MESSAGES, RELIABLE, &["--rate", "100"]);
    let sent = end(talker)["sent"].as_u64().unwrap();
    let received = end(listener)["received"][0].as_u64().unwrap();
    let counters = link.counters().forward;
    assert_eq!(sent, MESSAGES);
    assert!(received * 10 >= sent * 9, "{received} of {sent} messages arrived: {counters:?}");
    // A tenth are headers, and the first loss comes before anybody could know of the link.
    let carried = counters.bytes / BYTES;
    assert!(received * 10 >= carried * 6, "{received} messages of {carried}: {counters:?}");
}

#[test]
fn a_far_subscription_does_not_slow_one_of_the_same_host() {
    let Some((here, there, link)) = hosts() else { return };
    let far = start(&there, "listener", MESSAGES, RELIABLE, &["--index", "1"]);
    let near = start(&here, "listener", MESSAGES, RELIABLE, &[]);
    // Twice what the link carries: whoever waited for it would have the far one get it all.
    let talker = start(&here, "talker", MESSAGES, RELIABLE, &["--rate", "150", "--matched", "2"]);
    let sent = end(talker)["sent"].as_u64().unwrap();
    let near = end_early(near)["received"][0].as_u64().unwrap();
    let far = end_early(far)["received"][0].as_u64().unwrap();
    let counters = link.counters().forward;
    assert_eq!(sent, MESSAGES);
    assert!(near > far, "{near} within the host, {far} beyond the link: {counters:?}");
    assert!(far * 10 < sent * 9, "{far} of {sent} came over a full link: {counters:?}");
}

/// Half as much again as the link carries, for long enough to learn that.
fn publish_best_effort(matched: usize) -> Option<(u64, u64, u64)> {
    let (here, there, link) = hosts()?;
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

#[test]
fn a_full_link_carries_whole_messages_of_best_effort() {
    let Some((_, far, carried)) = publish_best_effort(1) else { return };
    assert!(far * 10 >= carried * 7, "{far} messages of {carried}");
}

#[test]
fn a_far_subscription_of_best_effort_costs_one_of_the_same_host_nothing() {
    let Some((near, far, carried)) = publish_best_effort(2) else { return };
    assert!(near * 20 >= 3 * MESSAGES * 19, "{near} of {} within the host", 3 * MESSAGES);
    assert!(far * 10 >= carried * 7, "{far} messages of {carried}");
}
