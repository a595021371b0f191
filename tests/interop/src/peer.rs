//! One stock ROS 2 node in a separate process.

use feros_sync::Mutex;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Domain;
use crate::domain::python_with_ros2;
use crate::package::Package;
use crate::shared_files::{self, SegmentsBefore};

/// The watchdog: a stock node that takes longer than this to answer counts as hanging. The node's
/// own waits are shorter and fail with a reason.
pub const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// A stock ROS 2 node that executes requests; it ends when this value is dropped.
#[derive(Debug)]
pub struct Peer {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
    stderr: Arc<Mutex<String>>,
    segments_before: SegmentsBefore,
}

impl Peer {
    /// Starts the node `namespace`/`name` in `domain`, in loopback discovery range, and waits until
    /// it is ready.
    ///
    /// # Panics
    /// If the node cannot be started or ends immediately; the message has the reason.
    pub fn start(domain: &Domain, namespace: &str, name: &str) -> Self {
        Self::start_with(domain, namespace, name, &[])
    }

    /// Like [`Peer::start`], with packages in addition to the packages of the wheels.
    ///
    /// # Panics
    /// See [`Peer::start`].
    pub fn start_with(domain: &Domain, namespace: &str, name: &str, packages: &[Package]) -> Self {
        Self::start_prepared(domain, namespace, name, |command| {
            packages.iter().for_each(|package| package.add_to(command));
        })
    }

    /// Like [`Peer::start`], with the stock ROS 2 of a folder (see [`environment`]), which may be
    /// of another distribution.
    ///
    /// # Panics
    /// See [`Peer::start`].
    ///
    /// [`environment`]: crate::environment()
    pub fn start_of(environment: &Path, domain: &Domain, namespace: &str, name: &str) -> Self {
        Self::spawn(&environment.join("bin/python"), domain, namespace, name, |_| ())
    }

    /// Like [`Peer::start`], after `prepare` has changed the command.
    ///
    /// # Panics
    /// See [`Peer::start`].
    pub fn start_prepared(
        domain: &Domain,
        namespace: &str,
        name: &str,
        prepare: impl FnOnce(&mut Command),
    ) -> Self {
        Self::spawn(&python_with_ros2(), domain, namespace, name, prepare)
    }

    fn spawn(
        python: &Path,
        domain: &Domain,
        namespace: &str,
        name: &str,
        prepare: impl FnOnce(&mut Command),
    ) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/node.py");
        let mut command = Command::new(python);
        command
            .arg(&script)
            .args(["--node", name, "--namespace", namespace])
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        domain.confine(&mut command);
        prepare(&mut command);
        let segments_before = SegmentsBefore::now();
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{} did not start: {error}", script.display()));
        let stderr = Arc::new(Mutex::new(String::new()));
        let (stdout_pipe, stderr_pipe) = (child.stdout.take(), child.stderr.take());
        let mut peer = Self {
            name: name.to_owned(),
            stdin: child.stdin.take(),
            child,
            answers: read_answers(stdout_pipe.expect("stdout is piped")),
            stderr: Arc::clone(&stderr),
            segments_before,
        };
        collect(stderr_pipe.expect("stderr is piped"), stderr);
        let ready = peer.next_answer();
        assert!(ready.get("ready").is_some(), "{name} said {ready} instead of being ready");
        peer
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Requests an operation with these arguments, a JSON object, and returns its result.
    ///
    /// # Panics
    /// If the peer answers with an error, ends, or hangs for [`LONGEST_WAIT`].
    pub fn ask(&mut self, operation: &str, arguments: Value) -> Value {
        self.try_ask(operation, arguments.clone()).unwrap_or_else(|error| {
            panic!("{} could not do {operation} {arguments}: {error}\n{}", self.name, self.said())
        })
    }

    /// Like [`Peer::ask`], but returns the peer's error if the peer answers with an error.
    ///
    /// # Errors
    /// The text of the peer's error.
    ///
    /// # Panics
    /// If the peer ends, or hangs for [`LONGEST_WAIT`].
    pub fn try_ask(&mut self, operation: &str, mut arguments: Value) -> Result<Value, String> {
        arguments["op"] = json!(operation);
        let stdin = self.stdin.as_mut().expect("open until drop");
        if let Err(error) = writeln!(stdin, "{arguments}").and_then(|()| stdin.flush()) {
            panic!("{} takes no requests any more: {error}\n{}", self.name, self.said());
        }
        let mut answer = self.next_answer();
        match answer.get("error") {
            Some(error) => Err(error.as_str().unwrap_or_default().to_owned()),
            None => Ok(answer["ok"].take()),
        }
    }

    /// Repeats the request until `accepted` is true for the result, and returns that result. This
    /// is for conditions that no event announces, such as conditions of the graph.
    ///
    /// # Panics
    /// If no result is accepted within [`LONGEST_WAIT`]; the message has the last result.
    pub fn eventually(
        &mut self,
        operation: &str,
        arguments: Value,
        accepted: impl Fn(&Value) -> bool,
    ) -> Value {
        let began = Instant::now();
        loop {
            let last = self.try_ask(operation, arguments.clone());
            match last {
                Ok(result) if accepted(&result) => return result,
                _ if began.elapsed() < LONGEST_WAIT => thread::sleep(Duration::from_millis(50)),
                _ => panic!(
                    "{} {operation} {arguments} never gave what was awaited, at last {last:?}\n{}",
                    self.name,
                    self.said()
                ),
            }
        }
    }

    /// The text that the node has written to standard error so far.
    pub fn said(&self) -> String {
        self.stderr.lock().clone()
    }

    fn next_answer(&mut self) -> Value {
        match self.answers.recv_timeout(LONGEST_WAIT) {
            Ok(line) => serde_json::from_str(&line)
                .unwrap_or_else(|_| json!({ "error": format!("not JSON: {line}") })),
            Err(RecvTimeoutError::Timeout) => panic!("{} hangs\n{}", self.name, self.said()),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait();
                panic!("{} ended ({status:?})\n{}", self.name, self.said())
            }
        }
    }
}

impl Peer {
    /// Kills the peer, as a crash would end it, and removes the segments that its Fast DDS leaves.
    pub fn kill(mut self) {
        let segments = self.segments_before.made_by(self.pid());
        let _ = self.child.kill();
        let _ = self.child.wait();
        shared_files::remove_segments(&segments);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of the input makes the node end cleanly: it announces its end and releases its
        // shared memory.
        drop(self.stdin.take());
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if began.elapsed() > Duration::from_secs(20) {
                eprintln!("{} did not end by itself and is killed", self.name);
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        if thread::panicking() {
            eprintln!("--- {} wrote to standard error:\n{}", self.name, self.said());
        }
    }
}

fn read_answers(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = sync_channel(16);
    thread::Builder::new()
        .name("peer-stdout".into())
        .spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        })
        .expect("a thread can be started");
    receiver
}

fn collect(stderr: ChildStderr, text: Arc<Mutex<String>>) {
    thread::Builder::new()
        .name("peer-stderr".into())
        .spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut text = text.lock();
                text.push_str(&line);
                text.push('\n');
            }
        })
        .expect("a thread can be started");
}
