//! A helper for several test files: an executor that spins on a separate thread.

use std::sync::Arc;
use std::thread::JoinHandle;

use feros_executor::{Executor, SpinError};
use feros_test_support::spawn;

/// Starts a thread that spins the executor until it is stopped.
pub(crate) fn spinning(executor: &Arc<Executor>) -> JoinHandle<Result<(), SpinError>> {
    let executor = Arc::clone(executor);
    spawn("spinning", move || executor.spin())
}
