//! The orderly end of verbs that have something to complete: a file, clients, other processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros::signals::{self, OnSignal};
use feros_process::EndSignals;

use crate::error::CliError;

/// After this time a verb that has not ended counts as hanging, and the next signal ends it.
const PATIENCE: Duration = Duration::from_secs(10);

/// From now on SIGHUP ends the verb like Ctrl-C. A second signal soon after the first does not
/// interrupt the orderly end.
pub(crate) fn in_peace() {
    signals::set_patience(PATIENCE);
}

/// From now on the signals that end a process no longer end this one, for verbs without a context
/// that wait for processes which they started.
pub(crate) fn end_signals() -> Result<EndSignals, CliError> {
    let failed = |error| CliError::failed(format!("signals cannot be received: {error}"));
    EndSignals::receive().map_err(failed)
}

/// Like [`in_peace`], for verbs without a context: the first signal sets the flag, and then `wake`
/// is called.
pub(crate) fn flag(wake: impl Fn() + Send + Sync + 'static) -> (Arc<AtomicBool>, OnSignal) {
    in_peace();
    let is_ending = Arc::new(AtomicBool::new(false));
    let flag = is_ending.clone();
    let listening = signals::on_signal(move || {
        flag.store(true, Ordering::Release);
        wake();
    });
    (is_ending, listening)
}
