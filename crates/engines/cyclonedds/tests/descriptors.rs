//! Tests that child processes inherit no file descriptors of a session. If they inherited its
//! sockets, they would keep its ports in use and look like participants of its domain.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::process::Command;

use feros_cyclonedds::CycloneEngine;
use feros_engine::{Engine, NodeName, SessionOptions};
use feros_test_support::own_domain;

/// Returns the descriptors that a child process inherits, except its standard streams and the
/// folder that it lists.
fn inherited() -> BTreeSet<String> {
    let listed = Command::new("sh").args(["-c", "ls -l /proc/self/fd"]).output().unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let text = String::from_utf8(listed.stdout).unwrap();
    let targets = text.lines().filter_map(|line| {
        let (name, target) = line.split_once(" -> ")?;
        let number: u32 = name.rsplit(' ').next()?.parse().ok()?;
        (number > 2 && !target.starts_with("/proc/")).then(|| target.to_owned())
    });
    targets.collect()
}

#[test]
fn a_program_inherits_nothing_of_a_session() {
    let before = inherited();
    let session = CycloneEngine.open(&SessionOptions::localhost(own_domain())).unwrap();
    session.create_node(&NodeName::new("/", "parent").unwrap()).unwrap();
    assert_eq!(inherited(), before);
}
