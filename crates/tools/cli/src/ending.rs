//! The end of verbs on a signal. The end is the same for Ctrl-C, SIGTERM and SIGHUP; verbs that
//! have something to complete (a file, clients, other processes) get more time for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros::signals::{self, OnSignal};
use feros_process::EndSignals;

use crate::error::CliError;

/// After this time a verb that has not ended counts as hanging, and the next signal ends it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Signals within this time count as one, since terminals and launchers may each send one.
const TOGETHER: Duration = Duration::from_secs(1);

/// From now on SIGHUP ends any verb like Ctrl-C. A signal a second after the first ends a verb that
/// hangs.
pub(crate) fn like_ctrl_c() {
    signals::set_patience(TOGETHER);
}

/// From now on SIGHUP ends the verb, as after [`like_ctrl_c`]; but it takes longer until the next
/// signal interrupts the orderly end.
pub(crate) fn in_peace() {
    signals::set_patience(PATIENCE);
}

/// From now on the signals that end a process no longer end this one, for verbs without a context
/// that wait for processes which they started.
pub(crate) fn end_signals() -> Result<EndSignals, CliError> {
    let failed = |error| CliError::failed(format!("signals cannot be received: {error}"));
    EndSignals::receive().map_err(failed)
}

/// The form of [`in_peace`] for verbs without a context: the first signal sets the flag, and then
/// `wake` is called.
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
