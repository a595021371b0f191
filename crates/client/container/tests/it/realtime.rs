//! Priority, processors and locked memory of containers: all threads have them, those of processes
//! of components too, or the container says the reason and the cure.
//!
//! Whether the system grants a request depends on the user who runs the tests.

use std::fs;
use std::process::Output;

use feros_interop::Domain;
use feros_test_support::{command_of, eventually, skip};

use crate::support::{ALL, Container, PROCESS, SINGLE, named};

/// The result of a container that must not get as far as its engine, which does not exist.
fn ended(arguments: &[&str]) -> Output {
    let mut command = command_of(SINGLE);
    Domain::reserve_without_ros2().confine(&mut command);
    command.args(arguments).env("FEROS_ENGINE", "absent").output().unwrap()
}

/// The system's refusal of these settings, if it refuses them.
fn refusal(arguments: &[&str]) -> Option<String> {
    let output = ended(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    match output.status.code() {
        Some(1) => Some(text),
        Some(2) => {
            assert!(text.contains("absent"), "the engine comes after the settings: {text}");
            None
        }
        other => panic!("{other:?}: {text}"),
    }
}

/// The processes of a container: its own and those of its components.
fn processes(container: &Container) -> Vec<u32> {
    let own = container.pid();
    let tasks = fs::read_dir(format!("/proc/{own}/task")).unwrap();
    let children = tasks.flatten().filter_map(|task| {
        fs::read_to_string(task.path().join("children")).ok() // a thread may just have ended
    });
    let children: Vec<u32> = children
        .flat_map(|list| {
            list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<u32>>()
        })
        .collect();
    [own].into_iter().chain(children).collect()
}

/// The text of this file of each thread of a process.
fn of_threads(process: u32, file: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let all: Vec<_> = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join(file)).ok())
        .collect();
    assert!(!all.is_empty(), "a process has a thread");
    all
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim()
}

/// A container of each kind with these settings and with a component. `check` gets each process.
fn check_each_kind(arguments: &[&str], check: impl Fn(u32)) {
    for binary in ALL {
        let container = Container::start(binary, arguments);
        container.load(&named("demo", "demo_components::Talker", "critical"));
        let wanted = if binary == PROCESS { 2 } else { 1 };
        let processes = eventually(|| {
            let all = processes(&container);
            if all.len() == wanted { Ok(all) } else { Err(format!("{wanted} processes: {all:?}")) }
        });
        processes.into_iter().for_each(&check);
    }
}

/// The processors that the tests may use.
fn allowed() -> String {
    field(&fs::read_to_string("/proc/self/status").unwrap(), "Cpus_allowed_list:").to_owned()
}

#[test]
fn all_threads_use_only_the_processors_that_are_named() {
    let allowed = allowed();
    let last = allowed.rsplit([',', '-']).next().unwrap();
    check_each_kind(&["--cpus", last], |process| {
        for status in of_threads(process, "status") {
            assert_eq!(field(&status, "Cpus_allowed_list:"), last, "{status}");
        }
    });
}

#[test]
fn all_threads_have_the_priority_or_the_refusal_has_a_cure() {
    let arguments = ["--priority", "10"];
    if let Some(text) = refusal(&arguments) {
        for part in ["Fifo { priority: 10 }", "errno ", "ulimit -r", "CAP_SYS_NICE"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        return skip("SCHED_FIFO is refused here: raise `ulimit -r`, or run the tests as root");
    }
    check_each_kind(&arguments, |process| {
        for stat in of_threads(process, "stat") {
            // Fields 40 and 41 of proc(5); the first after the name is field 3.
            let after_name = stat.rsplit(')').next().unwrap();
            let fields: Vec<_> = after_name.split_whitespace().collect();
            assert_eq!((fields[37], fields[38]), ("10", "1"), "priority and SCHED_FIFO: {stat}");
        }
    });
}

#[test]
fn memory_is_locked_or_the_refusal_has_a_cure() {
    let arguments = ["--lock-memory"];
    if let Some(text) = refusal(&arguments) {
        for part in ["mlockall", "errno ", "ulimit -l", "CAP_IPC_LOCK"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        return skip("mlockall is refused here: raise `ulimit -l`, or run the tests as root");
    }
    check_each_kind(&arguments, |process| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        assert_ne!(field(&status, "VmLck:"), "0 kB", "{status}");
    });
}

#[test]
fn a_processor_that_is_absent_is_named_with_the_cure() {
    let allowed = allowed();
    let first = allowed.split([',', '-']).next().unwrap();
    for list in ["1023".to_owned(), format!("{first},1023")] {
        let text = refusal(&["--cpus", &list]).expect("a refusal");
        assert!(text.contains("processors [1023] was refused (errno 22"), "{list}: {text}");
        assert!(text.contains("choose processors that exist"), "{list}: {text}");
    }
}

#[test]
fn numbers_out_of_range_are_wrong_usage() {
    for (arguments, expected) in [
        (["--priority", "0"], "from 1 (low) to 99 (high)"),
        (["--priority", "100"], "from 1 (low) to 99 (high)"),
        (["--cpus", "0-1024"], "a number from 0 to 1023"),
    ] {
        let output = ended(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}
