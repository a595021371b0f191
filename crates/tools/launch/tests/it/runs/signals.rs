//! Signals to processes, their ends, and cancelled timers, as launch files in Python ask for them.

use super::reactions::{said, start};
use crate::launcher::has;
use crate::workspace::Workspace;

/// Events of processes and of timers, on top of the definitions of `reactions`.
const EVENTS: &str = r#"
def signal(number, name, signal, process):
    return {"do": "emit", "id": number, "at": at, "event": {"event": "signal_process",
            "process": process, "signal": name, "number": signal}}
def end(number, process):
    return {"do": "emit", "id": number, "at": at,
            "event": {"event": "shutdown_process", "process": process}}
def ready(number, target, *entities):
    "Reacts to the first line of a process."
    objects[number + 1000] = lambda request: {"entities": list(entities)}
    return {"do": "register", "id": number + 1, "at": at, "handler": {"id": number, "at": at,
            "on": "process_io", "target": [target], "streams": ["stdout"], "once": True,
            "reaction": {"py": number + 1000, "name": "ready"}}}
def timer(number, period, *entities, **more):
    return {"do": "timer", "id": number, "at": at, "period": period, "actions": list(entities),
            **more}
"#;

fn run(text: &str) -> Option<(i32, Vec<String>)> {
    let workspace = Workspace::new();
    Some(start(&workspace, &format!("{EVENTS}{text}"))?.end())
}

fn at(lines: &[String], part: &str) -> usize {
    let found = lines.iter().position(|line| line.contains(part));
    found.unwrap_or_else(|| panic!("{part}: {lines:#?}"))
}

#[test]
fn a_signal_reaches_the_process_of_an_action_a_name_and_a_function() {
    let text = r#"
seen = []
def chooses(request):
    seen.append((request["action"], request.get("details", {}).get("name")))
    return {"matches": request["action"] == 3}
objects[50] = chooses
objects[51] = lambda request: {"entities": [say(52, f"asked {sorted(seen)}")]}
script = "trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 0.01; done"
entities = [
    shell(1, "one", script), shell(2, "two", script), shell(3, "three", script),
    ready(10, 1, signal(12, "SIGUSR1", 10, {"action": 1})),
    ready(20, 2, signal(22, "SIGUSR1", 10, {"name": "two-2"})),
    ready(30, 3, signal(32, "SIGUSR1", 10, {"py": 50})),
    {"do": "register", "id": 41, "at": at, "handler": {"id": 40, "at": at, "on": "shutdown",
        "reaction": {"py": 51, "name": "tells"}}},
]
"#;
    let Some((code, lines)) = run(text) else { return };
    assert_eq!(code, 0, "{lines:#?}");
    for name in ["one-1", "two-2", "three-3"] {
        assert!(
            at(&lines, &format!("[{name}]: gets SIGUSR1"))
                < at(&lines, &format!("[{name}] got it"))
        );
        assert!(has(&lines, &format!("[INFO] [{name}]: ended")), "{lines:#?}");
        assert_eq!(said(&lines).iter().filter(|line| **line == "got it").count(), 3, "{lines:#?}");
    }
    // The function sees the details of the processes that have started.
    let asked = &lines[at(&lines, "asked ")];
    assert!(asked.contains("(3, 'three-3')"), "{asked}");
}

/// A launch without handlers asks functions, too.
#[test]
fn a_timer_signals_the_process_that_a_function_chooses() {
    let text = r#"
objects[50] = lambda request: {"matches": request["details"]["name"] == "b-2"}
entities = [
    shell(1, "a", "sleep 0.5; echo a ends"),
    shell(2, "b", "exec sleep 1000"),
    timer(4, 0.1, signal(5, "SIGTERM", 15, {"py": 50})),
]
"#;
    let Some((code, lines)) = run(text) else { return };
    assert_eq!(code, 0, "{lines:#?}");
    assert!(has(&lines, "[INFO] [b-2]: gets SIGTERM"), "{lines:#?}");
    assert!(has(&lines, "[a-1] a ends"), "{lines:#?}");
}

