//! Reactions to events, which launch files in Python register.

use std::process::Command;

use rustix::process::Signal;

use crate::launcher::{Launch, has};
use crate::workspace::Workspace;

/// Common definitions of the launch files: a shell script, a message, a handler.
const BEFORE: &str = r#"
at = [request["path"], 1, 1]
def shell(number, name, script, **more):
    return {"do": "execute", "id": number, "at": at, "cmd": [script], "shell": True, "name": name,
            "output": "screen", **more}
def say(number, message):
    return {"do": "log", "id": number, "at": at, "level": "INFO", "message": message}
def on(number, kind, target, *entities, **more):
    handler = {"id": number, "at": at, "on": kind, "target": target,
               "reaction": {"entities": entities}, **more}
    return {"do": "register", "id": number + 1, "at": at, "handler": handler}
def shutdown(number):
    return {"do": "shutdown", "id": number, "at": at, "reason": "done"}
"#;

/// Runs a launch file in Python; `None`, which is reported, if there is no Python.
pub(super) fn start(workspace: &Workspace, text: &str) -> Option<Launch> {
    if !Command::new("python3").arg("-V").output().is_ok_and(|version| version.status.success()) {
        feros_test_support::skip("python3 is missing");
        return None;
    }
    let host = workspace.file("host.py", include_str!("../python/host.py"));
    workspace.file("r.launch.py", &format!("{BEFORE}{text}"));
    let outer = "<launch><include file='$(dirname)/r.launch.py'/></launch>";
    Some(Launch::start_with(workspace, outer, |command| {
        command.env("PYTHON_HOST", host);
    }))
}

/// The lines of an ended launch that processes and log actions have written.
pub(super) fn said(lines: &[String]) -> Vec<&str> {
    lines
        .iter()
        .filter_map(|line| match line.strip_prefix("[INFO] [launch]: ") {
            Some(text) => Some(text),
            None => line.split_once("] ").filter(|_| !line.contains("]: ")).map(|(_, text)| text),
        })
        .collect()
}

