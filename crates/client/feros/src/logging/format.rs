//! Formats log messages for the terminal as `rcutils` does: `[INFO] [1700000000.123456789]
//! [talker]: text`.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use super::LogRecord;
use crate::arguments::LogLevel;

/// Writes a message to standard error with one call. Errors are ignored, because a terminal that
/// has been closed must not end the process.
pub(super) fn write_to_terminal(record: &LogRecord) {
    static COLOURED: OnceLock<bool> = OnceLock::new();
    let coloured = *COLOURED
        .get_or_init(|| std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());
    let _ = std::io::stderr().write_all(line(record, coloured).as_bytes());
}

pub(super) fn line(record: &LogRecord, coloured: bool) -> String {
    let (name, colour) = match record.level {
        LogLevel::Debug => ("DEBUG", "\x1b[32m"),
        LogLevel::Info => ("INFO", ""),
        LogLevel::Warn => ("WARN", "\x1b[33m"),
        LogLevel::Error => ("ERROR", "\x1b[31m"),
        LogLevel::Fatal => ("FATAL", "\x1b[31m"),
    };
    let since = record.stamp.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line = String::with_capacity(64 + record.message.len());
    if coloured {
        line.push_str(colour);
    }
    let _ = write!(
        line,
        "[{name}] [{}.{:09}] [{}]: {}",
        since.as_secs(),
        since.subsec_nanos(),
        record.logger,
        record.message
    );
    if coloured && !colour.is_empty() {
        line.push_str("\x1b[0m");
    }
    line.push('\n');
    line
}
