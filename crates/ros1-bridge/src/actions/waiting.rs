//! Awaits something, and looks meanwhile whether that is in vain.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What comes of a future; `None` where `is_over` before.
pub(super) async fn wait<F: Future>(future: F, is_over: impl Fn() -> bool) -> Option<F::Output> {
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
