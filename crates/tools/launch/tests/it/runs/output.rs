//! Tests the output of processes: lines, their destinations, and a reader that reads nothing.

use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::launcher::{Launch, has, launch, launcher, shell};
use crate::workspace::Workspace;

#[test]
fn lines_carry_the_name_and_are_never_mixed() {
    let workspace = Workspace::new();
    let many = |name| {
        shell(
            name,
            "i=0; while [ $i -lt 300 ]; do printf a; printf 'b\\n'; i=$((i+1)); done; printf last",
            "",
        )
    };
    let (code, lines) = Launch::start(&workspace, &launch(&[many("x"), many("y")])).end();
    assert_eq!(code, 0);
    for name in ["[x-1]", "[y-2]"] {
        assert_eq!(lines.iter().filter(|line| **line == format!("{name} ab")).count(), 300);
        assert!(has(&lines, &format!("{name} last")), "{lines:?}");
        assert!(has(&lines, &format!("[INFO] {}: ended", name)), "{lines:?}");
    }
    assert_eq!(lines.len(), 2 * (300 + 1 + 2), "{lines:?}");
}

#[test]
fn output_goes_where_the_file_says() {
    let workspace = Workspace::new();
    let echo = |name: &str, output: &str| {
        format!(
            "<executable shell='true' cmd='echo out; echo err >&amp;2' name='{name}' output='{output}'/>"
        )
    };
    let text = launch(&[echo("a", "log"), echo("b", "both"), echo("c", "screen")]);
    let log = workspace.path().join("logs/one/launch.log");
    let (code, lines) = Launch::start_with(&workspace, &text, |command| {
        command.env("LOG_FILE", &log);
    })
    .end();
    assert_eq!(code, 0);
    let seen = |line: &str| has(&lines, line);
    assert!(
        !seen("[a-1] out")
            && seen("[a-1] err")
            && seen("[b-2] out")
            && seen("[b-2] err")
            && seen("[c-3] out"),
        "{lines:?}"
    );
    let log = fs::read_to_string(log).unwrap();
    let logged = |line: &str| log.lines().any(|each| each.ends_with(line));
    assert!(
        logged("[a-1] out") && logged("[a-1] err") && logged("[b-2] out") && !logged("[c-3] out"),
        "{log}"
    );
    assert!(log.contains("[INFO] started with pid"), "{log}");
}

#[test]
fn a_terminal_is_one_when_asked_for() {
    let workspace = Workspace::new();
    let script = "test -t 1 && echo terminal || echo pipe";
    let (code, lines) = Launch::start(
        &workspace,
        &launch(&[shell("t", script, "emulate_tty='true'"), shell("p", script, "")]),
    )
    .end();
    assert_eq!(code, 0);
    assert!(has(&lines, "[t-1] terminal") && has(&lines, "[p-2] pipe"), "{lines:?}");
}

#[test]
fn more_is_told_where_it_is_asked_for() {
    let workspace = Workspace::new();
    let debug = "<log_debug message='fine point'/>".to_owned();
    let text = launch(&[debug, "<timer period='0.1'/>".to_owned(), shell("one", "echo here", "")]);
    let (_, lines) = Launch::start(&workspace, &text).end();
    assert!(!lines.iter().any(|line| line.contains("[DEBUG]")), "{lines:?}");
    let more = |command: &mut Command| {
        command.env("DEBUG", "1");
    };
    let (code, lines) = Launch::start_with(&workspace, &text, more).end();
    assert_eq!(code, 0);
    assert!(has(&lines, "[DEBUG] [launch]: fine point"), "{lines:?}");
    assert!(has(&lines, "[DEBUG] [one-1]: command: /bin/sh -c 'echo here'"), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with(": waits 0.1 s")), "{lines:?}");
}

#[test]
fn a_reader_that_goes_away_or_sleeps_stops_no_signal() {
    let workspace = Workspace::new();
    let file = workspace.file("run.launch.xml", &launch(&[shell("talker", "yes", "")]));
    let start = || {
        let mut command = Command::new(launcher());
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut gone = start();
    let mut first = [0; 10];
    gone.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert!(gone.wait().unwrap().success());

    let mut asleep = start();
    let mut stdout = asleep.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    wait_until_blocked(Pid::from_child(&asleep));
    kill_process(Pid::from_child(&asleep), Signal::INT).unwrap();
    assert!(asleep.wait().unwrap().success());
    drop(stdout);
}

/// Waits until the launcher has filled its output pipe, so that further output is pending in its
/// memory.
fn wait_until_blocked(pid: Pid) {
    let stat = || fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap();
    let ticks = || {
        stat()
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .nth(11)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let mut before = ticks();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = ticks();
        if now == before {
            return;
        }
        before = now;
    }
}
