//! Tests that each message takes the transport under test, in each form and mode, and that an
//! impossible transport is an error with its reason.

use std::collections::BTreeMap;
use std::process::{Child, ChildStdin, Command, Stdio};

use feros_test_support::ReservedDomain;
use serde_json::Value;

/// Starts a program of the peer; its input stays open, since its end would stop the program.
struct Running {
    child: Child,
    _input: Option<ChildStdin>,
}

/// The output lines of a run, by kind.
#[derive(Debug)]
struct Said {
    is_success: bool,
    lines: BTreeMap<String, Value>,
}

fn start(role: &str, options: &str, domain: &ReservedDomain, transports: &str) -> Running {
    let common = "--topic transports --count 20 --warm-up 5 --depth 32 --timeout 60";
    let mut command = Command::new(env!("CARGO_BIN_EXE_feros-lab-feros"));
    command
        .args(["--role", role])
        .args(common.split_ascii_whitespace())
        .args(options.split_ascii_whitespace())
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        .env("ROS_DOMAIN_ID", domain.id().to_string())
        .env_remove("FEROS_TRANSPORTS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if !transports.is_empty() {
        command.env("FEROS_TRANSPORTS", transports);
    }
    let mut child = command.spawn().expect("it starts");
    let _input = child.stdin.take();
    Running { child, _input }
}

fn finish(running: Running) -> Said {
    let Running { child, _input } = running;
    let output = child.wait_with_output().expect("it ends");
    let mut lines = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(Value::Object(object)) = serde_json::from_str(line) else {
            panic!("no JSON: {line}")
        };
        lines.extend(object);
    }
    Said { is_success: output.status.success(), lines }
}

/// Runs a talker and a listener, or a pair. The result names the publisher first.
fn measure(options: &str, transports: &str) -> (Said, Said) {
    let domain = &ReservedDomain::new();
    if options.contains("--placement intra") || options.contains("--placement composed") {
        let said = || finish(start("pair", options, domain, transports));
        let said = said();
        let lines = said.lines.clone();
        return (Said { is_success: said.is_success, lines }, said);
    }
    let listener = start("listener", options, domain, transports);
    let talker = finish(start("talker", options, domain, transports));
    let mut listener = listener;
    if !talker.is_success {
        // No message will come, so the listener's input ends, which stops it.
        listener._input = None;
    }
    (talker, finish(listener))
}

fn assert_received(options: &str, transports: &str, wanted: &str) {
    let (talker, listener) = measure(options, transports);
    assert!(talker.is_success && listener.is_success, "{options}: {talker:?} {listener:?}");
    assert_eq!(talker.lines["end"]["sent"], 25, "{options}: {talker:?}");
    if !options.contains("best_effort") {
        assert_eq!(listener.lines["end"]["received"][0], 25, "{options}: {listener:?}");
    }
    let count = |transport: &str| {
        let count = &listener.lines["values"][format!("received_{transport}")];
        count.as_f64().unwrap_or_default()
    };
    for transport in ["intra_process", "shared_memory", "network"] {
        let allowed = match transport {
            _ if transport == wanted => continue,
            // Without a named transport, the talker does not wait for a connection, so the five
            // warm-up messages may be too early for it.
            "network" if wanted == "shared_memory" && !options.contains("--transport") => 5.0,
            _ => 0.0,
        };
        assert!(count(transport) <= allowed, "{options}: {transport}: {listener:?}");
    }
    assert!(count(wanted) > 0.0, "{options}: {wanted}: {listener:?}");
}

#[test]
fn every_message_takes_the_transport_that_was_asked_for() {
    for (transport, options) in [
        ("intra_process", "--placement intra"),
        ("intra_process", "--placement intra --form raw"),
        ("intra_process", "--placement intra --form built"),
        ("shared_memory", "--transport shared_memory"),
        ("shared_memory", "--transport shared_memory --form built --size 1048576"),
        ("shared_memory", "--transport shared_memory --form raw"),
        ("shared_memory", "--transport shared_memory --rate 0 --history keep_all"),
        ("network", "--transport network"),
        ("network", "--placement composed"),
    ] {
        assert_received(options, "", transport);
    }
}

#[test]
fn every_form_and_mode_delivers() {
    for options in [
        "--form view --size 65536",
        "--form raw --size 1048576 --rate 50",
        "--form built --size 4096",
        "--publish async --durability transient_local",
        "--rate 0 --warm-up 5 --history keep_all",
        "--reliability best_effort --history keep_all",
    ] {
        assert_received(options, "", "shared_memory");
    }
}

#[test]
fn by_itself_it_takes_the_shortest_and_says_why_not_a_shorter_one() {
    assert_received("", "", "shared_memory");
    let (talker, listener) = measure("", "network");
    assert!(talker.is_success && listener.is_success, "{talker:?} {listener:?}");
    let note = talker.lines["note"]["text"].as_str().unwrap_or_default();
    assert!(note.contains("does not allow the shared_memory transport"), "{talker:?}");
}

#[test]
fn a_transport_that_is_not_possible_is_an_error_with_its_reason() {
    for (options, transports, reason) in [
        ("--transport shared_memory", "network", "shared_memory"),
        (
            "--placement intra",
            "shared_memory,network",
            "does not allow the intra_process transport",
        ),
    ] {
        let (talker, _) = measure(options, transports);
        assert!(!talker.is_success, "{options}: {talker:?}");
        let text = talker.lines["error"]["text"].as_str().unwrap_or_default();
        assert!(text.contains(reason), "{options}: {talker:?}");
    }
    let refused = start("talker", "--transport tunnel", &ReservedDomain::new(), "").child;
    let output = refused.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(64), "{output:?}");
}
