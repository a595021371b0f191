//! Runs `feros` with a watchdog, and finds the processes that it starts.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use feros_interop::Domain;
pub(crate) use feros_test_support::Ended;
use feros_test_support::{Program, processes_with};

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
    program: Program,
    mark: String,
    _domain: Domain,
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
        command.args(line.split_whitespace()).env(MARK, &mark);
        domain.confine(&mut command);
        Self { command, mark, domain }
    }

    pub(crate) fn start(self) -> Running {
        Running { program: Program::start(self.command), mark: self.mark, _domain: self.domain }
    }

    /// Runs the call to its end.
    pub(crate) fn run(name: &str, line: &str) -> Ended {
        Self::new(name, line).start().finish()
    }
}

impl Running {
    /// The processes that the call started and that still exist.
    pub(crate) fn children(&self) -> Vec<u32> {
        let mut found = processes_with(MARK, &self.mark);
        found.retain(|id| *id != self.program.id());
        found
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.program.id(), name);
    }

    /// Waits for the call to end; none of its processes may be left.
    pub(crate) fn finish(self) -> Ended {
        let mark = self.mark.clone();
        let ended = self.finish_without_look_at_children();
        assert_eq!(processes_with(MARK, &mark), [0_u32; 0], "left behind by {ended:?}");
        ended
    }

    pub(crate) fn finish_without_look_at_children(self) -> Ended {
        self.program.finish(LONGEST)
    }
}

/// Sends a signal to a process that this test started.
pub(crate) fn signal(process: u32, name: &str) {
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(sent.success(), "kill -{name} {process}");
}

/// The processes of the test with this name.
pub(crate) fn processes_of(name: &str) -> Vec<u32> {
    processes_with(MARK, &mark_of(name))
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LONGEST, "{what} did not come");
        thread::sleep(Duration::from_millis(10));
    }
}
