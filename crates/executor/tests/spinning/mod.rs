//! An executor that spins on a thread of its own, for several files of tests.

use std::sync::Arc;
use std::thread::JoinHandle;

use feros_executor::{Executor, SpinError};
use feros_test_support::spawn;

/// Spins until it is stopped.
pub(crate) fn spinning(executor: &Arc<Executor>) -> JoinHandle<Result<(), SpinError>> {
    let executor = Arc::clone(executor);
    spawn("spinning", move || executor.spin())
}