#[test]
fn a_process_that_the_file_ends_is_not_started_again() {
    let text = r#"
entities = [
    on(30, "execution_complete", [1], say(32, "it is complete")),
    shell(1, "server", "echo ready; exec sleep 1000", respawn=True, respawn_delay=0.01),
    ready(10, 1, end(12, {"action": 1})),
    on(20, "process_exit", [1], say(22, "it has ended"), end(23, {"action": 1})),
    shell(2, "other", "sleep 0.5; echo done"),
]
"#;
    let Some((code, lines)) = run(text) else { return };
    assert_eq!(code, 0, "{lines:#?}");
    let starts = lines.iter().filter(|line| line.contains("[server-1]: started with pid"));
    assert_eq!(starts.count(), 1, "{lines:#?}");
    assert!(at(&lines, "[server-1]: gets SIGINT") < at(&lines, "it has ended"), "{lines:#?}");
    assert!(at(&lines, "it has ended") < at(&lines, "it is complete"), "{lines:#?}");
    // The launch goes on.
    assert!(has(&lines, "[other-2] done"), "{lines:#?}");
}

#[test]
fn a_process_that_waits_for_its_next_start_ends_at_once() {
    let text = r#"
entities = [
    on(30, "execution_complete", [1], say(32, "it is complete")),
    shell(1, "server", "exit 3", respawn=True, respawn_delay=1000),
    on(10, "process_exit", [1], timer(12, 0.05, end(13, {"name": "server-1"}))),
]
"#;
    let Some((code, lines)) = run(text) else { return };
    assert_eq!(code, 0, "{lines:#?}");
    assert!(has(&lines, "[INFO] [server-1]: is not started again"), "{lines:#?}");
    assert!(has(&lines, "[INFO] [launch]: it is complete"), "{lines:#?}");
}

#[test]
fn a_signal_to_no_process_is_a_warning() {
    let text = r#"
entities = [signal(1, "SIGTERM", 15, {"name": "camera-9"}), end(2, {"action": 77})]
"#;
    let Some((code, lines)) = run(text) else { return };
    assert_eq!(code, 0, "{lines:#?}");
    assert!(lines[at(&lines, "camera-9 has not been started")].contains("[WARN"), "{lines:#?}");
    at(&lines, "a process that starts later has not been started");
}

#[test]
fn a_cancelled_timer_is_complete_and_does_nothing() {
    let text = r#"
cancel = lambda number, timer: {"do": "cancel_timer", "id": number, "at": at, "timer": timer}
sim = {"do": "set_use_sim_time", "id": 3, "at": at, "value": "true"}
objects[50] = lambda request: {"entities": [cancel(51, 20), cancel(52, 30), cancel(53, 999)]}
entities = [
    cancel(1, 10),
    on(60, "execution_complete", [10], say(62, "complete: 10")),
    on(63, "execution_complete", [20], say(65, "complete: 20")),
    on(66, "execution_complete", [30], say(68, "complete: 30")),
    timer(10, 0.01, say(11, "never")),
    timer(20, 1000, say(21, "never")),
    sim,
    timer(30, 1000, say(31, "never"), ros=True),
    {"do": "register", "id": 41, "at": at, "handler": {"id": 40, "at": at, "on": "process_start",
        "target": [2], "reaction": {"py": 50, "name": "cancels"}}},
    shell(2, "short", "sleep 0.1"),
]
"#;
    let Some((code, lines)) = run(text) else { return };
    assert_eq!(code, 0, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("never")), "{lines:#?}");
    for timer in ["10", "20", "30"] {
        at(&lines, &format!("complete: {timer}"));
    }
}

/// The actions that a function returns within a timer run when the timer fires.
#[test]
fn a_timer_cancels_another_at_its_time() {
    let text = r#"
cancel = lambda number, timer: {"do": "cancel_timer", "id": number, "at": at, "timer": timer}
entities = [
    timer(1, 0.2, cancel(2, 4), say(3, "cancelled")),
    timer(4, 1000, say(5, "never")),
    timer(6, 0.05, say(7, "before")),
]
"#;
    let Some((code, lines)) = run(text) else { return };
    assert_eq!(code, 0, "{lines:#?}");
    assert!(at(&lines, "before") < at(&lines, "cancelled"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("never")), "{lines:#?}");
}
