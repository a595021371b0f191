//! The doorbell with which other processes wake a waiting thread of this process.

use std::sync::Arc;
use std::time::Duration;

use feros_engine::FailureCounter;
use feros_executor::DoorbellMemory;
use feros_shm::ProcessSegment;

/// The interval at which a wait without a doorbell checks for messages from other processes. A
/// process has only a limited number of doorbells.
pub(crate) const WITHOUT_DOORBELL: Duration = Duration::from_millis(10);

/// A new doorbell of this process; `None` if the process cannot get one. Without a doorbell
/// messages take the network transport, and `feros topic info -v` shows the reason.
pub(crate) fn doorbell() -> Option<Arc<dyn DoorbellMemory>> {
    // One counter for all wait sets, because a process may have hundreds.
    static FAILED: FailureCounter = FailureCounter::new();
    let doorbell = ProcessSegment::of_this_process().ok()?.doorbell();
    match doorbell {
        Ok(doorbell) => Some(Arc::new(doorbell)),
        Err(error) => {
            if let Some(so_far) = FAILED.so_far() {
                tracing::warn!(
                    target: "feros::shm",
                    "a wait set cannot be woken by other processes{so_far}: {error}"
                );
            }
            None
        }
    }
}
