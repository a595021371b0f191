//! Simulated time from `/clock`, and timers on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use feros::msgs::builtin_interfaces::msg::Time as TimeMessage;
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::{Executor, NodeOptions, QosProfile, Time};
use feros_test_support::eventually;

use crate::support::{WATCHDOG, context, context_with, spin_until};

#[test]
fn timers_follow_simulated_time() {
    let (here, there) = (context(), context_with("--ros-args -p use_sim_time:=true"));
    let simulator = here.create_node("simulator").unwrap();
    let node = there.create_node("node").unwrap();
    assert!(node.clock().is_simulated());
    assert_eq!(node.clock().now(), Time::ZERO);
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let _timer = node
        .create_timer(Duration::from_secs(10), move || {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
    let publisher =
        simulator.create_publisher::<Clock>("/clock", QosProfile::keep_last(1)).unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    for (sec, expected) in [(9, 0), (10, 1), (15, 1), (45, 2)] {
        let time = Time::from_nanos(i64::from(sec) * 1_000_000_000);
        // The time is set by a separate thread, not by this executor, which runs the timer. The
        // message is published repeatedly, because a publisher may find the subscription before the
        // subscription finds the publisher.
        eventually(|| {
            publisher.publish(Clock { clock: TimeMessage { sec, nanosec: 0 } }).unwrap();
            if node.clock().now() == time { Ok(()) } else { Err("the time is not set yet") }
        });
        spin_until(&executor, || calls.load(Ordering::Relaxed) == expected);
    }
}

#[test]
fn a_node_without_use_sim_time_keeps_the_system_s_time() {
    let context = context();
    let node = context.create_node_with(NodeOptions::new("node")).unwrap();
    assert!(!node.clock().is_simulated());
    assert!(node.clock().now() > Time::ZERO);
}
