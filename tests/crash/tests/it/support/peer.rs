//! A process of a test, driven by JSON lines; see `src/main.rs`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Place, WATCHDOG, until};

/// Why a process no longer answers.
#[derive(Debug)]
pub(crate) enum Gone {
    /// The process ended.
    Ended(ExitStatus),
    /// The process neither answers nor ends.
    Silent,
}

/// A running process, which is killed when this value is dropped.
pub(crate) struct Peer {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
    stderr: Arc<Mutex<String>>,
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.to_owned()).spawn(run).unwrap();
}

/// The path of the program that all processes run.
pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_crash-peer"))
}

impl Peer {
    /// Starts a process with a node of this name.
    pub(crate) fn start(place: &Place, name: &str) -> Self {
        Self::start_by(place.command(program()), name)
    }

    /// Starts a process with a command that runs [`program`].
    pub(crate) fn start_by(mut command: Command, name: &str) -> Self {
        let mut child = command
            .arg(name)
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name} did not start: {error}"));
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut stderr_pipe = child.stderr.take().unwrap();
        let stderr = Arc::new(Mutex::new(String::new()));
        let collected = stderr.clone();
        spawn("peer-stderr", move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stderr_pipe.read(&mut bytes) {
                collected.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let (sender, answers) = sync_channel(16);
        spawn("peer-stdout", move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
        });
        let peer = Self { name: name.to_owned(), child, stdin, answers, stderr };
        assert_eq!(peer.answer(), json!({"ready": true}));
        peer
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The text that the process has written to standard error so far.
    pub(crate) fn said(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    fn answer(&self) -> Value {
        match self.answers.recv_timeout(WATCHDOG) {
            Ok(line) => serde_json::from_str(&line).unwrap(),
            Err(error) => {
                panic!("{} does not answer ({error}); it wrote:\n{}", self.name, self.said())
            }
        }
    }

    /// Requests `op` with these arguments, a JSON object, and returns the result.
    #[track_caller]
    pub(crate) fn ask(&mut self, op: &str, arguments: Value) -> Value {
        self.send(op, arguments);
        self.take_answer()
    }

    /// The first half of [`Peer::ask`]: sends the request.
    pub(crate) fn send(&mut self, op: &str, mut arguments: Value) {
        arguments["op"] = json!(op);
        if let Err(error) = writeln!(self.stdin.as_mut().unwrap(), "{arguments}") {
            panic!("{} takes no requests ({error}); it wrote:\n{}", self.name, self.said());
        }
    }

    /// The second half of [`Peer::ask`]: waits for the answer.
    pub(crate) fn take_answer(&mut self) -> Value {
        let mut answer = self.answer();
        assert!(answer.get("ok").is_some(), "{}: {answer}\n{}", self.name, self.said());
        answer["ok"].take()
    }

    /// Like [`Peer::ask`], for a process that may end during the request.
    pub(crate) fn try_ask(&mut self, op: &str, mut arguments: Value) -> Result<Value, Gone> {
        arguments["op"] = json!(op);
        let written = writeln!(self.stdin.as_mut().unwrap(), "{arguments}");
        match written.ok().map(|()| self.answers.recv_timeout(WATCHDOG)) {
            Some(Ok(line)) => {
                let mut answer: Value = serde_json::from_str(&line).unwrap();
                Ok(answer["ok"].take())
            }
            Some(Err(RecvTimeoutError::Timeout)) => Err(Gone::Silent),
            None | Some(Err(RecvTimeoutError::Disconnected)) => {
                Err(Gone::Ended(self.child.wait().unwrap()))
            }
        }
    }

    /// Like [`Peer::end`], for a process that may end in any way, but must end.
    pub(crate) fn try_end(mut self) -> Gone {
        drop(self.stdin.take());
        let patience = Instant::now() + WATCHDOG;
        while Instant::now() < patience {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Gone::Ended(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
        Gone::Silent
    }

    /// Requests `op` for the process's endpoint `name`.
    pub(crate) fn of(&mut self, op: &str, name: &str) -> Value {
        self.ask(op, json!({"name": name}))
    }

    /// The transports of the matches of the process's endpoint `name`.
    pub(crate) fn transports(&mut self, name: &str) -> Vec<Option<String>> {
        let found = self.of("transports", name);
        let path = |found: &Value| found["transport"].as_str().map(str::to_owned);
        found.as_array().unwrap().iter().map(path).collect()
    }

    /// Waits until at least `count` matches of the process's endpoint `name` take the transport.
    pub(crate) fn until_transport(&mut self, name: &str, count: usize, path: &str) {
        until(&format!("{} {name} has {count} matches on the {path} transport", self.name), || {
            let paths = self.transports(name);
            (paths.iter().flatten().filter(|found| *found == path).count() >= count).then_some(())
        });
    }

    /// Ends the process with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.must_run();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.must_be_calm();
    }

    /// Ends the process by closing its input; the process must end cleanly.
    pub(crate) fn end(mut self) {
        self.must_run();
        drop(self.stdin.take());
        let status = until(&format!("{} ends", self.name), || self.child.try_wait().unwrap());
        assert!(status.success(), "{}: {status}; it wrote:\n{}", self.name, self.said());
        self.must_be_calm();
    }

    /// Checks that no signal or abort has ended the process.
    pub(crate) fn must_run(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("{} ended by itself: {status}; it wrote:\n{}", self.name, self.said());
        }
    }

    fn must_be_calm(&self) {
        let said = self.said();
        assert!(!said.contains("panicked at"), "{}:\n{said}", self.name);
    }
}

/// Opens the process's segment, as other processes of its user can.
pub(crate) fn segment(owner: &Peer) -> PathBuf {
    memory_of_name(owner, "feros-segment").expect("the process has a segment")
}

/// Opens the process's first anonymous file with this name, as other processes of its user can.
pub(crate) fn memory_of_name(owner: &Peer, name: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(format!("/proc/{}/fd", owner.pid())).unwrap().flatten();
    let is_segment = |file: &PathBuf| {
        std::fs::read_link(file)
            .is_ok_and(|target| target.to_string_lossy().starts_with(&format!("/memfd:{name} ")))
    };
    files.map(|file| file.path()).find(is_segment)
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- {} said:\n{}", self.name, self.said());
        }
    }
}
