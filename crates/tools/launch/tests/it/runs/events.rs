//! Events beside the starts and ends of processes: output, completed actions, events of launch
//! files, and handlers that choose among all events.

use std::fs;

use super::reactions::{said, start};
use crate::workspace::Workspace;

/// The reactions that are log actions.
fn reactions(lines: &[String]) -> Vec<&str> {
    let logged = lines.iter().filter_map(|line| line.strip_prefix("[INFO] [launch]: "));
    logged.filter(|line| !line.contains("the whole launch ends")).collect()
}

#[test]
fn lines_of_output_reach_handlers_byte_for_byte() {
    let workspace = Workspace::new();
    let text = r#"
def heard(request):
    event = request["event"]
    text = bytes.fromhex(event["hex"]) if "hex" in event else event["text"].encode()
    return {"entities": [say(60, " ".join([event["name"], event["stream"], repr(text)]))]}
objects[50] = heard
def output(number, target, streams, **more):
    handler = {"id": number, "at": at, "on": "process_io", "streams": streams,
               "reaction": {"py": 50, "name": "heard"}, **more}
    return {"do": "register", "id": number + 1, "at": at, "handler": {**handler, "target": target}}
entities = [
    output(10, [1], ["stdout"]),
    output(20, [2], ["stdout", "stderr", "stdin"], once=True),
    shell(1, "one", "printf 'a b\\n\\377\\nno end'; echo unheard >&2"),
    shell(2, "two", "echo first >&2; sleep 0.1; echo second"),
    shell(3, "three", "echo unheard"),
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let heard = reactions(&lines);
    let of = |name: &str| -> Vec<&str> {
        heard.iter().filter_map(|line| line.strip_prefix(name)).collect()
    };
    let one = [r" stdout b'a b\n'", r" stdout b'\xff\n'", " stdout b'no end'"];
    assert_eq!(of("one-1"), one, "{lines:#?}");
    assert_eq!(of("two-2"), [r" stderr b'first\n'"], "{lines:#?}");
    assert_eq!(heard.len(), 4, "{lines:#?}");
    assert!(said(&lines).contains(&"second"), "{lines:#?}");
}

/// The handler does not return before the process has stopped writing. A queue without a limit
/// would take all lines meanwhile.
#[test]
fn a_flood_of_output_waits_for_its_handler() {
    let workspace = Workspace::new();
    let text = r#"
import os, time
written = os.path.join(os.path.dirname(request["path"]), "written")
counted = [0, 0]
def size():
    return os.path.getsize(written)
def heard(request):
    counted[0] += 1
    before = -1
    while counted[0] == 1 and before != size():
        before = size()
        time.sleep(0.3)
        counted[1] = size()
    return {"entities": []}
objects[50] = heard
objects[51] = lambda request: {"entities": [say(60, f"{counted[0]} lines, {counted[1]} at first")]}
line = "x" * 1000
entities = [
    {"do": "register", "id": 11, "at": at, "handler": {"id": 10, "at": at, "on": "process_io",
        "target": [1], "streams": ["stdout"], "reaction": {"py": 50, "name": "heard"}}},
    {"do": "register", "id": 21, "at": at, "handler": {"id": 20, "at": at, "on": "shutdown",
        "reaction": {"py": 51, "name": "counts"}}},
    {"do": "execute", "id": 1, "at": at, "name": "flood", "shell": True, "output": "log",
     "cmd": [f"i=0; while [ $i -lt 2000 ]; do echo {line}; printf . >> {written};"
             " i=$((i + 1)); done"]},
]
"#;
    fs::write(workspace.path().join("written"), "").unwrap();
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let counts = reactions(&lines);
    let [counts] = counts.as_slice() else { panic!("{lines:#?}") };
    let at_first = counts.strip_prefix("2000 lines, ").and_then(|rest| rest.split(' ').next());
    let at_first: usize = at_first.unwrap_or_else(|| panic!("{counts}")).parse().unwrap();
    assert!((1..1000).contains(&at_first), "{counts}");
}

/// The process can only write all of its output if it is read while the function waits.
#[test]
fn a_slow_reaction_stops_no_other_output() {
    let workspace = Workspace::new();
    let text = r#"
import os, time
written = os.path.join(os.path.dirname(request["path"]), "written")
def waits(request):
    while not os.path.exists(written):
        time.sleep(0.01)
    return {"entities": [say(60, "all is written")]}
objects[50] = waits
entities = [
    {"do": "register", "id": 11, "at": at, "handler": {"id": 10, "at": at, "on": "process_start",
        "target": [1], "reaction": {"py": 50, "name": "waits"}}},
    {"do": "execute", "id": 1, "at": at, "name": "flood", "shell": True, "output": "log",
     "cmd": [f"yes | head -c 3000000; touch {written}"]},
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!((code, reactions(&lines)), (0, vec!["all is written"]), "{lines:#?}");
}

#[test]
fn actions_are_complete_when_their_work_is_done() {
    let workspace = Workspace::new();
    let text = r#"
def complete(number, *target):
    return on(number, "execution_complete", list(target), say(number + 2, f"complete: {target[0]}"))
entities = [
    say(1, "too early"),
    complete(10, 1),
    complete(20, 2),
    complete(30, 3),
    complete(40, 4),
    complete(50, 5),
    complete(60, 6),
    say(2, "log"),
    shell(3, "again", "true", respawn=True, respawn_delay=0.05, respawn_max_retries=2),
    {"do": "timer", "id": 4, "at": at, "period": 0.05, "actions": [say(5, "later")]},
    {**say(6, "never"), "if": {"truth": "false"}},
]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let all = reactions(&lines);
    let at = |text: &str| {
        all.iter().position(|line| *line == text).unwrap_or_else(|| panic!("{text}: {lines:#?}"))
    };
    assert!(at("log") < at("complete: 2"), "{lines:#?}");
    assert!(at("later") < at("complete: 5") && at("complete: 5") < at("complete: 4"), "{lines:#?}");
    let ends = lines.iter().filter(|line| line.contains("[again-1]: ended"));
    assert_eq!(ends.count(), 3, "{lines:#?}");
    assert_eq!(all.iter().filter(|line| **line == "complete: 3").count(), 1, "{lines:#?}");
    assert_eq!(all.len(), 7, "{lines:#?}");
}

#[test]
fn a_handler_chooses_among_all_events() {
    let workspace = Workspace::new();
    let text = r#"
kinds = []
def chooses(request):
    kinds.append(request["event"]["event"])
    return {"matches": request["event"]["event"] == "py"}
def reacts(request):
    return {"entities": [say(60, f"own event {request['event']['id']}")]}
objects[50] = chooses
objects[51] = reacts
objects[20] = lambda request: {"matches": request["event"].get("id") == 9}
objects[21] = lambda request: {"entities": [say(61, ", ".join(sorted(set(kinds))))]}
entities = [
    {"do": "register", "id": 11, "at": at, "handler": {"id": 10, "at": at, "on": "event",
        "matcher": {"py": 50, "name": "chooses"}, "reaction": {"py": 51, "name": "reacts"}}},
    {"do": "register", "id": 22, "at": at, "handler": {"id": 20, "at": at, "on": "shutdown",
        "reaction": {"py": 21, "name": "tells"}}},
    shell(1, "one", "echo one"),
    {"do": "timer", "id": 2, "at": at, "period": 0.05, "actions": [
        {"do": "emit", "id": 3, "at": at, "event": {"event": "py", "id": 8, "name": "Ready"}}]},
]
objects[10] = objects[50]
"#;
    let Some(running) = start(&workspace, text) else { return };
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:#?}");
    let kinds = "execution_complete, process_exit, process_io, process_start, py, timer";
    // The handlers of the end are asked newest first, so the function has not seen that event.
    assert_eq!(reactions(&lines), ["own event 8", kinds], "{lines:#?}");
}
