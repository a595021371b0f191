//! The destinations of the processes' output and of the launch's messages: the screen and the log
//! file.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::child::Line;
use super::log_file::LogFile;
use super::options::ScreenForm;
use super::reports;
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
    pub(super) fn new(form: ScreenForm, log_file: Option<PathBuf>, debug: bool) -> Self {
        Self { screen: Screen::new(form), log: LogFile::new(log_file), debug }
    }

    /// Handles a line that a process wrote. A program that reads events gets each line, wherever
    /// else the line goes.
    pub(super) fn line(&mut self, name: &str, number: usize, line: Line<'_>) {
        if self.screen.is_for_programs() {
            self.screen.event(&reports::line(name, line.which.name(), line.text));
        } else if line.sinks.screen {
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
        self.show(level, name, text);
        self.log(name, format!("[{}] {text}", level.name()).as_bytes());
    }

    /// Handles an event, which only programs see.
    pub(super) fn event(&mut self, event: impl FnOnce() -> Json) {
        if self.screen.is_for_programs() {
            self.screen.event(&event());
        }
    }

    fn show(&mut self, level: Level, name: &str, text: &str) {
        if self.screen.is_for_programs() {
            self.screen.event(&reports::message(level, name, text));
        } else {
            self.screen.message(level, name, text);
        }
    }

    fn log(&mut self, name: &str, line: &[u8]) {
        if let Err(problem) = self.log.line(name, line) {
            self.show(Level::Warning, LAUNCH, &problem);
        }
    }
}
