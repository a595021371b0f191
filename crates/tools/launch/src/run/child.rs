//! One process of a plan: its state from start to end and respawn, its output, and the signals that
//! end it, in the order of `launch/launch/actions/execute_local.py` (SIGINT, SIGTERM, SIGKILL).

use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use feros_process::{ChildGroup, Ending, Lines, Signal};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::spawn;
use crate::action::IoStream;
use crate::missing_module::missing_module;
use crate::output::Sinks;
use crate::plan::Process;

/// A line longer than this is shown in pieces.
const MAX_LINE_BYTES: usize = 64 << 10;
/// A process that ends after less than this time has died early.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// The delays before a respawn if the launch file gives no delay: the delay starts at the first
/// constant, and doubles up to the second.
const FIRST_RESPAWN_DELAY: Duration = Duration::from_millis(100);
const MAX_RESPAWN_DELAY: Duration = Duration::from_secs(10);

pub(super) struct Child {
    pub(super) process: Process,
    /// The index of the process in the plan, which determines its colour.
    pub(super) number: usize,
    pub(super) state: State,
    /// The process id of the last start.
    pub(super) pid: u32,
    pub(super) streams: Vec<Stream>,
    pub(super) words: Vec<String>,
    /// The parameter files, which exist as long as processes may read them.
    _files: Vec<NamedTempFile>,
    starts: u32,
    early_deaths: u32,
    /// A module that Python did not find, according to the output of the last start.
    missing_module: Option<String>,
    /// Whether the launch file has made the process end, so that it is not started again.
    ends_for_good: bool,
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
    group: ChildGroup,
    since: Instant,
    /// Whether the process itself has ended. Other processes of its group may still be running.
    pub(super) has_ended: bool,
    ending: Option<Ending<3>>,
}

/// An output stream of a process.
pub(super) struct Stream {
    pub(super) descriptor: OwnedFd,
    pub(super) which: IoStream,
    sinks: Sinks,
    lines: Lines,
}

/// A line that a process has written.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) which: IoStream,
    pub(super) sinks: Sinks,
    /// The line without its line break.
    pub(super) text: &'a [u8],
    /// Whether the line has ended; the last line of a process may lack its line break.
    pub(super) has_ended: bool,
}

impl Child {
    /// Makes a process that is to start immediately.
    pub(super) fn new(process: Process, number: usize) -> std::io::Result<Self> {
        let (words, files) = spawn::command_line(&process)?;
        Ok(Self {
            process,
            number,
            state: State::Waiting { until: Instant::now() },
            pid: 0,
            streams: Vec::new(),
            words,
            _files: files,
            starts: 0,
            early_deaths: 0,
            missing_module: None,
            ends_for_good: false,
        })
    }

    /// Starts the process; returns its process id.
    pub(super) fn start(&mut self) -> std::io::Result<u32> {
        self.state = State::Done;
        self.missing_module = None;
        let (group, descriptors) = spawn::start(&self.process, &self.words)?;
        let output = self.process.output;
        // The streams of an earlier start stay open until they have been read completely.
        let streams = [(IoStream::Stdout, output.stdout), (IoStream::Stderr, output.stderr)];
        for (descriptor, (which, sinks)) in descriptors.into_iter().zip(streams) {
            let lines = Lines::new(MAX_LINE_BYTES);
            self.streams.push(Stream { descriptor, which, sinks, lines });
        }
        let pid = group.id();
        self.pid = pid;
        let since = Instant::now();
        self.state = State::Running(Running { group, since, has_ended: false, ending: None });
        self.starts = self.starts.saturating_add(1);
        Ok(pid)
    }

    /// Notes what a line on standard error says about the cause of an end.
    pub(super) fn note(&mut self, line: Line<'_>) {
        if line.which == IoStream::Stderr
            && let Ok(text) = std::str::from_utf8(line.text)
            && let Some(module) = missing_module(text.trim_end())
        {
            self.missing_module = Some(module.to_owned());
        }
    }

    /// The module without which the process has probably ended.
    pub(super) fn take_missing_module(&mut self) -> Option<String> {
        self.missing_module.take()
    }

