//! Limits of a process (`ulimit`): many topics fit into the usual limits; beyond a limit, messages
//! take the network transport, and the log names the limit.

use std::process::{Command, Stdio};

use feros_test_support::eventually;
use serde_json::{Value, json};

use crate::support::{
    Copy, Peer, Place, heard, is_root, number, program, resources, rounds, skipped, until,
};

/// The number of files that a process has open once it shares memory, no matter how many topics it
/// has.
const PER_PROCESS: usize = 20;

/// Starts a peer by `prlimit` and `env` with these arguments: first a limit, then variables.
fn start(place: &Place, name: &str, limit: &[&str]) -> Peer {
    let mut command = Command::new("prlimit");
    let inner = place.command(program());
    command.args(&limit[..1]).args(["--", "env"]).args(&limit[1..]);
    command.arg(inner.get_program()).args(inner.get_args());
    for (key, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    Peer::start_by(command, name)
}

/// The number of the talker's topics that use shared memory.
fn shared(talker: &mut Peer, topics: usize) -> usize {
    let is_shared = |talker: &mut Peer, topic: &usize| {
        talker.transports(&format!("pub{topic}")) == [Some("shared_memory".to_owned())]
    };
    (0..topics).filter(|topic| is_shared(talker, topic)).count()
}

fn talk_on(talker: &mut Peer, listener: &mut Peer, topics: usize) {
    for topic in 0..topics {
        let name = format!("topic{topic}");
        let (publisher, subscription) = (format!("pub{topic}"), format!("sub{topic}"));
        talker.ask("publisher", json!({"name": publisher, "topic": name, "id": 1}));
        listener.ask("listen", json!({"name": subscription, "topic": name}));
    }
}

/// Every topic carries a message.
fn all_carry(talker: &mut Peer, listener: &mut Peer, topics: usize) {
    for topic in 0..topics {
        let name = format!("pub{topic}");
        let published = talker.ask("publish", json!({"name": name, "count": 3, "size": 500}));
        assert_eq!(number(&published, "/errors"), 0, "{published}");
        until("the messages come", || {
            let report = listener.of("report", &format!("sub{topic}"));
            (heard(&report, 1, "last") == 3).then_some(())
        });
    }
}

#[test]
fn topics_need_no_open_files_of_their_own() {
    let topics = 100 * rounds(1) as usize;
    let place = Place::own_if_possible();
    // As many files as 100 topics would take if each side had two files per topic.
    let mut talker = start(&place, "talker", &["--nofile=220"]);
    let mut listener = start(&place, "listener", &["--nofile=220"]);
    let before = [&talker, &listener].map(|peer| resources(peer, &place).descriptors);
    talk_on(&mut talker, &mut listener, topics);
    until("all topics use shared memory", || (shared(&mut talker, topics) == topics).then_some(()));
    all_carry(&mut talker, &mut listener, topics);
    for (peer, before) in [&talker, &listener].into_iter().zip(before) {
        let after = resources(peer, &place).descriptors;
        println!("{topics} topics: {before} -> {after} open files");
        assert!(after <= before + PER_PROCESS, "{before} -> {after}");
    }
    listener.end();
    talker.end();
    place.must_be_swept();
}

/// If a limit keeps either side from using shared memory, both sides log this, and messages come
/// over the network.
fn takes_the_network(place: &Place, limit: &str, in_the_log: &str, reason: &str) {
    for talker_is_limited in [true, false] {
        one_side_takes_the_network(place, talker_is_limited, &[limit], in_the_log, reason);
    }
}

fn one_side_takes_the_network(
    place: &Place,
    talker_is_limited: bool,
    limit: &[&str],
    in_the_log: &str,
    reason: &str,
) {
    let of = |is_limited, name| {
        if is_limited { start(place, name, limit) } else { Peer::start(place, name) }
    };
    let mut talker = of(talker_is_limited, "talker");
    let mut listener = of(!talker_is_limited, "listener");
    talk_on(&mut talker, &mut listener, 1);
    talker.until_transport("pub0", 1, "network");
    all_carry(&mut talker, &mut listener, 1);
    let limited = if talker_is_limited { &talker } else { &listener };
    until("the log says why", || limited.said().contains(in_the_log).then_some(()));
    eventually(|| {
        let of = [talker.of("transports", "pub0"), listener.of("transports", "sub0")];
        let is_told =
            |found: &Value| found[0]["reason"].as_str().is_some_and(|text| text.ends_with(reason));
        if of.iter().all(is_told) { Ok(()) } else { Err(format!("{of:?}")) }
    });
    listener.end();
    talker.end();
    place.must_be_swept();
}

#[test]
fn a_process_without_further_open_files_takes_the_network() {
    takes_the_network(
        &Place::own_if_possible(),
        "--nofile=17",
        "this process may have 17 files open, and nearly all are in use (RLIMIT_NOFILE)",
        "its process has reached its limit on open files (RLIMIT_NOFILE)",
    );
}

#[test]
fn a_process_that_may_make_no_large_files_takes_the_network() {
    let reason = "its process may not make files of that size (RLIMIT_FSIZE)";
    let in_the_log = |limit| format!("more than {limit} bytes (RLIMIT_FSIZE)");
    let place = Place::own_if_possible();
    // The limit is too small for any shared memory.
    for limit in [10_000, 200_000] {
        takes_the_network(&place, &format!("--fsize={limit}"), &in_the_log(limit), reason);
    }
    // The limit is too small for the messages of a publisher that serves many subscriptions.
    let limit = ["--fsize=6000000", "FEROS_MAX_SUBSCRIPTIONS=1024"];
    one_side_takes_the_network(&place, true, &limit, &in_the_log(6_000_000), reason);
}

/// A user without other processes, since the limit counts the threads of all processes of a user.
const USER: u32 = 61_234;

/// Runs a process that may have this many threads; returns its exit code and its output.
fn end_with_threads(place: &Place, copy: &Copy, threads: u32) -> (Option<i32>, String) {
    let user = [format!("--reuid={USER}"), format!("--regid={USER}"), "--clear-groups".to_owned()];
    let output = Command::new("setpriv")
        .args(user)
        .args(["prlimit", &format!("--nproc={threads}")])
        .arg(copy.program())
        .arg("starved")
        .env("ROS_DOMAIN_ID", place.domain().id().to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_process_that_may_make_no_threads_says_so_and_is_not_aborted() {
    if !is_root() {
        return skipped(
            "a process without threads",
            "only root can start one of another user; run it as root",
        );
    }
    let (place, copy) = (Place::of_host(), Copy::of(USER));
    for threads in 1..=12 {
        let (code, said) = end_with_threads(&place, &copy, threads);
        let is_named = said.contains("ulimit -u");
        let is_right = code == Some(0) && threads > 1 || code == Some(101) && is_named;
        assert!(
            is_right,
            "{threads} threads: exit code {code:?} (none: a signal), it wrote: {said}"
        );
    }
    let (code, said) = end_with_threads(&place, &copy, 40);
    assert_eq!(code, Some(0), "{said}");
}
