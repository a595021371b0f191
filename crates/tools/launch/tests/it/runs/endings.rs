//! Tests the end of a launch: by signals, with processes left behind, by `on_exit` and `shutdown`.

use std::time::Duration;

use rustix::process::Signal;

use crate::launcher::{Launch, has, is_alive, launch, pid_at_end, shell};
use crate::workspace::Workspace;

#[test]
fn sigint_reaches_all_and_is_an_orderly_end() {
    let workspace = Workspace::new();
    let polite =
        shell("polite", "trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 1; done", "");
    let simple = "<executable cmd='sleep 1000' name='simple'/>".to_owned();
    let mut running = Launch::start(&workspace, &launch(&[polite, simple]));
    let [started, _] = running.wait_for_all(["[simple-2]: started with pid", "[polite-1] ready"]);
    let pid = pid_at_end(&started);
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[WARNING] [launch]: SIGINT: the whole launch ends"), "{lines:?}");
    assert!(
        has(&lines, "[polite-1] bye") && has(&lines, "[INFO] [polite-1]: ended with exit code 3"),
        "{lines:?}"
    );
    assert!(has(&lines, "[INFO] [simple-2]: ended with SIGINT"), "{lines:?}");
    assert!(!is_alive(pid));
}

#[test]
fn who_ignores_signals_is_killed_in_the_end() {
    let workspace = Workspace::new();
    let deaf = shell(
        "deaf",
        "trap '' INT TERM; echo pid $$; while :; do sleep 1; done",
        "sigterm_timeout='0.2' sigkill_timeout='0.2'",
    );
    let mut running = Launch::start(&workspace, &launch(&[deaf]));
    let pid = running.pid_after("[deaf-1] pid");
    // SIGTERM to the launcher itself is also a request to end.
    running.signal(Signal::TERM);
    let (code, lines) = running.end();
    assert_eq!(code, 0);
    let at = |line: &str| {
        lines.iter().position(|each| each == line).unwrap_or_else(|| panic!("{line}: {lines:?}"))
    };
    let order = [
        at("[WARNING] [launch]: SIGTERM: the whole launch ends"),
        at("[WARNING] [deaf-1]: does not end, so it gets SIGTERM"),
        at("[WARNING] [deaf-1]: does not end, so it gets SIGKILL"),
        at("[INFO] [deaf-1]: ended with SIGKILL"),
    ];
    assert!(order.is_sorted(), "{lines:?}");
    assert!(!is_alive(pid));
}

/// Signals that are further apart count as two requests.
const TOGETHER: Duration = Duration::from_millis(250);

#[test]
fn further_signals_hurry() {
    let workspace = Workspace::new();
    let deaf = shell(
        "deaf",
        "trap '' INT TERM; echo pid $$; while :; do sleep 1; done",
        "sigterm_timeout='1000'",
    );
    let mut running = Launch::start(&workspace, &launch(&[deaf]));
    let pid = running.pid_after("[deaf-1] pid");
    running.signal(Signal::INT);
    // Several signals at once, as a terminal or a launcher sends them, count as one request.
    running.signal(Signal::TERM);
    running.wait_for("the whole launch ends");
    std::thread::sleep(TOGETHER);
    running.signal(Signal::INT);
    running.wait_for("[WARNING] [deaf-1]: gets SIGTERM");
    std::thread::sleep(TOGETHER);
    running.signal(Signal::INT);
    running.wait_for("[WARNING] [deaf-1]: gets SIGKILL");
    assert_eq!(running.end().0, 0);
    assert!(!is_alive(pid));
}

