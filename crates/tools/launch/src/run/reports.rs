//! The events that a run writes to standard output for another program, as JSON objects.

use std::process::ExitStatus;

use serde_json::{Value as Json, json};

use super::child::Child;
use super::reacting::exit_code;
use crate::level::Level;

/// The plan is complete, and processes start.
pub(super) fn begun() -> Json {
    json!({ "event": "begun" })
}

/// A process has started.
pub(super) fn started(child: &Child) -> Json {
    let Child { process, pid, .. } = child;
    json!({ "event": "started", "process": process.name, "pid": pid, "action": process.action })
}

/// A process has ended.
pub(super) fn ended(child: &Child, status: ExitStatus) -> Json {
    json!({
        "event": "ended",
        "process": child.process.name,
        "action": child.process.action,
        "code": exit_code(status),
        "was_asked": child.is_ending(),
    })
}

/// A process has written a line.
pub(super) fn line(process: &str, stream: &str, line: &[u8]) -> Json {
    let line = String::from_utf8_lossy(line);
    json!({ "event": "output", "process": process, "stream": stream, "line": line })
}

/// The launch says something about a process, or about itself.
pub(super) fn message(level: Level, name: &str, text: &str) -> Json {
    json!({ "event": "message", "level": level.name(), "name": name, "text": text })
}
