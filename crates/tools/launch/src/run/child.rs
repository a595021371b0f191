//! One process of a plan: its state from start to end and respawn, its output, and the signals that
//! end it, in the order of `launch/launch/actions/execute_local.py` (SIGINT, SIGTERM, SIGKILL).

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{self, Pid, Signal, WaitOptions, WaitStatus};
use tempfile::NamedTempFile;

use super::spawn::{self, Started};
use crate::plan::{Process, Sinks};

/// A line longer than this is shown in pieces.
const MAX_LINE_BYTES: usize = 64 << 10;
/// A process that ends after less than this time has died early.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// The delays before a respawn if the launch file gives none: the delay starts at the first
/// constant, and doubles up to the second.
const FIRST_RESPAWN_DELAY: Duration = Duration::from_millis(100);
const MAX_RESPAWN_DELAY: Duration = Duration::from_secs(10);

pub(super) struct Child {
    pub(super) process: Process,
    /// The index of the process in the plan, which determines its colour.
    pub(super) number: usize,
    pub(super) state: State,
    pub(super) streams: Vec<Stream>,
    words: Vec<String>,
    /// The parameter files, which exist as long as processes may read them.
    _files: Vec<NamedTempFile>,
    starts: u32,
    early_deaths: u32,
}

pub(super) enum State {
    /// The process starts at this time.
    Waiting {
        until: Instant,
    },
    Running(Running),
    Done,
}

pub(super) struct Running {
    pid: Pid,
    since: Instant,
    /// Whether the process itself has ended. Other processes of its group may still be running.
    pub(super) has_ended: bool,
    ending: Option<Ending>,
}

/// The progress of ending a process.
struct Ending {
    sent: Signal,
    /// The time of the next signal; `None` after SIGKILL.
    due: Option<Instant>,
}

/// An output stream of a process.
pub(super) struct Stream {
    pub(super) descriptor: OwnedFd,
    pub(super) sinks: Sinks,
    buffer: Vec<u8>,
}

/// The result of polling a process.
pub(super) enum Change {
    Nothing,
    /// The process itself ended.
    Ended(WaitStatus),
}

impl Child {
    /// Makes a process that is to start immediately.
    pub(super) fn new(process: Process, number: usize) -> std::io::Result<Self> {
        let (words, files) = spawn::command_line(&process)?;
        Ok(Self {
            process,
            number,
            state: State::Waiting { until: Instant::now() },
            streams: Vec::new(),
            words,
            _files: files,
            starts: 0,
            early_deaths: 0,
        })
    }

    /// Starts the process; returns its process id.
    pub(super) fn start(&mut self) -> std::io::Result<Pid> {
        self.state = State::Done;
        let Started { pid, output: [out, err] } = spawn::start(&self.process, &self.words)?;
        let output = self.process.output;
        // The streams of an earlier start stay open until they have been read completely.
        self.streams.push(Stream { descriptor: out, sinks: output.stdout, buffer: Vec::new() });
        self.streams.push(Stream { descriptor: err, sinks: output.stderr, buffer: Vec::new() });
        self.state =
            State::Running(Running { pid, since: Instant::now(), has_ended: false, ending: None });
        self.starts = self.starts.saturating_add(1);
        Ok(pid)
    }

    /// Polls whether the process has ended.
    pub(super) fn poll_exit(&mut self) -> Change {
        let State::Running(running) = &mut self.state else { return Change::Nothing };
        if running.has_ended {
            return Change::Nothing;
        }
        match process::waitpid(Some(running.pid), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => {
                running.has_ended = true;
                Change::Ended(status)
            }
            _ => Change::Nothing,
        }
    }

