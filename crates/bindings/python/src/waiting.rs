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

/// The time limit in a message: `within 2 s`, or `at once`.
#[pyfunction]
pub(crate) fn within(seconds: f64) -> String {
    feros_wording::within(duration(Some(seconds)).unwrap_or(Duration::MAX))
}

/// Waits in slices; after a slice that ends with [`WaitError::Timeout`] the next slice begins. The
/// final error has the whole time limit.
///
/// # Errors
/// Returns the exception of a signal handler.
pub(crate) fn wait_in_slices(
    py: Python<'_>,
    timeout: Option<f64>,
    mut wait: impl FnMut(Duration) -> Result<(), WaitError> + Send,
) -> PyResult<Result<(), WaitError>> {
    let limit = duration(timeout);
    let deadline = limit.map(|limit| Instant::now() + limit);
    loop {
        let left = deadline.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
        let result = py.detach(|| wait(left.min(SLICE)));
        py.check_signals()?;
        match (result, limit) {
            (Err(WaitError::Timeout { .. }), None) => {}
            (Err(WaitError::Timeout { .. }), Some(_)) if left > SLICE => {}
            (Err(WaitError::Timeout { what, .. }), Some(waited)) => {
                return Ok(Err(WaitError::Timeout { what, waited }));
            }
            (other, _) => return Ok(other),
        }
    }
}
