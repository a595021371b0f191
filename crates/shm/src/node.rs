//! This process on the host path: one iceoryx2 node, in a space that belongs to this user alone.
//!
//! The space is the folder `/dev/shm/feros-<uid>` (mode 0700) for what iceoryx2 keeps in files, and a prefix of the names of
//! its shared memory. It lies in `/dev/shm` so that it is seen by exactly those who see the shared memory (containers), needs
//! no environment variable, and goes with a restart of the machine. The prefix has a random part, kept in the folder, so that
//! another user cannot make our names before us.

use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use iceoryx2::node::{DeadNodeView, NodeCleanupFailure, NodeDetails, NodeView};
use iceoryx2::prelude::{
    CallbackProgression, Config, FileName, LogLevel, Node, NodeBuilder, NodeState, SemanticString,
    SignalHandlingMode,
};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::UnavailableError;
use crate::populate::{MARGIN_BYTES, SHM, free_bytes};
use crate::service::Ipc;
use crate::sweep::{sweep, sweep_unfinished};

/// How long what another process is just making is waited for. Half-made things of killed processes take as long.
const CREATION_TIMEOUT: Duration = Duration::from_millis(200);

/// What a node needs in `/dev/shm`: a few small files.
const NODE_BYTES: u64 = 64 * 1024;

/// This process's part in the host path.
///
/// Makes no thread and installs no signal handler. Its files go when the last owner drops it; after a kill,
/// [`clean_up`](Self::clean_up) of any other process of this user removes them.
pub struct HostNode {
    node: Node<Ipc>,
    space: Space,
}

/// What [`HostNode::clean_up`] found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanUp {
    /// Dead processes whose leftovers were removed.
    pub removed: u64,
    /// Dead processes whose leftovers could not be removed now; another process may be at it.
    pub failed: u64,
    /// Files removed that belonged to nobody any more.
    pub swept: u64,
}

impl HostNode {
    /// The node of this process, made on first use and shared by all who ask while one of them holds it.
    ///
    /// # Errors
    /// [`UnavailableError`]; asking again later may succeed.
    pub fn shared() -> Result<Arc<Self>, UnavailableError> {
        static SHARED: Mutex<Weak<HostNode>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = shared.upgrade() {
            return Ok(node);
        }
        let node = Arc::new(Self::new(&format!("feros-{}", geteuid().as_raw()))?);
        *shared = Arc::downgrade(&node);
        Ok(node)
    }

    /// A node in a space of its own, apart from all other processes of this user: for tests.
    ///
    /// `name` is the name of the folder in `/dev/shm`; [`remove_space`](Self::remove_space) removes it.
    ///
    /// # Errors
    /// [`UnavailableError`].
    pub fn new(name: &str) -> Result<Self, UnavailableError> {
        let folder = Path::new(SHM).join(name);
        let free = free_bytes()
            .map_err(|cause| UnavailableError::Folder { folder: folder.clone(), cause: cause.to_string() })?;
        check_space(NODE_BYTES, free)?;
        let (space, lock) = Space::open(folder)?;
        log_to_tracing();
        let node = NodeBuilder::new()
            .config(&space.config()?)
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Ipc>()
            .map_err(|cause| UnavailableError::Refused { what: "the node", cause: format!("{cause:?}") })?;
        space.close_to_others();
        drop(lock);
        let node = Self { node, space };
        node.clean_up();
        Ok(node)
    }

    /// Removes what killed processes of this user left: their shared memory, their places at publishers, their files.
    ///
    /// Called by this crate when a node or a publisher is made and when a publisher has no place left for a subscription;
    /// to be called when the death of a peer is noticed. Looks at one small file per process of this user.
    pub fn clean_up(&self) -> CleanUp {
        match self.exclusive() {
            Ok(lock) => self.clean_up_locked(&lock),
            Err(error) => {
                tracing::debug!(target: "feros::shm", %error, "no clean-up now");
                CleanUp { failed: 1, ..CleanUp::default() }
            }
        }
    }

