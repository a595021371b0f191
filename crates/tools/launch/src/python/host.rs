//! The Python process, and the lines that it exchanges with the launcher.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use feros_process::{ChildGroup, EndSignals, Signal, described};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;

use super::message::{self, Message};
use super::options::{PythonHost, PythonOptions};

/// The version of the protocol.
const PROTOCOL: u64 = 1;
/// The limit on the bytes of a line.
const MAX_LINE_BYTES: usize = 16 << 20;
/// The bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// How often to check for a signal.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// How often to check whether the host has ended.
const END_INTERVAL: Duration = Duration::from_millis(2);
/// The time that the host may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// The time after which the launcher says that it waits.
const PATIENCE: Duration = Duration::from_secs(5);

/// The reason why Python does not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    #[error("Python cannot be started as `{program}`: {cause}")]
    Start { program: String, cause: io::Error },
    #[error(
        "it is a Python program, and {python} has no package feros: install Feros's wheel there \
         with `pip install`, or activate the environment that has it"
    )]
    Absent { python: String },
    #[error("Python ended with {how}, before it had answered")]
    Ended { how: String },
    #[error("Python's answer cannot be read: {0}")]
    Protocol(String),
    #[error("the socket to Python failed: {0}")]
    Socket(io::Error),
    #[error("signal {0} ended the planning")]
    Signal(i32),
    #[error("Python had not answered when the launch ended")]
    Aborted,
    /// An earlier error ended Python.
    #[error("Python has ended")]
    Lost,
}

/// What ends the host while it works.
#[derive(Debug, Default)]
pub(super) struct Stop {
    signals: EndSignals,
    /// Whether the launch runs, which then handles the signals.
    is_running: AtomicBool,
    is_aborted: AtomicBool,
}

impl Stop {
    /// Signals end the host until the launch runs.
    pub(super) fn new(signals: EndSignals) -> Self {
        Self { signals, ..Self::default() }
    }

    pub(super) fn begin_run(&self) {
        self.is_running.store(true, Ordering::Relaxed);
    }

    pub(super) fn abort(&self) {
        self.is_aborted.store(true, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), HostError> {
        if self.is_aborted.load(Ordering::Relaxed) {
            return Err(HostError::Aborted);
        }
        match self.signals.received() {
            Some(signal) if !self.is_running.load(Ordering::Relaxed) => {
                Err(HostError::Signal(signal))
            }
            _ => Ok(()),
        }
    }
}

/// A running Python host. Its process group ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Host {
    /// The process, if this launcher has started it.
    child: Option<ChildGroup>,
    stream: UnixStream,
    /// The bytes of lines that have not been taken yet.
    received: Vec<u8>,
    /// The number of received bytes that hold no line break.
    scanned: usize,
    stop: Arc<Stop>,
    notice: Option<fn(&str)>,
    /// The work that the host does, and the time at which it began; `None` if it is idle.
    work: Option<(String, Instant)>,
    /// Whether the process has been waited for.
    is_gone: bool,
}

