//! Limits for the connections that peers can open to a process: each costs a descriptor.

use std::sync::LazyLock;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The most connections of a topic or service, in each direction.
pub(crate) const MOST_OF_A_TOPIC: usize = 256;
/// The most connections of the process, or half of the descriptors that it may have, if that is
/// less.
const MOST: usize = 1024;
/// The most connections whose header has not arrived yet, and connections for XML-RPC calls.
const MOST_STRANGERS: usize = 256;
/// The most publishers that are remembered: connected, or refused and not to be asked again.
const MOST_REMEMBERED: usize = 8192;

static ALL: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(most()));
static STRANGERS: Semaphore = Semaphore::const_new(MOST_STRANGERS);
static REMEMBERED: Semaphore = Semaphore::const_new(MOST_REMEMBERED);

/// A slot of a bounded set, held until this is dropped.
pub(crate) type Place = SemaphorePermit<'static>;

/// The most connections of this process.
pub(crate) fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files / 2).unwrap_or(MOST).min(MOST)
}

/// A slot for one more connection, if there is one.
pub(crate) fn place() -> Option<Place> {
    ALL.try_acquire().ok()
}

/// A slot for a connection whose header has not arrived yet, if there is one.
pub(crate) fn place_of_stranger() -> Option<Place> {
    STRANGERS.try_acquire().ok()
}

/// A slot for a publisher that is remembered, if there is one.
pub(crate) fn place_in_memory() -> Option<Place> {
    REMEMBERED.try_acquire().ok()
}

/// Whether slots are free.
pub(crate) fn are_free() -> bool {
    ALL.available_permits() > 0 && REMEMBERED.available_permits() > 0
}
