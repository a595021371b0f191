//! Tests that `RMW_FASTRTPS_PUBLICATION_MODE` decides which thread sends. A process reads the
//! variable when it opens its first session, so each mode runs in its own process of this program.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::process::Command;

use feros_conformance::{TestNode, matched};
use feros_engine::{Engine, QosProfile, SessionOptions};
use feros_fastdds::FastDdsEngine;
use feros_test_support::{own_domain, skip};

const VARIABLE: &str = "RMW_FASTRTPS_PUBLICATION_MODE";
const SAYS: &str = "wake-ups of the threads that send: ";
const MESSAGES: u64 = 200;

/// Returns how often the threads on which Fast DDS sends for asynchronous writers have gone to
/// sleep so far.
fn wakeups_of_sending_threads() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok())
        .filter(|status| status.starts_with("Name:\tdds.asyn"))
        .filter_map(|status| {
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .sum()
}

/// Publishes messages one by one, waits for each of them, and returns the number of wake-ups.
fn publish_and_count() -> u64 {
    let options = SessionOptions::localhost(own_domain());
    let node = TestNode::new(FastDdsEngine.open(&options).unwrap());
    let publisher = node.publisher("/mode", QosProfile::default());
    let subscription = node.subscription("/mode", QosProfile::default());
    matched(&publisher, &subscription);
    let before = wakeups_of_sending_threads();
    for _ in 0..MESSAGES {
        publisher.publish(&[0; 64]);
        subscription.next();
    }
    wakeups_of_sending_threads() - before
}

#[test]
fn the_mode_decides_which_thread_sends() {
    if std::env::var_os(VARIABLE).is_some() {
        return println!("{SAYS}{}", publish_and_count());
    }
    if !feros_fastdds_sys::Shim::get().unwrap().fastdds_version().starts_with("3.") {
        return skip("threads have no names in Fast DDS 2; scripts/setup.sh installs Fast DDS 3");
    }
    let wakeups = |mode: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .arg("--nocapture")
            .env(VARIABLE, mode)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let count = said.lines().find_map(|line| line.split_once(SAYS)?.1.parse::<u64>().ok());
        count.unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)))
    };
    let (synchronous, asynchronous) = (wakeups("SYNCHRONOUS"), wakeups("ASYNCHRONOUS"));
    // On a busy machine, a single wake-up may send several messages.
    assert!(
        asynchronous > 10 * synchronous.max(1),
        "of {MESSAGES} messages {asynchronous} and, synchronous, {synchronous} wake-ups"
    );
}