    /// The exit status of the process, once, after it has ended.
    pub(super) fn poll_exit(&mut self) -> Option<ExitStatus> {
        let State::Running(running) = &mut self.state else { return None };
        let status = if running.has_ended { None } else { running.group.status() };
        running.has_ended |= status.is_some();
        status
    }

    /// Whether the process has ended and its process group is empty. The launcher is a child
    /// subreaper, so it sees all processes of the group.
    pub(super) fn is_gone(&mut self) -> bool {
        let State::Running(running) = &mut self.state else { return false };
        running.has_ended && !running.group.has_processes()
    }

    /// The time of the next start after the process has ended; `None` if it is not respawned.
    pub(super) fn respawn_at(&mut self) -> Option<Instant> {
        let respawn = self.process.respawn.filter(|_| !self.ends_for_good)?;
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
    pub(super) fn begin_end(&mut self) {
        match &mut self.state {
            State::Waiting { .. } => self.state = State::Done,
            State::Running(running) if running.ending.is_none() => {
                running.ending = Some(Ending::begin([
                    (Duration::ZERO, Signal::INT),
                    (self.process.sigterm_timeout, Signal::TERM),
                    (self.process.sigkill_timeout, Signal::KILL),
                ]));
                running.send(Ending::next_signal);
            }
            _ => {}
        }
    }

    /// Asks the process to end, and does not start it again.
    pub(super) fn end_for_good(&mut self) {
        self.ends_for_good = true;
        self.begin_end();
    }

    /// Whether the process starts again after its end.
    pub(super) fn starts_again(&self) -> bool {
        self.process.respawn.is_some() && !self.ends_for_good && !self.is_done()
    }

    /// Sends a signal to the process alone; returns whether it runs.
    pub(super) fn send(&mut self, signal: Signal) -> bool {
        let runs = self.runs();
        if let State::Running(running) = &mut self.state
            && runs
        {
            running.group.signal_child(signal);
        }
        runs
    }

    /// Whether the process itself is running.
    pub(super) fn runs(&self) -> bool {
        matches!(&self.state, State::Running(running) if !running.has_ended)
    }

    /// Sends the next signal immediately; returns its name.
    pub(super) fn send_next_signal(&mut self) -> Option<&'static str> {
        let State::Running(running) = &mut self.state else { return None };
        running.send(Ending::next_signal)
    }

    /// Sends the next signal if its time has come; returns its name.
    pub(super) fn escalate(&mut self) -> Option<&'static str> {
        let State::Running(running) = &mut self.state else { return None };
        running.send(Ending::next_if_due)
    }

    /// The time of the next action for this process.
    pub(super) fn due(&self) -> Option<Instant> {
        match &self.state {
            State::Waiting { until } => Some(*until),
            State::Running(running) => running.ending.as_ref()?.due(),
            State::Done => None,
        }
    }

    /// Whether the process itself is running or will run.
    pub(super) fn is_active(&self) -> bool {
        self.runs() || matches!(self.state, State::Waiting { .. })
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
    /// Sends the signal that `next` takes, and returns its name; `None` if no process gets one.
    fn send(
        &mut self,
        next: impl FnOnce(&mut Ending<3>) -> Option<Signal>,
    ) -> Option<&'static str> {
        let signal = next(self.ending.as_mut()?)?;
        let is_sent = self.group.signal(signal);
        signal_hook::low_level::signal_name(signal.as_raw()).filter(|_| is_sent)
    }
}

impl Stream {
    /// Reads the available bytes and calls `line` with each complete line; `None` at the end of the
    /// stream, after the last line.
    pub(super) fn read(&mut self, mut line: impl FnMut(Line<'_>)) -> Option<()> {
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
        let (which, sinks) = (self.which, self.sinks);
        self.lines.add(&bytes[..count], |text| line(Line { which, sinks, text, has_ended: true }));
        Some(())
    }

    /// Calls `line` with a last line that has no line break.
    pub(super) fn flush(&mut self, mut line: impl FnMut(Line<'_>)) {
        let (which, sinks) = (self.which, self.sinks);
        self.lines.finish(|text| line(Line { which, sinks, text, has_ended: false }));
    }
}
