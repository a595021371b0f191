//! Awaits a future, and checks periodically whether the wait has become useless.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

/// The interval between checks.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Returns the output of a future; `None` if `is_over` becomes true first.
pub(crate) async fn wait<F: Future>(future: F, is_over: impl Fn() -> bool) -> Option<F::Output> {
    let mut future = pin!(future);
    loop {
        if let Ok(output) = timeout(LOOK_EVERY, &mut future).await {
            return Some(output);
        }
        if is_over() {
            return None;
        }
    }
}
