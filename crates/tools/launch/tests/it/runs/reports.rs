//! Tests the events that a program gets instead of output and messages.

use serde_json::{Value as Json, json};

use crate::launcher::{Launch, launch, shell};
use crate::workspace::Workspace;

/// The events of a launch, without process ids.
fn events(text: &str) -> (i32, Vec<Json>) {
    let workspace = Workspace::new();
    let (code, lines) = Launch::start_with(&workspace, text, |command| {
        command.env("JSON", "1");
    })
    .end();
    let event = |line: &String| {
        let mut event: Json = serde_json::from_str(line).unwrap();
        if let Some(pid) = event.get_mut("pid") {
            assert!(pid.take().as_u64().is_some_and(|pid| pid > 1), "{line}");
        }
        event
    };
    (code, lines.iter().map(event).collect())
}

fn output(stream: &str, line: &str) -> Json {
    json!({"event": "output", "process": "one-1", "stream": stream, "line": line})
}

#[test]
fn a_program_reads_what_happens_in_json() {
    // Without `output`, standard output goes only to the log.
    let script = r#"printf 'a "b"\n\377\n'; echo err >&2; exit 3"#;
    let text = launch(&[shell("one", script, "").replace(r#"output="screen""#, "")]);
    let (code, events) = events(&text);
    assert_eq!(code, 0);
    let has = |event: &Json| events.contains(event);
    assert_eq!(events[0], json!({"event": "begun"}));
    let started = json!({"event": "started", "process": "one-1", "pid": null, "action": null});
    assert!(has(&started), "{events:#?}");
    assert!(has(&output("stdout", "a \"b\"")), "{events:#?}");
    assert!(has(&output("stdout", "\u{fffd}")), "{events:#?}");
    assert!(has(&output("stderr", "err")), "{events:#?}");
    let ended = json!({
        "event": "ended", "process": "one-1", "action": null, "code": 3, "was_asked": false,
    });
    let end = events.iter().position(|event| *event == ended).unwrap();
    let last = events.iter().rposition(|event| event["event"] == "output").unwrap();
    assert!(last < end, "the output comes before the end: {events:#?}");
    let died = events.iter().find(|event| event["level"] == "ERROR").unwrap();
    assert_eq!(died["name"], "one-1");
    assert!(died["text"].as_str().unwrap().starts_with("died with exit code 3"), "{died}");
}

#[test]
fn a_process_that_the_launch_ends_is_told_so() {
    let text = launch(&[
        shell("one", "kill -INT $$; sleep 60", ""),
        shell("two", "sleep 60", ""),
        "<timer period='0.2'><shutdown reason='enough'/></timer>".to_owned(),
    ]);
    let (_, events) = events(&text);
    let ended = |name: &str| {
        let is_it = |event: &&Json| event["event"] == "ended" && event["process"] == name;
        events.iter().find(is_it).cloned().unwrap_or_default()
    };
    assert_eq!(
        (&ended("one-1")["code"], &ended("one-1")["was_asked"]),
        (&json!(-2), &json!(false))
    );
    assert_eq!((&ended("two-2")["code"], &ended("two-2")["was_asked"]), (&json!(-2), &json!(true)));
}
