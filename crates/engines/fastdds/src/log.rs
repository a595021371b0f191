//! Passes the log of Fast DDS to `tracing`, and keeps the last errors to explain failures.

use std::collections::VecDeque;
use std::ffi::{CStr, c_char};
use std::sync::Once;

use feros_engine::FailureCounter;
use feros_engine::engine::LOG_TARGET;
use feros_fastdds_sys::Shim;
use feros_sync::Mutex;

/// The number of error lines that are kept to explain a failure.
const REMEMBERED: usize = 5;
/// The first lines, up to this number, are all logged. Later lines are logged less and less often.
/// This is necessary because a participant that sends malformed messages makes Fast DDS write a
/// line for each message.
const LINES_AT_FIRST: u64 = 100;

static LAST_ERRORS: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
static LINES: FailureCounter = FailureCounter::new();

pub(crate) fn install(shim: &Shim) {
    static INSTALLED: Once = Once::new();
    // SAFETY: `sink` may be called on any thread at any time.
    INSTALLED.call_once(|| unsafe { (shim.set_log)(sink) });
}

pub(crate) fn forget() {
    LAST_ERRORS.lock().clear();
}

/// Returns the errors since the last call of `forget`, joined for an error message.
pub(crate) fn last_errors() -> String {
    let lines: Vec<_> = LAST_ERRORS.lock().iter().cloned().collect();
    if lines.is_empty() { "no reason was given".into() } else { lines.join("; ") }
}

unsafe extern "C" fn sink(is_error: bool, text: *const c_char) {
    // SAFETY: the shim passes a NUL-terminated string that exists during the call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    if LINES.is_logged(LINES_AT_FIRST) {
        if is_error {
            tracing::error!(target: LOG_TARGET, "{text}");
        } else {
            tracing::warn!(target: LOG_TARGET, "{text}");
        }
    }
    if is_error {
        let mut last = LAST_ERRORS.lock();
        if last.len() == REMEMBERED {
            last.pop_front();
        }
        last.push_back(text);
    }
}