#[test]
fn nothing_that_a_process_left_behind_stays() {
    let workspace = Workspace::new();
    // The first process leaves a child that ignores SIGINT; the second keeps the launch running
    // until the test has seen that.
    let leaver = shell(
        "leaver",
        // The first process ends after its child has printed its id.
        "(trap '' INT; echo pid $(exec sh -c 'echo $PPID'); : > $W/told; while :; do sleep 1; done) & \
         until [ -e $W/told ]; do sleep 0.05; done",
        "sigterm_timeout='0.2'",
    );
    let mut running = Launch::start(&workspace, &launch(&[leaver]));
    let pid = running.pid_after("[leaver-1] pid");
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[WARNING] [leaver-1]: does not end, so it gets SIGTERM"), "{lines:?}");
    assert!(!is_alive(pid));
}

#[test]
fn processes_that_left_their_group_end_last() {
    let workspace = Workspace::new();
    let escaping = |trap: &str| {
        let script = format!(
            "rm -f $W/told; setsid sh -c \"trap '{trap}' TERM; echo pid \\$\\$; : > $W/told; while :; do sleep 1; done\" & \
             until [ -e $W/told ]; do sleep 0.05; done"
        );
        shell("escaping", &script, "")
    };
    // One escaped process ends on SIGTERM. Another ignores SIGTERM, and a Ctrl-C skips the wait for
    // it.
    for (trap, hurries) in [("exit 0", false), ("", true)] {
        let mut running = Launch::start(&workspace, &launch(&[escaping(trap)]));
        let pid = running.pid_after("[escaping-1] pid");
        if hurries {
            running.wait_for("[INFO] [escaping-1]: ended");
            while is_alive(pid) && running.process.try_wait().unwrap().is_none() {
                running.signal(Signal::INT);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let (code, lines) = running.end();
        assert_eq!(code, 0, "{lines:?}");
        assert!(!is_alive(pid));
    }
}

#[test]
fn with_on_exit_everything_ends_and_a_bad_end_is_a_failure() {
    let workspace = Workspace::new();
    for (script, expected, told) in [
        ("exit 7", 1, "[ERROR] [required-2]: died with exit code 7 (command: /bin/sh -c 'exit 7')"),
        ("exit 0", 0, "[INFO] [required-2]: ended"),
        (
            "kill -SEGV $$",
            1,
            "[ERROR] [required-2]: died with SIGSEGV (command: /bin/sh -c 'kill -SEGV $$')",
        ),
    ] {
        let other = "<executable cmd='sleep 1000' name='other'/>".to_owned();
        let required = shell("required", script, "on_exit='shutdown'");
        let (code, lines) = Launch::start(&workspace, &launch(&[other, required])).end();
        assert_eq!(code, expected, "{lines:?}");
        assert!(has(&lines, told), "{lines:?}");
        assert!(has(&lines, "[INFO] [other-1]: ended with SIGINT"), "{lines:?}");
    }
}

#[test]
fn shutdown_ends_everything_and_nothing_after_it_begins() {
    let workspace = Workspace::new();
    let other = "<executable cmd='sleep 1000' name='other'/>".to_owned();
    let end = "<timer period='0.3'><shutdown reason='enough'/><log message='never'/></timer>";
    let (code, lines) = Launch::start(&workspace, &launch(&[other, end.to_owned()])).end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[INFO] [launch]: shutdown (enough): the whole launch ends"), "{lines:?}");
    assert!(has(&lines, "[INFO] [other-1]: ended with SIGINT"), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("never")), "{lines:?}");
    let at_once = launch(&["<shutdown/>".to_owned(), shell("late", "echo never", "")]);
    let (code, lines) = Launch::start(&workspace, &at_once).end();
    assert_eq!((code, lines.len()), (0, 1), "{lines:?}");
    assert_eq!(lines[0], "[INFO] [launch]: shutdown (reason not given): the whole launch ends");
}

#[test]
fn the_end_waits_for_no_timer() {
    let workspace = Workspace::new();
    let timer = "<timer period='1000'><log message='never'/></timer>".to_owned();
    let mut running = Launch::start(&workspace, &launch(&[timer, shell("one", "echo here", "")]));
    running.wait_for("[INFO] [one-1]: ended");
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[WARNING] [launch]: SIGINT: the whole launch ends"), "{lines:?}");
}
