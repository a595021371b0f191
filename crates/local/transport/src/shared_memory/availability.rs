//! Whether an endpoint can use the shared-memory transport. Publishers, subscriptions, clients and
//! servers all ask here.

use std::fmt::Display;
use std::sync::OnceLock;

use feros_engine::{AnnounceError, FailureCounter};
use feros_shm::{HostNode, Obstacle, ProcessSegment, Transport, TransportSet};

/// The longest possible queue in shared memory. A subscription with a larger history depth takes
/// the network transport.
pub(crate) const LONGEST_QUEUE: usize = 128;

/// Whether an endpoint uses shared memory if it may use these transports.
///
/// # Errors
/// The obstacle that prevents the endpoint from using shared memory.
pub(crate) fn of(transports: TransportSet) -> Result<bool, Obstacle> {
    if !transports.contains(Transport::SharedMemory) {
        return Ok(false);
    }
    obstacle_of_process().map_or(Ok(true), Err)
}

/// The obstacle that prevents this process from using shared memory, or `None` if there is no
/// obstacle. It is determined only once, without waiting for other processes.
fn obstacle_of_process() -> Option<Obstacle> {
    static OBSTACLE: OnceLock<Option<Obstacle>> = OnceLock::new();
    *OBSTACLE.get_or_init(|| {
        let warn = |why: &dyn Display| {
            tracing::warn!(
                target: "feros::shm",
                "messages to other processes take the network transport: {why}"
            );
        };
        if let Err(unavailable) = ProcessSegment::of_this_process() {
            warn(&unavailable);
            return Some(unavailable.obstacle());
        }
        let unavailable = HostNode::check().err()?;
        warn(&unavailable);
        Some(unavailable.obstacle())
    })
}

/// Logs that the engine could not announce the reason why shared memory is not used.
#[cold]
pub(crate) fn announcing_failed(error: &AnnounceError) {
    static FAILED: FailureCounter = FailureCounter::new();
    if let Some(so_far) = FAILED.so_far() {
        tracing::warn!(
            target: "feros::shm",
            "cannot announce why shared memory is not used: {error}{so_far}"
        );
    }
}
