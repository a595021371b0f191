//! Runs `feros` in a domain of this test process, and leaves no process running.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use feros::engine::SessionOptions;
use feros::{Context, ContextOptions};
use feros_interop::Domain;
pub(crate) use feros_test_support::WATCHDOG;

/// The domain of this test process.
fn domain() -> &'static Domain {
    static DOMAIN: OnceLock<Domain> = OnceLock::new();
    DOMAIN.get_or_init(Domain::reserve_without_ros2)
}

/// A context of this process in that domain, for the robot's nodes.
pub(crate) fn context() -> Context {
    context_in(domain())
}

/// Like [`context`], in another domain.
pub(crate) fn context_in(domain: &Domain) -> Context {
    Context::new(ContextOptions::new(SessionOptions::localhost(domain.id().into()))).unwrap()
}

fn command(domain: &Domain, arguments: &[&str]) -> Command {
    let mut command = feros_test_support::command_of(env!("CARGO_BIN_EXE_feros"));
    command.args(arguments);
    domain.confine(&mut command);
    command
}

/// The result of a command that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Finished {
    /// The standard output of a command that must have succeeded.
    pub(crate) fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// The standard error of a command that must have failed with this code.
    pub(crate) fn failure(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.starts_with("error: ") || self.err.contains("\nerror: "), "{self:?}");
        self.err
    }

    /// The standard output as JSON.
    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.success()).unwrap()
    }
}

/// Whether an output contains this line.
pub(crate) fn has_line(text: &str, wanted: &str) -> bool {
    text.lines().any(|line| line == wanted)
}

/// Repeats a command that shows the graph until its result is `accepted`: each run waits for about
/// a second, in which a busy machine may not discover everything.
pub(crate) fn eventually<T: std::fmt::Debug>(
    run: impl Fn() -> T,
    accepted: impl Fn(&T) -> bool,
) -> T {
    feros_test_support::eventually(|| {
        let finished = run();
        if accepted(&finished) { Ok(finished) } else { Err(format!("not yet: {finished:?}")) }
    })
}

/// Runs a command to its end on a terminal, and returns everything that it wrote there.
pub(crate) fn feros_on_terminal(arguments: &[&str]) -> String {
    OnTerminal::start(arguments).finish().1
}

/// A running command with a terminal of its own, which sends signals as keys are pressed. The
/// command ends when this is dropped.
pub(crate) struct OnTerminal {
    child: Child,
    ours: OwnedFd,
    /// Reads all that the command writes.
    written: Option<std::thread::JoinHandle<String>>,
}

impl OnTerminal {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let (ours, theirs) = terminal();
        let feros = command(domain(), arguments);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(feros.get_program()).args(feros.get_args());
        domain().confine(&mut command);
        command.env("TERM", "xterm").stdin(theirs.try_clone().unwrap());
        command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.spawn().unwrap();
        drop(command); // which holds the terminal's other end
        let mut reader = std::fs::File::from(ours.try_clone().unwrap());
        let written = spawn("test-terminal", move || {
            let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
            // Reading a terminal ends with an error.
            while let Ok(size @ 1..) = reader.read(&mut buffer) {
                bytes.extend_from_slice(&buffer[..size]);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Self { child, ours, written: Some(written) }
    }

    /// The id of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn press_ctrl_c(&self) {
        assert_eq!(rustix::io::write(&self.ours, b"\x03"), Ok(1));
    }

    /// Waits for the end; returns the exit code, and everything that was written.
    pub(crate) fn finish(mut self) -> (Option<i32>, String) {
        let status = wait(&mut self.child);
        (status.code(), self.written.take().unwrap().join().unwrap())
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both ends of a terminal that passes output on unchanged, with a window of some lines.
fn terminal() -> (OwnedFd, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&ours).unwrap();
    rustix::pty::unlockpt(&ours).unwrap();
    let name = rustix::pty::ptsname(&ours, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(&*name, flags, Mode::empty()).unwrap();
    let mut settings = tcgetattr(&theirs).unwrap();
    settings.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&theirs, OptionalActions::Now, &settings).unwrap();
    let size = Winsize { ws_row: 40, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).unwrap();
    (ours, theirs)
}

/// Runs a command to its end.
pub(crate) fn feros(arguments: &[&str]) -> Finished {
    Running::start(arguments).finish()
}

/// A running command, which ends when this is dropped.
pub(crate) struct Running {
    child: Child,
    /// `None` when nobody reads the output any longer.
    out: Option<BufReader<ChildStdout>>,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(domain(), arguments)
    }

    /// Starts a command after a change to it, such as a variable.
    pub(crate) fn start_with(arguments: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let mut command = command(domain(), arguments);
        change(&mut command);
        Self::spawn(command)
    }

    /// Like [`Running::start_with`], in a domain other than that of this test process.
    pub(crate) fn start_with_in(
        domain: &Domain,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = command(domain, arguments);
        change(&mut command);
        Self::spawn(command)
    }

    /// Starts a command in a domain other than that of this test process.
    pub(crate) fn start_in(domain: &Domain, arguments: &[&str]) -> Self {
        Self::spawn(command(domain, arguments))
    }

    /// Starts another program, which runs commands.
    pub(crate) fn start_program(program: &str, arguments: &[String]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments);
        domain().confine(&mut command);
        Self::spawn(command)
    }

    /// Starts a command that is complete.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = Some(BufReader::new(child.stdout.take().unwrap()));
        Self { child, out }
    }

    /// The next line of standard output; `None` at its end.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.out.as_mut()?.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    /// The first line of standard error that contains this text; earlier lines are dropped.
    pub(crate) fn error_with(&mut self, wanted: &str) -> String {
        let _watchdog = feros_test_support::Watchdog::start();
        let errors = self.child.stderr.take().unwrap();
        let mut errors = BufReader::new(errors);
        loop {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).unwrap() > 0, "it ended without {wanted:?}");
            if line.contains(wanted) {
                self.child.stderr = Some(errors.into_inner());
                return line;
            }
        }
    }

    /// Stops reading the output, as `head` does.
    pub(crate) fn close_output(&mut self) {
        self.out = None;
    }

    /// The id of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Presses Ctrl-C.
    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Sends a signal, unless the process has ended.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        let sent = rustix::process::kill_process(pid, signal);
        assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{sent:?}");
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Finished {
        let mut error = self.child.stderr.take().unwrap();
        let errors = spawn("test-stderr", move || {
            let mut text = String::new();
            error.read_to_string(&mut text).map(|_| text)
        });
        let mut out = String::new();
        let status = std::thread::scope(|scope| {
            let reader =
                self.out.as_mut().map(|reader| scope.spawn(|| reader.read_to_string(&mut out)));
            let status = wait(&mut self.child);
            reader.map(|reader| reader.join().unwrap().unwrap());
            status
        });
        Finished { code: status.code(), out, err: errors.join().unwrap().unwrap() }
    }
}

/// Waits for a child to end; one that hangs is killed, and its status makes the test fail.
fn wait(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > WATCHDOG {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a thread with a name.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::Builder::new().name(name.into()).spawn(run).unwrap()
}
