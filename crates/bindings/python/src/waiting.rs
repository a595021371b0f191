//! Waits for use from Python: they do not hold the interpreter lock, and check for signals
//! regularly, so that Ctrl-C ends any wait.

use std::time::{Duration, Instant};

use feros::WaitError;
use pyo3::prelude::*;

/// The maximum time that a thread waits before it checks for signals.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// Converts seconds to a duration; `None` and negative numbers mean forever.
pub(crate) fn duration(seconds: Option<f64>) -> Option<Duration> {
    let seconds = seconds.filter(|seconds| *seconds >= 0.0)?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Waits in slices; after a slice that ends with [`WaitError::Timeout`] the next slice begins.
///
/// # Errors
/// Returns the exception of a signal handler.
pub(crate) fn wait_in_slices(
    py: Python<'_>,
    timeout: Option<f64>,
    mut wait: impl FnMut(Duration) -> Result<(), WaitError> + Send,
) -> PyResult<Result<(), WaitError>> {
    let deadline = duration(timeout).map(|timeout| Instant::now() + timeout);
    loop {
        let left = deadline.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
        let result = py.detach(|| wait(left.min(SLICE)));
        py.check_signals()?;
        match result {
            Err(WaitError::Timeout { .. }) if left > SLICE || deadline.is_none() => {}
            other => return Ok(other),
        }
    }
}
