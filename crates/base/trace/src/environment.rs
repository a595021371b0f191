//! The environment variables that control the trace. With them, a program needs no code for the
//! trace.

use std::path::PathBuf;
use std::time::Duration;

use crate::file::WriteError;
use crate::periodic;
use crate::recorder::{DEFAULT_CAPACITY, bound_file, enable_in, set_capacity};

/// The variable that turns on the trace of a program. Its value is the folder for the trace file.
pub const FOLDER_VARIABLE: &str = "FEROS_TRACE";
/// The variable for the number of events that each thread keeps. The default is
/// [`DEFAULT_CAPACITY`].
pub const CAPACITY_VARIABLE: &str = "FEROS_TRACE_EVENTS";
/// The variable that makes a program write its trace periodically while it runs. Its value is the
/// period: `1s`, `500ms`, or a number of seconds. Without this variable, the trace is written when
/// a context ends.
pub const PERIOD_VARIABLE: &str = "FEROS_TRACE_PERIOD";
/// The variable for the limit, in bytes, on the disk space of a trace that is written periodically.
/// The default is [`DEFAULT_BYTES`].
pub const BYTES_VARIABLE: &str = "FEROS_TRACE_BYTES";
/// The default limit on the disk space of a trace that is written periodically, in bytes.
pub const DEFAULT_BYTES: u64 = 64 << 20;
/// With a lower limit, the files would cover only a very short time.
const FEWEST_BYTES: u64 = 1 << 20;
/// With a shorter period, writing would cost more than recording. A longer period is of no use.
const PERIODS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_secs(3600);

/// The reason why the trace could not be set up according to the environment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The number of events in `FEROS_TRACE_EVENTS` is invalid.
    #[error(
        "FEROS_TRACE_EVENTS is {0:?}, which is not a number of events above 0: correct it, or \
         unset it for {DEFAULT_CAPACITY} events per thread"
    )]
    Capacity(String),
    /// The period in `FEROS_TRACE_PERIOD` is invalid.
    #[error(
        "FEROS_TRACE_PERIOD is {0:?}, which is not a time between 10ms and 1 hour: write 1s, 500ms or a number of \
         seconds, or unset it to write the trace when the program ends"
    )]
    Period(String),
    /// The number of bytes in `FEROS_TRACE_BYTES` is invalid.
    #[error(
        "FEROS_TRACE_BYTES is {0:?}, which is not a number of bytes from {FEWEST_BYTES}: correct \
         it, or unset it for {DEFAULT_BYTES} bytes"
    )]
    Bytes(String),
    /// The file cannot be created.
    #[error("FEROS_TRACE: {0}")]
    Write(#[from] WriteError),
    /// The system cannot start the thread that writes periodically.
    #[error(
        "FEROS_TRACE_PERIOD is set, but the thread that writes the trace cannot be started: {0}; \
         end other processes, or raise `ulimit -u`"
    )]
    Thread(std::io::Error),
}

/// Turns the trace on if [`FOLDER_VARIABLE`] is set, and starts to write it periodically if
/// [`PERIOD_VARIABLE`] is also set. Every context calls this, so a program does not need to call
/// it.
///
/// If writing fails while the program runs, the writing thread calls `tell`. It does not call
/// `tell` again until a write has succeeded.
///
/// # Errors
/// A setting in the environment cannot be applied.
pub fn enable_from_environment(tell: fn(&WriteError)) -> Result<(), EnvironmentError> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
    let Some(folder) = variable(FOLDER_VARIABLE) else { return Ok(()) };
    let capacity = text(CAPACITY_VARIABLE).map(parse_capacity).transpose()?;
    let period = text(PERIOD_VARIABLE).map(parse_period).transpose()?;
    let bytes = text(BYTES_VARIABLE).map(parse_bytes).transpose()?;
    if let Some(capacity) = capacity {
        set_capacity(capacity);
    }
    enable_in(&PathBuf::from(folder))?;
    if let Some(period) = period {
        bound_file(bytes.unwrap_or(DEFAULT_BYTES));
        periodic::start(period, tell).map_err(EnvironmentError::Thread)?;
    }
    Ok(())
}

fn parse_capacity(text: String) -> Result<usize, EnvironmentError> {
    text.parse().ok().filter(|count| *count > 0).ok_or(EnvironmentError::Capacity(text))
}

fn parse_period(text: String) -> Result<Duration, EnvironmentError> {
    let (number, unit) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1e-3),
        (None, Some(number)) => (number, 1.0),
        (None, None) => (text.as_str(), 1.0),
    };
    let seconds = number.trim_end().parse::<f64>().ok().map(|number| number * unit);
    let period = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    period.filter(|period| PERIODS.contains(period)).ok_or(EnvironmentError::Period(text))
}

fn parse_bytes(text: String) -> Result<u64, EnvironmentError> {
    let bytes = text.parse().ok().filter(|bytes| *bytes >= FEWEST_BYTES);
    bytes.ok_or(EnvironmentError::Bytes(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_times_and_all_else_is_refused_in_words() {
        let millis = |text: &str| parse_period(text.into()).ok().map(|period| period.as_millis());
        for (text, expected) in [
            ("1s", 1000),
            ("500ms", 500),
            ("0.5", 500),
            ("2", 2000),
            ("1 s", 1000),
            ("3600", 3_600_000),
        ] {
            assert_eq!(millis(text), Some(expected), "{text}");
        }
        for text in ["", "s", "soon", "0", "-1s", "9ms", "3601", "inf", "NaN", "1e30", "1min"] {
            assert_eq!(millis(text), None, "{text}");
        }
        let error = parse_period("soon".into()).expect_err("no time").to_string();
        assert!(
            error.starts_with("FEROS_TRACE_PERIOD is \"soon\"") && error.contains("1s, 500ms"),
            "{error}"
        );
    }

    #[test]
    fn bytes_and_events_are_numbers_that_make_sense() {
        assert_eq!(parse_bytes("1048576".into()).ok(), Some(1 << 20));
        for text in ["1048575", "64M", "-1", ""] {
            let error = parse_bytes(text.into()).expect_err("no number").to_string();
            assert!(error.contains("FEROS_TRACE_BYTES") && error.contains("67108864"), "{error}");
        }
        assert_eq!(parse_capacity("7".into()).ok(), Some(7));
        assert!(parse_capacity("0".into()).is_err() && parse_capacity("many".into()).is_err());
    }
}