    pub(crate) fn clean_up_locked(&self, _lock: &SpaceLock) -> CleanUp {
        let mut found = CleanUp::default();
        let mut dead = Vec::new();
        let listed = Node::<Ipc>::list(self.node.config(), |state| {
            if let NodeState::Dead(node) = state {
                dead.push(*node.id());
            }
            CallbackProgression::Continue
        });
        if let Err(cause) = listed {
            tracing::debug!(target: "feros::shm", ?cause, "not all processes could be looked at");
            found.failed += 1;
        }
        for id in dead {
            // With our configuration, not with the one that the dead process wrote down: it may have been killed while it, or
            // whoever cleaned up after it, was about that, and iceoryx2 would look in its default places instead.
            let details = NodeDetails::__internal_new(&None, self.node.config());
            match DeadNodeView::<Ipc>::__internal_try_remove_stale_resources(id, details) {
                Ok(()) | Err(NodeCleanupFailure::ResourcesAlreadyCleanedUp) => found.removed += 1,
                Err(cause) => {
                    tracing::debug!(target: "feros::shm", ?cause, "what a killed process left could not be removed");
                    found.failed += 1;
                }
            }
        }
        found.swept = sweep(&self.space.folder, &self.space.prefix);
        found
    }

    /// The right to make and to remove things in this space: one thread of one process at a time has it, and what others left
    /// unfinished is gone.
    pub(crate) fn exclusive(&self) -> Result<SpaceLock, UnavailableError> {
        let lock = SpaceLock::take(&self.space.folder)?;
        sweep_unfinished(&self.space.folder, &self.space.prefix);
        Ok(lock)
    }

    /// The folder of this user.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.space.folder
    }

    /// What the names of this user's shared memory in `/dev/shm` begin with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.space.prefix
    }

    /// Removes the folder and all shared memory of a space of the given name, whoever uses it: for tests.
    ///
    /// # Errors
    /// What the operating system says; a space that does not exist is no error.
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

    /// Whether the process with this node lives, or was killed and is not cleaned up.
    pub(crate) fn knows(&self, node: u128) -> bool {
        self.space.folder.join(format!("nodes/{}{node}.node_monitor", self.space.prefix)).exists()
    }

    pub(crate) fn iceoryx(&self) -> &Node<Ipc> {
        &self.node
    }
}

impl std::fmt::Debug for HostNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostNode")
            .field("folder", &self.space.folder)
            .field("prefix", &self.space.prefix)
            .finish()
    }
}

/// Whether something of `needed_bytes` and a margin fits.
pub(crate) fn check_space(needed_bytes: u64, free_bytes: u64) -> Result<(), UnavailableError> {
    if free_bytes < needed_bytes.saturating_add(MARGIN_BYTES) {
        return Err(UnavailableError::Full {
            needed_bytes: needed_bytes.saturating_add(MARGIN_BYTES),
            free_bytes,
        });
    }
    Ok(())
}

const PREFIX_FILE: &str = "prefix";

/// The folder and the prefix of names.
struct Space {
    folder: PathBuf,
    prefix: String,
}

impl Space {
    /// Makes the folder or checks that the one that is there is ours alone. Nobody else can replace it afterwards, because
    /// in a sticky folder (as `/dev/shm` is) only the owner of an entry may.
    fn open(folder: PathBuf) -> Result<(Self, SpaceLock), UnavailableError> {
        let failed =
            |cause: io::Error| UnavailableError::Folder { folder: folder.clone(), cause: cause.to_string() };
        let not_trusted = |why: String| UnavailableError::NotTrusted { folder: folder.clone(), why };
        let me = geteuid().as_raw();
        let parent = fs::metadata(SHM).map_err(failed)?;
        if parent.mode() & 0o022 != 0 && parent.mode() & 0o1000 == 0 {
            return Err(not_trusted(format!(
                "lies in {SHM}, whose entries anybody may replace (mode {:o})",
                parent.mode() & 0o7777
            )));
        }
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => (),
        }
        let found = fs::symlink_metadata(&folder).map_err(failed)?;
        if !found.is_dir() {
            return Err(not_trusted("is not a folder".to_owned()));
        }
        if found.uid() != me {
            return Err(not_trusted(format!("belongs to user {}, not to {me}", found.uid())));
        }
        if found.mode() & 0o777 != 0o700 {
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        let lock = SpaceLock::take(&folder)?;
        let prefix = read_or_make_prefix(&folder, me).map_err(failed)?;
        sweep_unfinished(&folder, &prefix);
        Ok((Self { folder, prefix }, lock))
    }

