//! Launch files that run: shell scripts as processes, the example `run_file` as the launcher.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::workspace::Workspace;

/// Nobody waits longer than this for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A launcher that runs.
struct Launch {
    process: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

/// The example, which `cargo test` builds unless it is told to build one test only.
fn launcher() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let launcher = test.parent().unwrap().parent().unwrap().join("examples/run_file");
    let built = fs::metadata(&launcher).and_then(|metadata| metadata.modified());
    let sources = [
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/run"),
    ];
    let files = sources.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let newest = files.map(|file| file.unwrap().metadata().unwrap().modified().unwrap()).max();
    assert!(
        built.is_ok_and(|built| Some(built) >= newest),
        "first: cargo build -p feros-launch --example run_file"
    );
    launcher
}

impl Launch {
    fn start(workspace: &Workspace, text: &str) -> Self {
        Self::start_with(workspace, text, |_| {})
    }

    fn start_with(workspace: &Workspace, text: &str, change: impl FnOnce(&mut Command)) -> Self {
        let file = workspace.file("run.launch.xml", text);
        let mut command = Command::new(launcher());
        command.arg(file).env("AMENT_PREFIX_PATH", workspace.path()).current_dir(workspace.path());
        command.env("W", workspace.path()).env_remove("OVERRIDE_LAUNCH_PROCESS_OUTPUT");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        change(&mut command);
        let mut process = command.spawn().unwrap();
        let lines = reader(process.stdout.take().unwrap());
        Self { process, lines, seen: Vec::new() }
    }

    /// Waits for a line with this in it.
    fn wait_for(&mut self, part: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(part) {
                        return line;
                    }
                }
                Err(error) => panic!("{part}: {error}, after {:#?}", self.seen),
            }
        }
    }

    /// The process id in a line such as `pid 12`.
    fn pid_after(&mut self, part: &str) -> Pid {
        let line = self.wait_for(part);
        Pid::from_raw(line.rsplit(' ').next().unwrap().parse().unwrap()).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits for the end; gives the exit code and all lines.
    fn end(mut self) -> (i32, Vec<String>) {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.seen.push(line),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("no end: {error}, after {:#?}", self.seen),
            }
        }
        let code = self.process.wait().unwrap().code().unwrap();
        (code, std::mem::take(&mut self.seen))
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn reader(stdout: ChildStdout) -> Receiver<String> {
    let (sender, lines) = sync_channel(100_000);
    let read = move || {
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("reader".to_owned()).spawn(read).unwrap();
    lines
}

fn is_alive(pid: Pid) -> bool {
    // A zombie is no longer alive: whoever is its parent now has just not looked yet.
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_ok()
        && !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z')
}

/// A process with a shell script.
fn shell(name: &str, script: &str, more: &str) -> String {
    let script = script
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('\\', "\\\\")
        .replace("$(", "\\$(");
    format!(
        "<executable shell=\"true\" cmd=\"{script}\" name=\"{name}\" output=\"screen\" {more}/>"
    )
}

fn launch(actions: &[String]) -> String {
    format!("<launch>{}</launch>", actions.concat())
}

fn has(lines: &[String], line: &str) -> bool {
    lines.iter().any(|each| each == line)
}

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
fn sigint_reaches_all_and_is_an_orderly_end() {
    let workspace = Workspace::new();
    let polite =
        shell("polite", "trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 1; done", "");
    let simple = "<executable cmd='sleep 1000' name='simple'/>".to_owned();
    let mut running = Launch::start(&workspace, &launch(&[polite, simple]));
    let pid = running.pid_after("[simple-2]: started with pid");
    running.wait_for("[polite-1] ready");
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[WARNING] [launch]: SIGINT: everything ends"), "{lines:?}");
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
    // SIGTERM of the launch itself is such a request as well.
    running.signal(Signal::TERM);
    let (code, lines) = running.end();
    assert_eq!(code, 0);
    let at = |line: &str| {
        lines.iter().position(|each| each == line).unwrap_or_else(|| panic!("{line}: {lines:?}"))
    };
    let order = [
        at("[WARNING] [launch]: SIGTERM: everything ends"),
        at("[WARNING] [deaf-1]: does not end; it gets SIGTERM"),
        at("[WARNING] [deaf-1]: does not end; it gets SIGKILL"),
        at("[INFO] [deaf-1]: ended with SIGKILL"),
    ];
    assert!(order.is_sorted(), "{lines:?}");
    assert!(!is_alive(pid));
}

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
    running.wait_for("everything ends");
    running.signal(Signal::INT);
    running.wait_for("[WARNING] [deaf-1]: gets SIGTERM");
    running.signal(Signal::INT);
    running.wait_for("[WARNING] [deaf-1]: gets SIGKILL");
    assert_eq!(running.end().0, 0);
    assert!(!is_alive(pid));
}

