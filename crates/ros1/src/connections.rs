//! How many connections peers may have a process keep: each costs a descriptor.

use std::sync::LazyLock;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Most connections of a topic or service, each way.
pub(crate) const MOST_OF_A_TOPIC: usize = 256;
/// Most connections of the process; half of the descriptors that it may have, where these are few.
const MOST: usize = 1024;
/// Most connections of those that have not said what they want, and of calls of XML-RPC.
const MOST_STRANGERS: usize = 256;
/// Most publishers that are remembered: connected, or refused and not to be asked again.
const MOST_REMEMBERED: usize = 8192;

static ALL: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(most()));
static STRANGERS: Semaphore = Semaphore::const_new(MOST_STRANGERS);
static REMEMBERED: Semaphore = Semaphore::const_new(MOST_REMEMBERED);

/// A place among those that are bounded, as long as it is held.
pub(crate) type Place = SemaphorePermit<'static>;

/// Most connections of this process.
pub(crate) fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files / 2).unwrap_or(MOST).min(MOST)
}

/// A place for one more connection, if there is one.
pub(crate) fn place() -> Option<Place> {
    ALL.try_acquire().ok()
}

/// A place for a connection that has not said what it wants, if there is one.
pub(crate) fn place_of_stranger() -> Option<Place> {
    STRANGERS.try_acquire().ok()
}

/// A place for a publisher that is remembered, if there is one.
pub(crate) fn place_in_memory() -> Option<Place> {
    REMEMBERED.try_acquire().ok()
}

/// Whether a place is free.
pub(crate) fn are_free() -> bool {
    ALL.available_permits() > 0 && REMEMBERED.available_permits() > 0
}
