//! Limits on the connections that other nodes can open to a process. Each connection needs a file
//! descriptor.

use std::sync::LazyLock;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The limit on connections of each topic or service, per direction.
pub(crate) const MOST_OF_A_TOPIC: usize = 256;
/// The limit on connections of the process. If half of the process's limit on descriptors is lower,
/// that value is used.
const MOST: usize = 1024;
/// The limit on the total of XML-RPC connections and connections whose header has not arrived yet.
const MOST_STRANGERS: usize = 256;
/// The limit on publishers that are remembered because they are connected, or because they refused
/// a connection and the node must not ask them again.
const MOST_REMEMBERED: usize = 8192;

static ALL: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(most()));
static STRANGERS: Semaphore = Semaphore::const_new(MOST_STRANGERS);
static REMEMBERED: Semaphore = Semaphore::const_new(MOST_REMEMBERED);

/// A slot in one of the limited sets. Dropping this value frees the slot.
pub(crate) type Place = SemaphorePermit<'static>;

/// Returns the limit on connections of this process.
pub(crate) fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files / 2).unwrap_or(MOST).min(MOST)
}

/// Takes a slot for another connection, if one is free.
pub(crate) fn place() -> Option<Place> {
    ALL.try_acquire().ok()
}

/// Takes a slot for a connection whose header has not arrived yet, if one is free.
pub(crate) fn place_of_stranger() -> Option<Place> {
    STRANGERS.try_acquire().ok()
}

/// Takes a slot for remembering a publisher, if one is free.
pub(crate) fn place_in_memory() -> Option<Place> {
    REMEMBERED.try_acquire().ok()
}

/// Whether slots for connections and publishers are free.
pub(crate) fn are_free() -> bool {
    ALL.available_permits() > 0 && REMEMBERED.available_permits() > 0
}