#[test]
fn nothing_that_a_process_left_behind_stays() {
    let workspace = Workspace::new();
    // The first leaves a child that hears no SIGINT; the second keeps the launch until that was
    // seen.
    let leaver = shell(
        "leaver",
        // It ends when the child has spoken.
        "(trap '' INT; echo pid $(exec sh -c 'echo $PPID'); : > $W/told; while :; do sleep 1; done) & \
         until [ -e $W/told ]; do sleep 0.05; done",
        "sigterm_timeout='0.2'",
    );
    let mut running = Launch::start(&workspace, &launch(&[leaver]));
    let pid = running.pid_after("[leaver-1] pid");
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[WARNING] [leaver-1]: does not end; it gets SIGTERM"), "{lines:?}");
    assert!(!is_alive(pid));
}

#[test]
fn what_left_its_process_group_ends_last() {
    let workspace = Workspace::new();
    let escaping = |trap: &str| {
        let script = format!(
            "rm -f $W/told; setsid sh -c \"trap '{trap}' TERM; echo pid \\$\\$; : > $W/told; while :; do sleep 1; done\" & \
             until [ -e $W/told ]; do sleep 0.05; done"
        );
        shell("escaping", &script, "")
    };
    // One that ends on SIGTERM; one that ignores it, and a Ctrl-C that does not wait.
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
fn a_process_that_fails_by_itself_is_told_and_the_rest_goes_on() {
    let workspace = Workspace::new();
    let failing = shell("failing", "exit 4", "");
    let other = shell("other", "sleep 0.3; echo done", "");
    let (code, lines) = Launch::start(&workspace, &launch(&[failing, other])).end();
    assert_eq!(code, 0);
    assert!(
        has(&lines, "[ERROR] [failing-1]: died with exit code 4 (command: /bin/sh -c 'exit 4')"),
        "{lines:?}"
    );
    assert!(has(&lines, "[other-2] done"), "{lines:?}");
    let missing = "<executable cmd='/nowhere/at all' name='missing'/>".to_owned();
    let other = shell("other", "echo done", "");
    let (code, lines) = Launch::start(&workspace, &launch(&[missing, other])).end();
    assert_eq!(code, 1);
    assert!(
        lines.iter().any(|line| line.contains("[missing-1]: cannot be started: No such file")),
        "{lines:?}"
    );
    assert!(has(&lines, "[other-2] done"), "{lines:?}");
}

#[test]
fn processes_are_started_again_as_often_as_they_may() {
    let workspace = Workspace::new();
    let limited = shell(
        "limited",
        "echo life",
        "respawn='true' respawn_delay='0.01' respawn_max_retries='2'",
    );
    let (code, lines) = Launch::start(&workspace, &launch(&[limited])).end();
    assert_eq!(code, 0);
    assert_eq!(lines.iter().filter(|line| *line == "[limited-1] life").count(), 3, "{lines:?}");

    let endless = shell("endless", "echo life; exit 1", "respawn='true'");
    let mut running = Launch::start(&workspace, &launch(&[endless]));
    for _ in 0..4 {
        running.wait_for("[endless-1] life");
    }
    running.signal(Signal::INT);
    assert_eq!(running.end().0, 0);
}

#[test]
fn environment_folder_and_parameters_arrive() {
    let workspace = Workspace::new();
    let script = "#!/bin/sh\npwd; echo \"$ONE,$GONE\"; while [ $# -gt 0 ]; do case $1 in --params-file) cat \"$2\";; esac; shift; done\n";
    let tool = workspace.file("lib/demo/talker", script);
    assert!(tool.exists());
    let text = "<launch><set_env name='ONE' value='1 2'/><unset_env name='GONE'/>
      <node pkg='demo' exec='talker' name='t' namespace='n' output='screen' cwd='/'><param name='p' value='x y'/></node></launch>";
    let (code, lines) = Launch::start_with(&workspace, text, |command| {
        command.env("GONE", "here");
    })
    .end();
    assert_eq!(code, 0);
    let said: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("[talker-1] ")).collect();
    assert_eq!(said, ["/", "1 2,", "/n/t:", "  ros__parameters:", "    \"p\": \"x y\""]);
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
fn components_are_loaded_into_their_containers() {
    let workspace = Workspace::new();
    workspace.file("lib/feros_component/component_container", "#!/bin/sh\nexec sleep 1000\n");
    let container = "<composable_node_container pkg='rclcpp_components' exec='component_container' name='c'>
        <composable_node pkg='demo' plugin='first'/><composable_node pkg='demo' plugin='broken'/></composable_node_container>";
    let load = "<load_composable_node target='/c'><composable_node pkg='demo' plugin='third'/></load_composable_node>
        <load_composable_node target='/other'><composable_node pkg='demo' plugin='never'/></load_composable_node>";
    let mut running = Launch::start(&workspace, &launch(&[container.to_owned(), load.to_owned()]));
    running.wait_for("[INFO] [/c]: has loaded first as /c/first");
    running.wait_for("[ERROR] [/c]: broken is not loaded: it is broken");
    running.wait_for("[INFO] [/c]: has loaded third as /c/third");
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 1, "{lines:?}");

    // A container that dies takes along who waits for it, and one that lives again gets its
    // components again.
    workspace.file("lib/feros_component/component_container", "#!/bin/sh\nsleep 0.2\n");
    let container = |more: &str, plugin: &str| {
        format!(
            "<composable_node_container pkg='rclcpp_components' exec='component_container' name='c' {more}>
             <composable_node pkg='demo' plugin='{plugin}'/></composable_node_container>"
        )
    };
    let (code, lines) = Launch::start(&workspace, &launch(&[container("", "never")])).end();
    assert_eq!(code, 1);
    assert!(has(&lines, "[ERROR] [/c]: never is not loaded: the container has ended"), "{lines:?}");
    workspace.file("lib/feros_component/component_container", "#!/bin/sh\nsleep 2\n");
    let again = container("respawn='true' respawn_delay='0' respawn_max_retries='1'", "first");
    let (code, lines) = Launch::start(&workspace, &launch(&[again])).end();
    assert_eq!(code, 0, "{lines:?}");
    assert_eq!(
        lines.iter().filter(|line| line.contains("has loaded first")).count(),
        2,
        "{lines:?}"
    );
}

