//! A link that carries less than is published: a reliable publisher that keeps the last messages
//! goes down to what the link carries, and the link carries messages, not repetitions of them.
//! Needs root, for namespaces; without it the test says so and is skipped.
#![allow(clippy::unwrap_used)]

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use feros_link::{Link, LinkOptions, Namespace, NamespaceError};
use serde_json::Value;

const MESSAGES: u64 = 300;
const BYTES: u64 = 16_384;

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

fn start(host: &Namespace, role: &str) -> Child {
    let mut command: Command = host.command(env!("CARGO_BIN_EXE_feros-lab-feros"));
    let options = "--placement remote --topic full_link --rate 100 --warm-up 0 --depth 10 \
                   --reliability reliable --timeout 120";
    command
        .args(["--role", role, "--count", &MESSAGES.to_string(), "--size", &BYTES.to_string()])
        .args(options.split_ascii_whitespace())
        .env_remove("CYCLONEDDS_URI")
        .env_remove("FEROS_TRANSPORTS")
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
        .env("ROS_DOMAIN_ID", "97")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.spawn().unwrap()
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

#[test]
fn a_full_link_carries_messages_instead_of_repetitions() {
    let (here, there) = match (Namespace::new(), Namespace::new()) {
        (Ok(here), Ok(there)) => (here, there),
        (Err(error @ NamespaceError::NotPermitted { .. }), _) => {
            return eprintln!("skipped: {error}");
        }
        (here, there) => panic!("{here:?} {there:?}"),
    };
    let link = Link::between(&here, &there, full()).unwrap();
    let listener = start(&there, "listener");
    let sent = end(start(&here, "talker"))["sent"].as_u64().unwrap();
    let received = end(listener)["received"][0].as_u64().unwrap();
    let counters = link.counters().forward;
    assert_eq!(sent, MESSAGES);
    assert!(received * 10 >= sent * 9, "{received} of {sent} messages arrived: {counters:?}");
    // A tenth are headers, and the first loss comes before anybody could know of the link.
    let carried = counters.bytes / BYTES;
    assert!(received * 10 >= carried * 6, "{received} messages of {carried}: {counters:?}");
}
