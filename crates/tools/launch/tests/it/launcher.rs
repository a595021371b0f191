//! A running launcher: the example `run_file`, with shell scripts as its processes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::workspace::Workspace;

/// The time limit for an expected event.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running launcher.
pub(crate) struct Launch {
    pub(crate) process: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

/// The path of the example, which `cargo test` builds unless only one test target is built.
pub(crate) fn launcher() -> PathBuf {
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
    pub(crate) fn start(workspace: &Workspace, text: &str) -> Self {
        Self::start_with(workspace, text, |_| {})
    }

    pub(crate) fn start_with(
        workspace: &Workspace,
        text: &str,
        change: impl FnOnce(&mut Command),
    ) -> Self {
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

    /// Waits for a line that contains `part`.
    pub(crate) fn wait_for(&mut self, part: &str) -> String {
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

    /// Waits for a line with each of these parts, in any order.
    pub(crate) fn wait_for_all<const N: usize>(&mut self, parts: [&str; N]) -> [String; N] {
        let begin = self.seen.len();
        parts.map(|part| {
            let seen = self.seen[begin..].iter().find(|line| line.contains(part)).cloned();
            seen.unwrap_or_else(|| self.wait_for(part))
        })
    }

    /// Waits for a line such as `pid 12`, and returns the process id.
    pub(crate) fn pid_after(&mut self, part: &str) -> Pid {
        pid_at_end(&self.wait_for(part))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits for the end; returns the exit code and all lines.
    pub(crate) fn end(mut self) -> (i32, Vec<String>) {
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

/// The process id at the end of a line.
pub(crate) fn pid_at_end(line: &str) -> Pid {
    Pid::from_raw(line.rsplit(' ').next().unwrap().parse().unwrap()).unwrap()
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

pub(crate) fn is_alive(pid: Pid) -> bool {
    // A zombie does not count as alive: it has ended, but its parent has not reaped it yet.
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_ok()
        && !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z')
}

/// An `executable` element that runs a shell script.
pub(crate) fn shell(name: &str, script: &str, more: &str) -> String {
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

pub(crate) fn launch(actions: &[String]) -> String {
    format!("<launch>{}</launch>", actions.concat())
}

pub(crate) fn has(lines: &[String], line: &str) -> bool {
    lines.iter().any(|each| each == line)
}
