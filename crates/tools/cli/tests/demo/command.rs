//! Runs `feros` with a watchdog, and finds the processes that it starts.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use feros_interop::Domain;

/// A watchdog against hanging; no call is expected to take this long.
const LONGEST: Duration = Duration::from_secs(180);

/// The processes of a test are recognized by this variable, which children inherit.
const MARK: &str = "FEROS_TEST_RUN";

/// A call of `feros` that has not started yet.
pub(crate) struct Feros {
    pub(crate) command: Command,
    mark: String,
    /// A domain of its own, so that no other call of these tests joins in.
    domain: Domain,
}

/// A running call of `feros`; it is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    mark: String,
    _domain: Domain,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

fn mark_of(name: &str) -> String {
    format!("{}-{name}", std::process::id())
}

impl Feros {
    /// `feros` with the words of `line`, in a domain of its own and only on this host.
    pub(crate) fn new(name: &str, line: &str) -> Self {
        let mark = mark_of(name);
        let domain = Domain::reserve_without_ros2();
        let mut command = Command::new(env!("CARGO_BIN_EXE_feros"));
        command
            .args(line.split_whitespace())
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        domain.confine(&mut command);
        Self { command, mark, domain }
    }

    pub(crate) fn start(mut self) -> Running {
        Running { child: self.command.spawn().unwrap(), mark: self.mark, _domain: self.domain }
    }

    /// Runs the call to its end.
    pub(crate) fn run(name: &str, line: &str) -> Ended {
        Self::new(name, line).start().finish()
    }
}

impl Running {
    /// The processes that the call started and that still exist.
    pub(crate) fn children(&self) -> Vec<u32> {
        let mut found = processes(&self.mark);
        found.retain(|id| *id != self.child.id());
        found
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits for the call to end; none of its processes may be left.
    pub(crate) fn finish(self) -> Ended {
        let mark = self.mark.clone();
        let ended = self.finish_without_look_at_children();
        assert_eq!(processes(&mark), [0_u32; 0], "left behind by {ended:?}");
        ended
    }

    pub(crate) fn finish_without_look_at_children(mut self) -> Ended {
        let stdout = collect(self.child.stdout.take().unwrap());
        let stderr = collect(self.child.stderr.take().unwrap());
        let mut code = None;
        wait_until("the end of feros", || match self.child.try_wait().unwrap() {
            Some(status) => {
                code = status.code();
                true
            }
            None => false,
        });
        Ended { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if the process has ended, which is the goal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    let read = move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    };
    thread::Builder::new().name("output".into()).spawn(read).unwrap()
}

/// Sends a signal to a process that this test started.
pub(crate) fn signal(process: u32, name: &str) {
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(sent.success(), "kill -{name} {process}");
}

/// The processes of the test with this name.
pub(crate) fn processes_of(name: &str) -> Vec<u32> {
    processes(&mark_of(name))
}

fn processes(mark: &str) -> Vec<u32> {
    let entry = format!("{MARK}={mark}").into_bytes();
    let ids = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    // The environment of a process that has ended, or belongs to another user, cannot be read.
    ids.filter(|id| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry)
    })
    .collect()
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LONGEST, "{what} did not come");
        thread::sleep(Duration::from_millis(10));
    }
}