    fn config(&self) -> Result<Config, UnavailableError> {
        let refused = |cause: String| UnavailableError::Refused { what: "the names of the space", cause };
        let mut config = Config::default();
        let folder = self.folder.as_os_str().as_encoded_bytes();
        let path = iceoryx2::prelude::Path::new(folder).map_err(|cause| refused(format!("{cause:?}")))?;
        config.global.set_root_path(&path);
        config.global.prefix =
            FileName::new(self.prefix.as_bytes()).map_err(|cause| refused(format!("{cause:?}")))?;
        config.global.creation_timeout = CREATION_TIMEOUT;
        // Feros says when to clean up; otherwise every open would look at every process.
        config.global.service.cleanup_dead_nodes_on_open = false;
        config.global.node.cleanup_dead_nodes_on_creation = false;
        config.global.node.cleanup_dead_nodes_on_destruction = false;
        Ok(config)
    }

    /// iceoryx2 makes the segment that counts nodes readable and writable by everybody, so that users can share it. Ours is not to be
    /// shared: another user could cut it short under us.
    fn close_to_others(&self) {
        let Ok(entries) = fs::read_dir(SHM) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(&self.prefix)
                && name.ends_with(".global_mgmt")
                && let Err(error) = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o600))
            {
                tracing::warn!(target: "feros::shm", %name, %error, "a shared memory file stays open to other users");
            }
        }
    }
}

/// The prefix that all processes of this user use: the first one chooses it. Made complete before it gets its name.
fn read_or_make_prefix(folder: &Path, uid: u32) -> io::Result<String> {
    let path = folder.join(PREFIX_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let valid = (8..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let invalid = || {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "its file `prefix` holds no prefix; remove the folder",
                )
            };
            return valid.then_some(text).ok_or_else(invalid);
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) => (),
    }
    let mut random = [0; 6];
    fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let prefix = format!("feros_{uid}_{random}_");
    let draft = folder.join("prefix.draft");
    fs::write(&draft, &prefix)?;
    fs::rename(&draft, &path)?;
    Ok(prefix)
}

/// How long other processes may make or remove things before this one gives up. Each takes milliseconds, but where a launch file
/// starts dozens of processes at once on a busy host, all of them want to. A killed process holds nobody up.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// The lock of a space, on its folder. A killed process has it no longer.
pub(crate) struct SpaceLock(#[expect(dead_code, reason = "closing it unlocks")] OwnedFd);

impl SpaceLock {
    fn take(folder: &Path) -> Result<Self, UnavailableError> {
        let failed = |cause: String| UnavailableError::Folder { folder: folder.to_owned(), cause };
        let fd = rustix::fs::open(
            folder,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .map_err(|cause| failed(cause.to_string()))?;
        let start = Instant::now();
        loop {
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(fd)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if start.elapsed() < LOCK_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(Errno::WOULDBLOCK) => {
                    return Err(failed(format!("another process has locked it for {LOCK_TIMEOUT:?}")));
                }
                Err(cause) => return Err(failed(cause.to_string())),
            }
        }
    }
}

struct ToTracing;

impl iceoryx2_log_types::Log for ToTracing {
    fn log(&self, level: LogLevel, origin: std::fmt::Arguments<'_>, message: std::fmt::Arguments<'_>) {
        match level {
            LogLevel::Error | LogLevel::Fatal => tracing::error!(target: "feros::shm", %origin, "{message}"),
            LogLevel::Warn => tracing::warn!(target: "feros::shm", %origin, "{message}"),
            LogLevel::Info => tracing::info!(target: "feros::shm", %origin, "{message}"),
            LogLevel::Debug => tracing::debug!(target: "feros::shm", %origin, "{message}"),
            LogLevel::Trace => tracing::trace!(target: "feros::shm", %origin, "{message}"),
        }
    }
}

/// What iceoryx2 logs goes to `tracing`, unless the program uses iceoryx2 itself and has set it up before.
///
/// Warnings and worse only: below, iceoryx2 formats a text for each error that it returns, on the hot path too.
fn log_to_tracing() {
    static TO_TRACING: ToTracing = ToTracing;
    if iceoryx2::prelude::set_logger(&TO_TRACING) {
        iceoryx2::prelude::set_log_level(LogLevel::Warn);
    }
}
