//! `feros demo` as its users run it: its output, its end, and that it leaves no processes behind.
#![allow(clippy::unwrap_used)]

mod command;

use command::{Feros, wait_until};

#[test]
fn demo_exchanges_messages_and_ends() {
    let ended = Feros::run("demo", "demo --count 3 --rate-hz 20 --without-ros2");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("feros_talker -> feros_listener  3 of 3"), "{}", ended.out);
    assert_eq!(ended.out.matches("heard  Hello").count(), 3, "{}", ended.out);
    assert!(!ended.err.contains("error"), "{}", ended.err);
}

/// With stock ROS 2 if it is installed; otherwise the demo says how to install it.
#[test]
fn demo_joins_stock_ros2_when_it_is_there() {
    let ended = Feros::run("demo-ros2", "demo --count 3 --rate-hz 20");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    if ended.out.contains("Stock ROS 2 is installed") {
        for pair in ["feros_talker -> ros2_node ", "ros2_node -> feros_listener"] {
            let line = ended.out.lines().find(|line| line.contains(pair)).unwrap_or_default();
            assert!(line.contains("3 of 3"), "{}", ended.out);
        }
    } else {
        assert!(ended.out.contains("scripts/setup.sh"), "{}", ended.out);
    }
}

#[test]
fn a_folder_without_ros2_is_named() {
    let mut feros = Feros::new("python", "demo --count 1 --rate-hz 20");
    feros.command.env("FEROS_ROS2", "/nonexistent/ros");
    let ended = feros.start().finish();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("FEROS_ROS2 is /nonexistent/ros"), "{}", ended.out);
}

/// A demo that runs until it is interrupted, with its two processes.
const ENDLESS: &str = "demo --count 0 --without-ros2";

/// An interrupted demo succeeds if every listener has heard every talker by then.
fn is_interrupted(code: Option<i32>) -> bool {
    [Some(130), Some(0)].contains(&code)
}

#[test]
fn interrupting_ends_all_processes() {
    let running = Feros::new("interrupt", ENDLESS).start();
    wait_until("both processes", || running.children().len() == 2);
    running.signal("INT");
    let ended = running.finish();
    assert!(is_interrupted(ended.code), "{ended:?}");
}

#[test]
fn a_process_that_hangs_is_ended() {
    let running = Feros::new("hang", ENDLESS).start();
    wait_until("both processes", || running.children().len() == 2);
    command::signal(running.children()[0], "STOP");
    running.signal("INT");
    let ended = running.finish();
    assert!(is_interrupted(ended.code), "{ended:?}");
}

#[test]
fn processes_end_when_their_coordinator_is_killed() {
    let running = Feros::new("orphans", ENDLESS).start();
    wait_until("both processes", || running.children().len() == 2);
    running.signal("KILL");
    assert_eq!(running.finish_without_look_at_children().code, None);
    wait_until("the end of both processes", || command::processes_of("orphans").is_empty());
}
