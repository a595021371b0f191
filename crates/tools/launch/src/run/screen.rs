//! The terminal. Whole lines are written, but only when standard output accepts them, so that a
//! slow reader does not delay the handling of signals.

use std::collections::VecDeque;

use rustix::io::Errno;
use rustix::stdio;
use serde_json::Value as Json;

use super::options::ScreenForm;
use crate::level::Level;

/// The limit on pending bytes. Above it, nothing is read from processes until the screen has caught
/// up.
const MOST_PENDING_BYTES: usize = 256 << 10;
/// A pipe that is ready accepts this many bytes without blocking (PIPE_BUF).
const WRITE_BYTES: usize = 4096;

/// The colours that processes get in turn.
const COLOURS: [&str; 6] = ["\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[34m", "\x1b[96m"];
const RESET: &str = "\x1b[0m";

/// The colour of a message of the launch itself.
fn colour(level: Level) -> &'static str {
    match level {
        Level::Debug | Level::Info => "\x1b[2m",
        Level::Warning => "\x1b[33m",
        Level::Error => "\x1b[1;31m",
    }
}

pub(super) struct Screen {
    pending: VecDeque<u8>,
    is_closed: bool,
    form: ScreenForm,
}

impl Screen {
    pub(super) fn new(form: ScreenForm) -> Self {
        Self { pending: VecDeque::new(), is_closed: false, form }
    }

    /// Whether a program reads the screen, as events, instead of a person.
    pub(super) fn is_for_programs(&self) -> bool {
        self.form == ScreenForm::Json
    }

    fn is_coloured(&self) -> bool {
        self.form == ScreenForm::Coloured
    }

    /// Writes an event.
    pub(super) fn event(&mut self, event: &Json) {
        self.push(b"", event.to_string().as_bytes(), b"\n");
    }

    /// Writes a line of a process's output.
    pub(super) fn line(&mut self, name: &str, number: usize, line: &[u8]) {
        let prefix = if self.is_coloured() {
            format!("{}[{name}]{RESET} ", COLOURS[number % COLOURS.len()])
        } else {
            format!("[{name}] ")
        };
        // A process may leave a colour switched on; the launcher resets it at the end of the line.
        let end = if self.is_coloured() && line.contains(&0x1b) { "\x1b[0m\n" } else { "\n" };
        self.push(prefix.as_bytes(), line, end.as_bytes());
    }

    /// Writes a message of the launch itself. `name` is the process that the message is about, or
    /// the launch.
    pub(super) fn message(&mut self, level: Level, name: &str, text: &str) {
        let line = if self.is_coloured() {
            format!("{}[{}] [{name}]: {text}{RESET}", colour(level), level.name())
        } else {
            format!("[{}] [{name}]: {text}", level.name())
        };
        self.push(b"", line.as_bytes(), b"\n");
    }

    fn push(&mut self, prefix: &[u8], line: &[u8], end: &[u8]) {
        if !self.is_closed {
            self.pending.extend(prefix);
            self.pending.extend(line);
            self.pending.extend(end);
        }
    }

    /// Whether more output may be read from processes.
    pub(super) fn has_room(&self) -> bool {
        self.pending.len() < MOST_PENDING_BYTES
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether standard output has lost its reader.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Writes some of the pending bytes, after standard output has been reported as ready.
    pub(super) fn write(&mut self) {
        let (front, back) = self.pending.as_slices();
        let bytes = if front.is_empty() { back } else { front };
        match rustix::io::write(stdio::stdout(), &bytes[..bytes.len().min(WRITE_BYTES)]) {
            Ok(written) => drop(self.pending.drain(..written)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => {
                self.is_closed = true;
                self.pending = VecDeque::new();
            }
        }
    }
}
