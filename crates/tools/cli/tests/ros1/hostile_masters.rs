//! Masters that name very many topics and publishers, or that answer one byte at a time: the bridge
//! limits its threads, descriptors and lines, and a signal still ends it.

#[path = "../../../../types/ros1/tests/hostile/masters.rs"]
mod masters;

use std::sync::atomic::Ordering::SeqCst;

use feros_test_support::until;

use crate::peers::World;
use masters::{HostileMaster, publishers_that_never_accept};

/// The topics that the master names; a thread for each would exceed the limit below.
const TOPICS: usize = 1500;
/// The limit on threads: the bridge has four for connections and 32 for waiting tasks; the rest are
/// those of ROS 2.
const MOST_THREADS: usize = 100;
/// The limit on descriptors: 1,024 connections, and the files of ROS 2.
const MOST_DESCRIPTORS: usize = 1024 + 100;

#[test]
fn very_many_topics_make_neither_threads_nor_lines() {
    let (_listener, publishers) = publishers_that_never_accept(20);
    let master = HostileMaster::new(TOPICS, &publishers);
    let world = World::under(master.port());
    let mut bridge = world.bridge(&["--bridge-all-1to2-topics"]);
    let mut most = (0, 0);
    until("all topics", || {
        let (threads, descriptors) = bridge.threads_and_descriptors();
        most = (most.0.max(threads), most.1.max(descriptors));
        master.registered.load(SeqCst) >= TOPICS
    });
    bridge.line(|line| line.contains("more topics from ROS 1 to ROS 2"));
    assert!(most.0 <= MOST_THREADS && most.1 <= MOST_DESCRIPTORS, "{most:?}");
    let said = bridge.interrupt();
    assert!(said.len() < 600, "{} lines", said.len());
    let has_more = |line: &&String| line.contains("has more publishers than connections");
    assert!((1..=64).contains(&said.iter().filter(has_more).count()), "{said:#?}");
}

#[test]
fn a_master_that_answers_a_byte_at_a_time_does_not_hold_the_bridge() {
    let master = HostileMaster::new(100, &[]);
    let world = World::under(master.port());
    let mut bridge = world.bridge(&["--bridge-all-1to2-topics"]);
    bridge.line(|line| line.contains("bridged: topic /t99 "));
    master.is_slow.store(true, SeqCst);
    let said = bridge.line(|line| line.contains("no ROS 1 master at"));
    assert!(said.contains("no complete answer arrived within 5 s"), "{said}");
    master.asked.store(0, SeqCst);
    let said = bridge.interrupt();
    assert_eq!(said.iter().filter(|line| line.contains("no ROS 1 master at")).count(), 1);
    // The check that was under way, and one attempt, out of 100, to report an end.
    let asked = master.asked.load(SeqCst);
    assert!(asked <= 3, "{asked} times");
}
