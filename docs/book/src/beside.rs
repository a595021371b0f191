//! Runs an example of a page beside the robot, which is another process.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio, exit};
use std::time::Duration;

use feros::lifecycle::LifecycleCallbacks;
use feros::{Context, Executor, LifecycleNode, Node};
use feros_bag::{Recorder, RecorderOptions};
use feros_test_support::ReservedDomain;

/// The variable that tells a process of an example its role.
const ROLE: &str = "FEROS_BOOK_ROLE";

/// The hidden first line of an example. The first process becomes the parent of two others: one is
/// the robot, and one runs the example in the same domain. The parent ends as the example does.
///
/// # Panics
/// If a process cannot be started.
pub fn beside_the_robot() {
    match std::env::var(ROLE).as_deref() {
        Ok("robot") => {
            // The parent closes the robot's standard input when the example has ended.
            let parent_ends: fn() =
                || drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
            if let Err(error) = crate::robot::run(Some(parent_ends)) {
                eprintln!("the robot: {error}");
                exit(1);
            }
            exit(0);
        }
        Ok("example") => {}
        _ => exit(run_both()),
    }
}

/// A node for an example that needs nothing else: beside the robot, and not spun.
///
/// # Panics
/// If the node cannot be made.
pub fn node() -> Node {
    beside_the_robot();
    let context = Context::from_env().expect("a context");
    context.create_node("example").expect("a node")
}

/// A managed node for an example, which does nothing.
///
/// # Panics
/// If the node cannot be made.
pub fn managed_node(node: &Node) -> LifecycleNode {
    struct Nothing;
    impl LifecycleCallbacks for Nothing {}
    node.context().create_lifecycle_node("managed", Nothing).expect("a managed node")
}

/// The current folder of an example, removed with this value.
pub struct FolderWithDrive(PathBuf);

impl Drop for FolderWithDrive {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Changes to a new folder with a bag `drive` of the robot.
///
/// # Panics
/// If the bag cannot be recorded.
pub fn folder_with_drive() -> FolderWithDrive {
    let node = node();
    let path = std::env::temp_dir().join(format!("feros_book_{}", std::process::id()));
    std::fs::create_dir(&path).expect("a folder");
    let folder = FolderWithDrive(path);
    std::env::set_current_dir(&folder.0).expect("the folder is there");
    let recorder = Recorder::start(&node, RecorderOptions::new("drive")).expect("a recorder");
    let executor = Executor::new();
    executor.add_node(&node).expect("nobody else spins the node");
    while recorder.received_messages() < 20 {
        executor.spin_once(Some(Duration::from_millis(100))).expect("it can be spun");
    }
    recorder.stop().expect("the bag can be written");
    folder
}

fn run_both() -> i32 {
    let domain = ReservedDomain::new();
    let mut robot = this_program("robot", &domain);
    let robot = robot.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut robot = robot.expect("the robot cannot be started");
    let said = BufReader::new(robot.stdout.take().expect("its output is a pipe"));
    let is_there = said.lines().map_while(Result::ok).any(|line| line == crate::robot::IS_THERE);
    let ended = is_there.then(|| this_program("example", &domain).status());
    drop(robot.stdin.take());
    let robot = robot.wait().expect("the robot is a child of this process");
    assert!(robot.success(), "{robot}");
    let ended = ended.expect("the robot is there").expect("the example cannot be started");
    ended.code().unwrap_or(1)
}

/// This program in another role. The environment from rustdoc selects the example.
fn this_program(role: &str, domain: &ReservedDomain) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("its own path"));
    command.args(std::env::args_os().skip(1)).env(ROLE, role);
    command.env("ROS_DOMAIN_ID", domain.id().to_string());
    command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
    command
}