#[test]
fn timers_do_their_actions_in_the_order_of_their_times() {
    let workspace = Workspace::new();
    let later = |period: &str, actions: &[String]| {
        format!("<timer period='{period}'>{}</timer>", actions.concat())
    };
    let say = |text: &str| format!("<log message='{text}'/>");
    let text = launch(&[
        later("0.6", &[say("third")]),
        later("0.3", &[shell("late", "echo second", "")]),
        shell("early", "echo first", ""),
    ]);
    let (code, lines) = Launch::start(&workspace, &text).end();
    assert_eq!(code, 0);
    let at = |line: &str| {
        lines.iter().position(|each| each == line).unwrap_or_else(|| panic!("{line}: {lines:?}"))
    };
    let order = [at("[early-2] first"), at("[late-1] second"), at("[INFO] [launch]: third")];
    assert!(order.is_sorted(), "{lines:?}");
}

#[test]
fn shutdown_ends_everything_and_nothing_after_it_begins() {
    let workspace = Workspace::new();
    let other = "<executable cmd='sleep 1000' name='other'/>".to_owned();
    let end = "<timer period='0.3'><shutdown reason='enough'/><log message='never'/></timer>";
    let (code, lines) = Launch::start(&workspace, &launch(&[other, end.to_owned()])).end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[INFO] [launch]: shutdown (enough): everything ends"), "{lines:?}");
    assert!(has(&lines, "[INFO] [other-1]: ended with SIGINT"), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("never")), "{lines:?}");
    let at_once = launch(&["<shutdown/>".to_owned(), shell("late", "echo never", "")]);
    let (code, lines) = Launch::start(&workspace, &at_once).end();
    assert_eq!((code, lines.len()), (0, 1), "{lines:?}");
    assert_eq!(lines[0], "[INFO] [launch]: shutdown (reason not given): everything ends");
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
    assert!(has(&lines, "[WARNING] [launch]: SIGINT: everything ends"), "{lines:?}");
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
fn managed_nodes_are_activated_each_time_they_start() {
    let workspace = Workspace::new();
    workspace.file("lib/demo/talker", "#!/bin/sh\nexec sleep 1000\n");
    let managed = |name: &str, more: &str| {
        format!("<lifecycle_node pkg='demo' exec='talker' name='{name}' namespace='a' {more}/>")
    };
    let text = launch(&[
        managed("driver", "autostart='true'"),
        managed("idle", ""),
        managed("broken", "autostart='1'"),
    ]);
    let mut running = Launch::start(&workspace, &text);
    running.wait_for("[INFO] [/a/driver]: is active");
    running.wait_for("[ERROR] [/a/broken]: is not active: it is broken");
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 1, "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("/a/idle")), "{lines:?}");

    workspace.file("lib/demo/talker", "#!/bin/sh\nsleep 1\n");
    let again = "autostart='true' respawn='true' respawn_delay='0' respawn_max_retries='1'";
    let (code, lines) = Launch::start(&workspace, &launch(&[managed("driver", again)])).end();
    assert_eq!(code, 0, "{lines:?}");
    let active = lines.iter().filter(|line| *line == "[INFO] [/a/driver]: is active").count();
    assert_eq!(active, 2, "{lines:?}");
    let never = launch(&[managed("never", "autostart='true'")]);
    let (code, lines) = Launch::start(&workspace, &never).end();
    assert_eq!(code, 1, "{lines:?}");
    let told = "[ERROR] [/a/never]: is not active: its process has ended";
    assert!(has(&lines, told), "{lines:?}");
}

#[test]
fn components_are_loaded_later_into_a_container_that_runs() {
    let workspace = Workspace::new();
    workspace.file("lib/feros_component/component_container", "#!/bin/sh\nexec sleep 1000\n");
    let container = "<node_container pkg='rclcpp_components' exec='component_container' name='c'>
        <composable_node pkg='demo' plugin='first'/></node_container>";
    let load = "<timer period='0.3'><load_composable_node target='/c'>
        <composable_node pkg='demo' plugin='second'/></load_composable_node></timer>";
    let mut running = Launch::start(&workspace, &launch(&[container.into(), load.into()]));
    running.wait_for("[INFO] [/c]: has loaded first as /c/first");
    running.wait_for("[INFO] [/c]: has loaded second as /c/second");
    running.signal(Signal::INT);
    let (code, lines) = running.end();
    assert_eq!(code, 0, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("has loaded")).count(), 2, "{lines:?}");
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

/// Waits until the launcher has filled its pipe: then its memory of pending output is bounded too.
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