    /// Whether the process has ended and its process group is empty. Orphans become children of the
    /// launcher, so a group without children of the launcher is empty.
    pub(super) fn is_gone(&self) -> bool {
        let State::Running(running) = &self.state else { return false };
        if !running.has_ended {
            return false;
        }
        loop {
            match process::waitpgid(running.pid, WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// The time of the next start after the process has ended; `None` if it is not respawned.
    pub(super) fn respawn_at(&mut self) -> Option<Instant> {
        let respawn = self.process.respawn?;
        if respawn.max_retries.is_some_and(|most| self.starts > most) {
            return None;
        }
        let State::Running(Running { since, .. }) = &self.state else { return None };
        let wait = match respawn.delay {
            Some(delay) => delay,
            None if since.elapsed() > STABLE_AFTER => {
                self.early_deaths = 0;
                Duration::ZERO
            }
            None => {
                let wait = FIRST_RESPAWN_DELAY
                    .saturating_mul(1 << self.early_deaths.min(16))
                    .min(MAX_RESPAWN_DELAY);
                self.early_deaths = self.early_deaths.saturating_add(1);
                wait
            }
        };
        Some(Instant::now() + wait)
    }

    /// Asks the process to end with SIGINT to its process group, unless it has been asked before.
    /// Returns the signal that was sent.
    pub(super) fn begin_end(&mut self) -> Option<&'static str> {
        match &mut self.state {
            State::Waiting { .. } => {
                self.state = State::Done;
                None
            }
            State::Running(running) if running.ending.is_none() => {
                let due = Instant::now() + self.process.sigterm_timeout;
                running.send(Signal::INT, Some(due))
            }
            _ => None,
        }
    }

    /// Sends the next signal immediately.
    pub(super) fn send_next_signal(&mut self) -> Option<&'static str> {
        let kill_timeout = self.process.sigkill_timeout;
        let State::Running(running) = &mut self.state else { return None };
        match running.ending.as_ref().map(|ending| ending.sent) {
            None => None,
            Some(Signal::INT) => running.send(Signal::TERM, Some(Instant::now() + kill_timeout)),
            Some(_) => running.send(Signal::KILL, None),
        }
    }

    /// Sends the next signal if its time has come.
    pub(super) fn escalate(&mut self, now: Instant) -> Option<&'static str> {
        match &self.state {
            State::Running(Running { ending: Some(Ending { due: Some(due), .. }), .. })
                if *due <= now =>
            {
                self.send_next_signal()
            }
            _ => None,
        }
    }

    /// The time of the next action for this process.
    pub(super) fn due(&self) -> Option<Instant> {
        match &self.state {
            State::Waiting { until } => Some(*until),
            State::Running(running) => running.ending.as_ref()?.due,
            State::Done => None,
        }
    }

    /// Whether the process itself is running or will run.
    pub(super) fn is_active(&self) -> bool {
        match &self.state {
            State::Waiting { .. } => true,
            State::Running(running) => !running.has_ended,
            State::Done => false,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether the launcher has asked the process to end.
    pub(super) fn is_ending(&self) -> bool {
        matches!(&self.state, State::Running(Running { ending: Some(_), .. }))
    }
}

impl Running {
    fn send(&mut self, signal: Signal, due: Option<Instant>) -> Option<&'static str> {
        self.ending = Some(Ending { sent: signal, due });
        // This call only fails if every process of the group has ended and been reaped.
        process::kill_process_group(self.pid, signal).ok()?;
        Some(match signal {
            Signal::INT => "SIGINT",
            Signal::TERM => "SIGTERM",
            _ => "SIGKILL",
        })
    }
}

impl Stream {
    /// Reads the available bytes and calls `line` with each complete line; `None` at the end of the
    /// stream, after the last line.
    pub(super) fn read(&mut self, mut line: impl FnMut(Sinks, &[u8])) -> Option<()> {
        let mut bytes = [0; 8192];
        let count = match rustix::io::read(&self.descriptor, &mut bytes) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Some(()),
            // Reading a terminal that no process has open fails with EIO.
            Err(_) => 0,
        };
        if count == 0 {
            self.flush(line);
            return None;
        }
        for piece in bytes[..count].split_inclusive(|byte| *byte == b'\n') {
            self.buffer.extend(piece);
            if piece.ends_with(b"\n") || self.buffer.len() >= MAX_LINE_BYTES {
                let text = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
                line(self.sinks, text.strip_suffix(b"\r").unwrap_or(text));
                self.buffer.clear();
            }
        }
        Some(())
    }

    /// Calls `line` with a last line that has no line break.
    pub(super) fn flush(&mut self, mut line: impl FnMut(Sinks, &[u8])) {
        if !self.buffer.is_empty() {
            line(self.sinks, &self.buffer);
            self.buffer.clear();
        }
    }
}

/// The end of a process, in words.
pub(super) fn described(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => name.to_owned(),
            None => format!("signal {signal}"),
        },
        (None, None) => "an unknown status".to_owned(),
    }
}
