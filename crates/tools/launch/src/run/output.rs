//! The destinations of the processes' output and of the launch's messages: the screen and the log
//! file.

use std::path::PathBuf;

use super::child::Line;
use super::log_file::LogFile;
use super::screen::Screen;
use crate::level::Level;

/// The name before messages of the launch itself.
pub(super) const LAUNCH: &str = "launch";

/// The screen and the log file of one launch.
pub(super) struct Output {
    pub(super) screen: Screen,
    log: LogFile,
    /// Whether debug messages are shown.
    debug: bool,
}

impl Output {
    pub(super) fn new(colour: bool, log_file: Option<PathBuf>, debug: bool) -> Self {
        Self { screen: Screen::new(colour), log: LogFile::new(log_file), debug }
    }

    /// Handles a line that a process wrote.
    pub(super) fn line(&mut self, name: &str, number: usize, line: Line<'_>) {
        if line.sinks.screen {
            self.screen.line(name, number, line.text);
        }
        if line.sinks.log {
            self.log(name, line.text);
        }
    }

    /// Handles a message of the launch. `name` is the process that the message is about, or
    /// [`LAUNCH`].
    pub(super) fn message(&mut self, level: Level, name: &str, text: &str) {
        if level == Level::Debug && !self.debug {
            return;
        }
        self.screen.message(level, name, text);
        self.log(name, format!("[{}] {text}", level.name()).as_bytes());
    }

    fn log(&mut self, name: &str, line: &[u8]) {
        if let Err(problem) = self.log.line(name, line) {
            self.screen.message(Level::Warning, LAUNCH, &problem);
        }
    }
}
