//! The part of this process in the shared-memory transport: one iceoryx2 node, in a space that
//! belongs only to this user.
//!
//! The space consists of the folder `/dev/shm/feros-<uid>-<format>` (mode 0700), in which iceoryx2
//! keeps its files, and a prefix of the names of its shared memory. Processes with another format
//! have another space, because they might take files that they cannot read for those of a killed
//! process, and remove them. The folder is in `/dev/shm` so that
//! exactly the processes that see the shared memory also see the folder, for example in containers.
//! The folder needs no environment variable, and disappears when the machine restarts. The prefix
//! has a random part, which is stored in the folder, so that another user cannot claim these names
//! first. The last process of the user removes the space when it ends.

mod dead;
pub(crate) mod space;
mod sweep;

use feros_engine::FailureCounter;
use feros_sync::Mutex;
use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use iceoryx2::prelude::{LogLevel, Node, NodeBuilder, SignalHandlingMode};
use rustix::io::Errno;
use rustix::process::geteuid;

pub use self::dead::{CleanUp, Cleaner};
use self::space::{LOCK_TIMEOUT, PREFIX_FILE, Space, SpaceLock, check_access};
use crate::error::UnavailableError;
use crate::format_version::format_version;
use crate::ipc::Ipc;
use crate::limits::{check_file_size, check_open_files};
use crate::page::page_bytes;
use crate::storage::populate::{SHM, free_bytes, margin_bytes, small_files_bytes};
use crate::storage::{self, Failure};

/// The limit on the size of each of the few small files of a node.
const NODE_FILE_BYTES: u64 = 64 * 1024;

/// The node that [`HostNode::shared`] returns.
static SHARED: Mutex<Weak<HostNode>> = Mutex::new(Weak::new());
/// The cleaner of that node. It is not taken from the node, because that would own the node for a
/// moment.
static CLEANER: Mutex<Weak<Cleaner>> = Mutex::new(Weak::new());

/// The part of this process in the shared-memory transport.
///
/// It starts no threads and installs no signal handlers. Its files are removed when its last owner
/// drops it. So a thread that the end of the program does not wait for must not own it; such a
/// thread uses the [`Cleaner`]. If the process is killed, a call of [`clean_up`](Self::clean_up) in
/// any other process of this user removes the files.
pub struct HostNode {
    /// This is present until this value is dropped.
    node: Option<Node<Ipc>>,
    cleaner: Arc<Cleaner>,
}

impl HostNode {
    /// Returns the node of this process. The node is made on first use. All callers share it while
    /// at least one of them holds it.
    ///
    /// # Errors
    /// See [`UnavailableError`]. A later call may succeed.
    pub fn shared() -> Result<Arc<Self>, UnavailableError> {
        let mut shared = SHARED.lock();
        if let Some(node) = shared.upgrade() {
            return Ok(node);
        }
        let node = Arc::new(Self::new(&folder_name())?);
        *shared = Arc::downgrade(&node);
        *CLEANER.lock() = Arc::downgrade(&node.cleaner);
        Ok(node)
    }

    /// Checks whether a node could be made now, as far as this is possible without waiting for
    /// other processes.
    ///
    /// # Errors
    /// See [`UnavailableError`]. A later call may succeed.
    pub fn check() -> Result<(), UnavailableError> {
        let folder = Path::new(SHM).join(folder_name());
        check_room_for_node(&folder)?;
        check_access(&folder)
    }

    /// Makes a node in its own space, separate from all other processes of this user. Only tests
    /// use this.
    ///
    /// `name` is the name of the folder in `/dev/shm`. [`remove_space`](Self::remove_space) removes
    /// it.
    ///
    /// # Errors
    /// See [`UnavailableError`].
    pub fn new(name: &str) -> Result<Self, UnavailableError> {
        let folder = Path::new(SHM).join(name);
        check_room_for_node(&folder)?;
        check_open_files()?;
        let (space, lock) = Space::open(folder)?;
        log_to_tracing();
        storage::forget_failure();
        let config = space.config()?;
        let node = NodeBuilder::new()
            .config(&config)
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Ipc>()
            .map_err(|cause| {
                space.remove_if_unused(&lock);
                refused("the node", cause)
            })?;
        let cleaner = Arc::new(Cleaner::new(space, config, *node.id()));
        cleaner.clean_up_if_needed(&lock);
        lock.finish();
        Ok(Self { node: Some(node), cleaner })
    }

    /// Like [`Cleaner::clean_up`].
    pub fn clean_up(&self) -> CleanUp {
        self.cleaner.clean_up()
    }

    /// The cleaner of the node that [`shared`](Self::shared) returns, if the node exists.
    pub fn current_cleaner() -> Option<Arc<Cleaner>> {
        CLEANER.lock().upgrade()
    }

    /// The part of the node that removes what killed processes have left.
    pub fn cleaner(&self) -> &Arc<Cleaner> {
        &self.cleaner
    }

    pub(crate) fn clean_up_locked(&self, lock: &SpaceLock) -> CleanUp {
        self.cleaner.clean_up_locked(lock)
    }

    /// Waits for the exclusive right of [`Space::exclusive`].
    pub(crate) fn exclusive(&self) -> Result<SpaceLock, UnavailableError> {
        self.space().exclusive(LOCK_TIMEOUT)
    }

    /// Like [`exclusive`](Self::exclusive), but fails if another thread or process has the right at
    /// present. This is for threads that must not wait.
    pub(crate) fn exclusive_now(&self) -> Result<SpaceLock, UnavailableError> {
        self.space().exclusive(Duration::ZERO)
    }

    fn space(&self) -> &Space {
        self.cleaner.space()
    }

