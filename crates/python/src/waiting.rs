//! Waiting as Python does: without the lock of the interpreter, and with a look at signals again
//! and again, so that Ctrl-C ends any wait.

use std::time::{Duration, Instant};

use feros::WaitError;
use pyo3::prelude::*;

/// How long a thread waits at most before it looks at signals.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// The time of so many seconds; `None`, and what is negative, is for ever.
pub(crate) fn duration(seconds: Option<f64>) -> Option<Duration> {
    let seconds = seconds.filter(|seconds| *seconds >= 0.0)?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Waits piece by piece; a piece that ends with [`WaitError::Timeout`] is followed by the next.
///
/// # Errors
/// What a signal handler raises.
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