impl Host {
    /// Starts Python, and checks that both sides speak the same protocol.
    pub(super) fn start<'a>(
        options: &PythonOptions,
        prefixes: impl Iterator<Item = &'a Path>,
        stop: &Arc<Stop>,
    ) -> Result<Self, HostError> {
        let program = match &options.host {
            PythonHost::Command(words) => words.first().cloned().unwrap_or_default(),
            PythonHost::Socket(_) => "Python".to_owned(),
        };
        let (child, stream) = connect(options)
            .map_err(|cause| HostError::Start { program: program.clone(), cause })?;
        let mut host = Self {
            child,
            stream,
            received: Vec::new(),
            scanned: 0,
            stop: Arc::clone(stop),
            notice: options.notice,
            work: None,
            is_gone: false,
        };
        let prefixes: Vec<_> = prefixes.map(|prefix| prefix.to_string_lossy()).collect();
        let mut greeting = Message::new();
        greeting.insert("protocol".to_owned(), PROTOCOL.into());
        greeting.insert("prefixes".to_owned(), json!(prefixes));
        greeting.insert("argv".to_owned(), json!(options.arguments));
        host.begin(&greeting, "Python starts".to_owned())?;
        let answer = host.receive()?;
        host.work = None;
        let answer = message::object(&answer).map_err(HostError::Protocol)?;
        if answer.contains_key("absent") {
            let python = answer.get("python").and_then(|python| python.as_str());
            let python = feros_wording::harmless(python.unwrap_or(&program)).to_string();
            return Err(HostError::Absent { python });
        }
        match answer.get("protocol").and_then(serde_json::Value::as_u64) {
            Some(PROTOCOL) => Ok(host),
            Some(other) => Err(HostError::Protocol(format!(
                "Python's package feros speaks version {other}, this launcher version {PROTOCOL}: \
                 both come with the same wheel"
            ))),
            None => Err(HostError::Protocol("its first line has no version".to_owned())),
        }
    }

    /// Sends a request, which the host works at until its reply.
    pub(super) fn begin(&mut self, message: &Message, work: String) -> Result<(), HostError> {
        self.work.get_or_insert((work, Instant::now()));
        self.send(message)
    }

    /// Notes that the host has replied to the outermost request.
    pub(super) fn finish(&mut self) {
        self.work = None;
    }

    pub(super) fn send(&mut self, message: &Message) -> Result<(), HostError> {
        if !self.received.is_empty() {
            return Err(HostError::Protocol("it spoke out of turn".to_owned()));
        }
        let mut line = serde_json::to_vec(message)
            .map_err(|error| HostError::Protocol(format!("a message is unfit: {error}")))?;
        line.push(b'\n');
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) => self.wait_unless_broken(error, PollFlags::OUT)?,
            }
        }
        Ok(())
    }

    /// Receives a line, without its line break.
    pub(super) fn receive(&mut self) -> Result<Vec<u8>, HostError> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            self.stop.check()?;
            let new = &self.received[self.scanned..];
            if let Some(length) = new.iter().position(|byte| *byte == b'\n') {
                let end = self.scanned + length;
                let rest = self.received.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.received, rest);
                line.truncate(end);
                self.scanned = 0;
                return Ok(line);
            }
            self.scanned = self.received.len();
            if self.scanned > MAX_LINE_BYTES {
                let problem = format!("a line of more than {MAX_LINE_BYTES} bytes");
                return Err(HostError::Protocol(problem));
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(self.ended()),
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) => self.wait_unless_broken(error, PollFlags::IN)?,
            }
        }
    }

    /// Waits until the socket is ready, if the error says only that it is not.
    fn wait_unless_broken(&mut self, error: io::Error, wanted: PollFlags) -> Result<(), HostError> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock => self.wait(wanted),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Err(self.ended()),
            _ => Err(HostError::Socket(error)),
        }
    }

    fn wait(&mut self, wanted: PollFlags) -> Result<(), HostError> {
        let limit = Timespec::try_from(LOOK_INTERVAL).ok();
        loop {
            self.stop.check()?;
            let mut socket = [PollFd::new(&self.stream, wanted)];
            match poll(&mut socket, limit.as_ref()) {
                Ok(0) | Err(Errno::INTR) => self.say_that_it_waits(),
                Ok(_) => return Ok(()),
                Err(errno) => return Err(HostError::Socket(errno.into())),
            }
        }
    }

    fn say_that_it_waits(&mut self) {
        if let (Some(notice), Some((work, since))) = (self.notice, &self.work)
            && since.elapsed() >= PATIENCE
        {
            notice(&format!("waits for Python: {work}"));
            self.notice = None;
        }
    }

    /// The error about the end of the host.
    fn ended(&mut self) -> HostError {
        let how = self.end().map_or_else(|| "an unknown status".to_owned(), described);
        HostError::Ended { how }
    }

    /// Waits until the host ends, but not for long, and ends the processes that it has started.
    fn end(&mut self) -> Option<ExitStatus> {
        if std::mem::replace(&mut self.is_gone, true) {
            return None;
        }
        let child = self.child.as_mut()?;
        let deadline = Instant::now() + GRACE;
        // `has_ended` does not collect the process, so its id stays taken until the kill.
        while !child.has_ended() && Instant::now() < deadline {
            thread::sleep(END_INTERVAL);
        }
        child.kill_group().ok()
    }
}

/// The process, if it has to be started, and the launcher's end of the socket to it.
fn connect(options: &PythonOptions) -> io::Result<(Option<ChildGroup>, UnixStream)> {
    match &options.host {
        PythonHost::Command(words) => {
            let (child, stream) = spawn(words, options.prints_to_standard_error)?;
            Ok((Some(child), stream))
        }
        PythonHost::Socket(stream) => {
            stream.set_nonblocking(true)?;
            Ok((None, stream.try_clone()?))
        }
    }
}

/// Starts the process with one end of a socket as its standard input; returns the other end.
fn spawn(words: &[String], prints_to_standard_error: bool) -> io::Result<(ChildGroup, UnixStream)> {
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the command is empty"))?;
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(OwnedFd::from(theirs));
    if prints_to_standard_error {
        command.stdout(io::stderr());
    }
    // The command, which holds the host's end of the socket, is dropped here. So the socket ends
    // with the host.
    Ok((ChildGroup::spawn(&mut command)?, ours))
}

impl Drop for Host {
    /// The host ends when its socket does, unless it is busy.
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both); // this fails if the host has ended
        if let Some(child) = self.child.as_mut().filter(|_| self.work.is_some() && !self.is_gone) {
            child.signal(Signal::TERM);
        }
        let _ = self.end();
    }
}