/// The reaction is planned twice: before the launch, which shows it, and at its event.
#[test]
fn a_reaction_warns_of_parameter_files() {
    let workspace = Workspace::new();
    workspace.file("bad.yaml", "talker:\n  rate: 5\n");
    let text = r#"
entities = [
    shell(1, "first", "echo first"),
    on(10, "process_exit", [1], {"do": "node", "id": 12, "at": at, "package": "demo",
       "executable": "talker", "parameters": [{"file": "bad.yaml"}]}),
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    let warning = "rate has a value outside of ros__parameters";
    assert_eq!(lines.iter().filter(|line| line.contains(warning)).count(), 1, "{lines:#?}");
    assert_eq!(code, 0, "{lines:#?}");
}

#[test]
fn a_chain_of_processes_follows_their_ends() {
    let workspace = Workspace::new();
    let text = r#"
entities = [
    shell(1, "first", "echo first"),
    on(10, "process_exit", [1], say(12, "first ended"), shell(2, "second", "echo second; exit 3")),
    on(20, "process_exit", [2], say(22, "second ended"), {"do": "set", "id": 23, "at": at,
       "name": "seen", "value": "yes"}, shell(3, "third", "echo third; sleep 1000")),
    on(30, "process_start", [3], say(32, ["third has started, ", {"s": "var", "a": ["seen"]}]),
       shutdown(33)),
    on(40, "shutdown", None, say(42, "the end")),
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let at = |line: &str| {
        lines
            .iter()
            .position(|each| each.contains(line))
            .unwrap_or_else(|| panic!("{line}: {lines:#?}"))
    };
    let order = [
        at("[first-1] first"),
        at("[INFO] [launch]: first ended"),
        at("[second-2] second"),
        at("[INFO] [launch]: second ended"),
        at("[INFO] [launch]: third has started, yes"),
        at("[INFO] [launch]: shutdown (done): the whole launch ends"),
        at("[INFO] [launch]: the end"),
    ];
    assert!(order.is_sorted(), "{lines:#?}");
}

#[test]
fn handlers_are_asked_newest_first_and_can_be_unregistered() {
    let workspace = Workspace::new();
    let text = r#"
objects[51] = lambda request: {"matches": request["action"] == 1}
objects[60] = lambda request: {"entities": [say(61, [request["event"]["name"], " ", str(request["event"]["returncode"])])]}
entities = [
    shell(1, "one", "exit 4"),
    shell(2, "two", "sleep 0.2", respawn=True, respawn_delay=0.1),
    on(10, "process_exit", [1], say(12, "oldest")),
    on(20, "process_exit", [1], say(22, "never")),
    {"do": "unregister", "id": 24, "at": at, "handler": 20},
    on(30, "process_exit", {"py": 51}, say(32, "accepted")),
    {"do": "register", "id": 41, "at": at, "handler": {"id": 40, "at": at, "on": "process_exit",
        "target": [1], "reaction": {"py": 60, "name": "f"}}},
    on(70, "process_exit", [2], say(72, "once"), once=True),
    {"do": "set", "id": 80, "at": at, "name": "ends", "value": "0"},
    on(81, "process_start", [2], {"do": "set", "id": 83, "at": at, "name": "ends",
        "value": [{"s": "eval", "a": [[{"s": "var", "a": ["ends"]}, " + 1"]]}]},
        {**shutdown(84), "if": {"truth": [{"s": "eval", "a": [[{"s": "var", "a": ["ends"]}, " > 2"]]}]}}),
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let said = said(&lines);
    let reactions: Vec<&str> =
        said.iter().copied().filter(|line| !line.contains("launch")).collect();
    assert_eq!(
        reactions.iter().filter(|line| **line != "once").collect::<Vec<_>>(),
        [&"one-1 4", &"accepted", &"oldest"],
        "{lines:#?}"
    );
    assert_eq!(reactions.iter().filter(|line| **line == "once").count(), 1, "{lines:#?}");
}

#[test]
fn the_end_of_a_process_has_a_reaction_of_its_own() {
    let workspace = Workspace::new();
    let text = r#"
entities = [
    shell(1, "one", "true", on_exit={"entities": [say(2, "one has ended"), shell(3, "two", "echo two",
          on_exit={"entities": [say(4, "two has ended")]})]}),
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(
        (code, said(&lines)),
        (0, vec!["one has ended", "two", "two has ended"]),
        "{lines:#?}"
    );
}

#[test]
fn a_shell_runs_the_command_line_of_a_node() {
    let workspace = Workspace::new();
    workspace.script("lib/demo/speak", "shift; echo \"$@\"");
    let text = r#"
entities = [
    {"do": "node", "id": 1, "at": at, "package": "demo", "executable": "speak", "shell": True,
     "name": "n", "arguments": ["-", "$((1 + 2))"], "output": "screen",
     "parameters": [{"map": [["a", {"is": 1}]]}]},
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    let line = said(&lines).concat();
    assert_eq!(code, 0, "{lines:#?}");
    assert!(line.starts_with("3 --ros-args -r __node:=n --params-file /"), "{lines:#?}");
}

#[test]
fn a_reaction_that_fails_ends_the_launch() {
    let workspace = Workspace::new();
    let text = r#"
def fail(request):
    raise ValueError("oh")
objects[5] = fail
entities = [
    shell(1, "one", "true"),
    shell(2, "two", "sleep 1000"),
    {"do": "register", "id": 11, "at": at, "handler": {"id": 10, "at": at, "on": "process_exit",
        "target": [1], "reaction": {"py": 5, "name": "fail"}}},
    on(20, "shutdown", None, say(22, "the end")),
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 1, "{lines:#?}");
    let error = lines.iter().find(|line| line.contains("ValueError: oh"));
    let error = error.unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(
        error.starts_with("[ERROR] [launch]: no reaction to the end of a process: "),
        "{error}"
    );
    assert!(error.contains("r.launch.py:"), "{error}");
    assert!(has(&lines, "[INFO] [launch]: the end"), "{lines:#?}");
}

#[test]
fn signals_end_a_launch_with_busy_reactions() {
    let workspace = Workspace::new();
    let text = r#"
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
def busy(request):
    open("BUSY", "w").close()
    while True:
        time.sleep(0.01)
objects[5] = busy
entities = [
    shell(1, "one", "while [ ! -e BUSY ]; do sleep 0.1; done; echo ready; sleep 1000"),
    {"do": "register", "id": 11, "at": at, "handler": {"id": 10, "at": at, "on": "process_start",
        "target": [1], "reaction": {"py": 5, "name": "busy"}}},
]
"#;
    let busy = workspace.path().join("busy");
    let text = text.replace("BUSY", busy.to_str().unwrap());
    let Some(mut running) = start(&workspace, &text) else { return };
    running.wait_for("[one-1] ready"); // the reaction runs then
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let late =
        "[WARNING] [launch]: the reaction to the end of the launch takes too long, so Python ends";
    assert!(has(&lines, late), "{lines:#?}");
}

#[test]
fn a_host_that_dies_fails_the_reactions_alone() {
    let workspace = Workspace::new();
    let text = r#"
import os
objects[5] = lambda request: os._exit(9)
entities = [
    shell(1, "one", "true"),
    {"do": "register", "id": 11, "at": at, "handler": {"id": 10, "at": at, "on": "process_exit",
        "target": [1], "reaction": {"py": 5, "name": "dies"}}},
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 1, "{lines:#?}");
    let reason = "Python ended with exit code 9, before it had answered";
    assert!(lines.iter().any(|line| line.contains(reason)), "{lines:#?}");
}

#[test]
fn a_managed_node_is_brought_up_by_its_changes() {
    let workspace = Workspace::new();
    let text = r#"
def change(number, transition):
    return {"do": "emit", "id": number, "at": at, "event": {"event": "change_state",
            "node": {"action": 1}, "transition": transition}}
def state(number, goal, *entities):
    handler = {"id": number, "at": at, "on": "state", "node": 1, "goal": goal,
               "reaction": {"entities": entities}}
    return {"do": "register", "id": number + 1, "at": at, "handler": handler}
entities = [
    {"do": "lifecycle_node", "id": 1, "at": at, "package": "demo", "executable": "managed",
     "name": "driver", "namespace": "/cell"},
    state(10, "inactive", say(12, "is configured"), change(13, 3)),
    state(20, "active", say(22, "is activated"), shutdown(23)),
    state(30, "finalized", say(32, "never")),
    change(40, 1),
]
"#;
    workspace.script("lib/demo/managed", "exec sleep 1000");
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let at = |line: &str| {
        lines.iter().position(|each| each == line).unwrap_or_else(|| panic!("{line}: {lines:#?}"))
    };
    let order = [
        at("[INFO] [/cell/driver]: has done the transition 1"),
        at("[INFO] [launch]: is configured"),
        at("[INFO] [/cell/driver]: has done the transition 3"),
        at("[INFO] [launch]: is activated"),
        at("[INFO] [launch]: shutdown (done): the whole launch ends"),
    ];
    assert!(order.is_sorted(), "{lines:#?}");
    assert!(!has(&lines, "[INFO] [launch]: never"), "{lines:#?}");
}

#[test]
fn a_reaction_with_a_mistake_starts_nothing() {
    let workspace = Workspace::new();
    let text = r#"
def var(name):
    return {"s": "var", "a": [name]}
def echo(number, *words):
    return {"do": "execute", "id": number, "at": at, "cmd": ["echo", *words], "name": "echo",
            "output": "screen"}
entities = [
    shell(1, "first", "echo first"),
    on(10, "process_exit", [1],
       {"do": "set", "id": 12, "at": at, "name": "b", "value": [var("later")]},
       echo(2, "second", [var("b")]), say(13, [var("too")])),
    on(20, "shutdown", None, echo(3, "third", [var("b")]), say(23, ["b is ", {"s": "var", "a": ["b", "nothing"]}])),
]
"#;
    let Some(launch) = start(&workspace, text) else { return };
    let (code, lines) = launch.end();
    assert_eq!(code, 1, "{lines:#?}");
    for name in ["later", "too"] {
        let told = format!("there is no argument or variable `{name}`");
        assert!(lines.iter().any(|line| line.contains(&told)), "{lines:#?}");
    }
    assert!(!lines.iter().any(|line| line.contains("[echo-")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains('\u{fdd0}')), "{lines:#?}");
}