    /// The folder of this user.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.space().folder
    }

    /// The common prefix of the names of this user's shared memory in `/dev/shm`.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.space().prefix
    }

    /// Removes the folder and all shared memory of the space with this name, even if it is in use.
    /// Only tests use this.
    ///
    /// # Errors
    /// The operating system's error. A missing space is not an error.
    pub fn remove_space(name: &str) -> io::Result<()> {
        let folder = Path::new(SHM).join(name);
        if let Ok(prefix) = fs::read_to_string(folder.join(PREFIX_FILE)) {
            for entry in fs::read_dir(SHM)? {
                let entry = entry?;
                if entry.file_name().to_string_lossy().starts_with(&prefix) {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the process with this node is alive, or has been killed but not cleaned up yet.
    pub(crate) fn knows(&self, node: u128) -> bool {
        let Space { folder, prefix } = self.space();
        folder.join(format!("nodes/{prefix}{node}.node_monitor")).exists()
    }

    pub(crate) fn iceoryx(&self) -> &Node<Ipc> {
        self.node.as_ref().expect("only dropping takes the node")
    }
}

impl Drop for HostNode {
    fn drop(&mut self) {
        let lock = self.exclusive();
        if let Ok(lock) = &lock {
            self.cleaner.clean_up_if_needed(lock);
        }
        // The node's files are removed here, under the lock. So other holders of the lock see
        // either all of these files or none of them.
        drop(self.node.take());
        match lock {
            Ok(lock) => {
                self.space().remove_if_unused(&lock);
                lock.finish();
            }
            Err(error) => {
                tracing::debug!(target: "feros::shm", %error, "the folder of shared memory stays \
                                                               for the next process");
            }
        }
    }
}

impl std::fmt::Debug for HostNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostNode")
            .field("folder", &self.space().folder)
            .field("prefix", &self.space().prefix)
            .finish()
    }
}

/// The name of the folder of this user and this format.
fn folder_name() -> String {
    format!("feros-{}-{}", geteuid().as_raw(), format_version())
}

fn check_room_for_node(folder: &Path) -> Result<(), UnavailableError> {
    let free = free_bytes().map_err(|cause| UnavailableError::Folder {
        folder: folder.to_owned(),
        cause: cause.to_string(),
    })?;
    check_space(small_files_bytes(page_bytes()), free)?;
    check_file_size(NODE_FILE_BYTES)
}

/// Checks whether `needed_bytes` and a margin fit into the free space.
pub(crate) fn check_space(needed_bytes: u64, free_bytes: u64) -> Result<(), UnavailableError> {
    let needed_bytes = needed_bytes.saturating_add(margin_bytes(page_bytes()));
    if free_bytes < needed_bytes {
        return Err(UnavailableError::Full { needed_bytes, free_bytes });
    }
    Ok(())
}

/// The error for a refusal of iceoryx2. This is the failure that the storages have recorded. If
/// there is no such failure, it is iceoryx2's error. Callers must call `storage::forget_failure`
/// before they call iceoryx2.
pub(crate) fn refused(what: &'static str, cause: impl Debug) -> UnavailableError {
    match storage::take_failure() {
        Some(Failure { size_bytes, cause: Errno::NOSPC }) => UnavailableError::Full {
            needed_bytes: size_bytes,
            free_bytes: free_bytes().unwrap_or(0),
        },
        Some(Failure { size_bytes, cause: why }) => UnavailableError::Refused {
            what,
            cause: format!("{cause:?}: a file of {size_bytes} bytes in {SHM}: {why}"),
        },
        None => UnavailableError::Refused { what, cause: format!("{cause:?}") },
    }
}

/// iceoryx2 writes a line for each failure, even if the failure occurs again with each message.
/// After this number of lines, further lines are logged more and more rarely.
const LINES_AT_FIRST: u64 = 100;

static LINES: FailureCounter = FailureCounter::new();

struct ToTracing;

impl iceoryx2_log_types::Log for ToTracing {
    fn log(
        &self,
        level: LogLevel,
        origin: std::fmt::Arguments<'_>,
        message: std::fmt::Arguments<'_>,
    ) {
        match level {
            LogLevel::Warn if is_of_no_concern(message) => {}
            LogLevel::Error | LogLevel::Fatal | LogLevel::Warn
                if !LINES.is_logged(LINES_AT_FIRST) => {}
            LogLevel::Error | LogLevel::Fatal => {
                tracing::error!(target: "feros::shm", %origin, "{message}")
            }
            LogLevel::Warn => tracing::warn!(target: "feros::shm", %origin, "{message}"),
            LogLevel::Info => tracing::info!(target: "feros::shm", %origin, "{message}"),
            LogLevel::Debug => tracing::debug!(target: "feros::shm", %origin, "{message}"),
            LogLevel::Trace => tracing::trace!(target: "feros::shm", %origin, "{message}"),
        }
    }
}

/// Whether the warning can be ignored. If a subscription may hold more samples than there are slots
/// for ended connections, iceoryx2 correctly makes more slots, but warns each time.
fn is_of_no_concern(message: std::fmt::Arguments<'_>) -> bool {
    message.to_string().starts_with("Subscriber max borrowed samples is larger than expired")
}

/// Sends the log of iceoryx2 to `tracing`, unless the program itself uses iceoryx2 and has already
/// set its logger.
///
/// Only warnings and errors are sent, because at lower levels, iceoryx2 formats a string for each
/// error that it returns, even for each message.
fn log_to_tracing() {
    static TO_TRACING: ToTracing = ToTracing;
    if iceoryx2::prelude::set_logger(&TO_TRACING) {
        iceoryx2::prelude::set_log_level(LogLevel::Warn);
    }
}
