//! Where other processes wake who waits in this one.

use std::sync::Arc;
use std::time::Duration;

use feros_executor::DoorbellMemory;
use feros_shm::ProcessSegment;

/// A process has a bounded number of places at which others ring. A wait that got none of them
/// looks for messages of other processes so often.
pub(crate) const WITHOUT_DOORBELL: Duration = Duration::from_millis(10);

/// The place of this process. Without one the network transport is used, and
/// `feros topic info -v` says why.
pub(crate) fn doorbell() -> Option<Arc<dyn DoorbellMemory>> {
    let doorbell = ProcessSegment::of_this_process().ok()?.doorbell();
    match doorbell {
        Ok(doorbell) => Some(Arc::new(doorbell)),
        Err(error) => {
            tracing::warn!(target: "feros::shm", "a wait set cannot be woken by other processes: {error}");
            None
        }
    }
}
