//! The space of one user in `/dev/shm`: a folder, and a prefix of the names of the user's shared
//! memory. The first process of the user that shares memory makes the space, and the last process
//! removes it.

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iceoryx2::prelude::{Config, FileName, SemanticString};
use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::sweep::{sweep, sweep_unfinished};
use crate::error::UnavailableError;
use crate::storage::populate::SHM;

/// How long iceoryx2 waits for a file that another process is making. If that process was killed
/// before the file was complete, iceoryx2 waits for this whole time.
const CREATION_TIMEOUT: Duration = Duration::from_millis(200);
/// How many retired memory pools of one publisher a subscription can still read from. A publisher
/// never has this many retired pools. iceoryx2 checks each of them for each message; its default
/// number is 128.
const LEFT_CONNECTIONS: usize = 16;

pub(crate) const PREFIX_FILE: &str = "prefix";

/// The suffix of the name of the iceoryx2 segment that counts the nodes. The segment outlives
/// the nodes.
const NODE_COUNTER_SUFFIX: &str = ".global_mgmt";

/// How many times to retry opening a space whose folder another process was just removing.
const MAX_ATTEMPTS: u32 = 100;

/// The folder of a user, and the prefix of the names of the user's shared memory.
pub(crate) struct Space {
    pub(crate) folder: PathBuf,
    pub(crate) prefix: String,
}

impl Space {
    /// Makes the folder, or checks that only this user has access to an existing folder. After
    /// that, no other user can replace the folder: `/dev/shm` is a sticky folder, in which only the
    /// owner of an entry may replace it.
    pub(crate) fn open(folder: PathBuf) -> Result<(Self, SpaceLock), UnavailableError> {
        for _ in 0..MAX_ATTEMPTS {
            if !make_or_check(&folder)? {
                continue;
            }
            let Some(lock) = SpaceLock::take(&folder, LOCK_TIMEOUT)? else { continue };
            let prefix = read_or_make_prefix(&folder, geteuid().as_raw()).map_err(|cause| {
                UnavailableError::Folder { folder: folder.clone(), cause: cause.to_string() }
            })?;
            sweep_after(&lock, &folder);
            return Ok((Self { folder, prefix }, lock));
        }
        let cause = format!("it was removed {MAX_ATTEMPTS} times while it was being opened");
        Err(UnavailableError::Folder { folder, cause })
    }

    /// Waits at most `patience` for the exclusive right to make and remove files in this space. At
    /// any time, at most one thread among all processes has this right. Removes the unfinished work
    /// of earlier holders of the right.
    pub(crate) fn exclusive(&self, patience: Duration) -> Result<SpaceLock, UnavailableError> {
        let lock =
            SpaceLock::take(&self.folder, patience)?.ok_or_else(|| UnavailableError::Folder {
                folder: self.folder.clone(),
                cause: "it was removed while in use".to_owned(),
            })?;
        sweep_after(&lock, &self.folder);
        Ok(lock)
    }

    /// Removes the folder and the node counter if no process uses them any longer.
    ///
    /// If another process is waiting for the lock at that time, it sees that the folder was
    /// removed, and makes a new folder with a new prefix.
    pub(crate) fn remove_if_unused(&self, _lock: &SpaceLock) {
        let is_empty = |name: &str| match fs::read_dir(self.folder.join(name)) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_empty("nodes") {
            return;
        }
        sweep(&self.folder, &self.prefix); // no process is left that would have to wait for this
        if !is_empty("services") {
            return;
        }
        let Ok(entries) = fs::read_dir(SHM) else { return };
        let ours: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&self.prefix))
            .map(|entry| entry.path())
            .collect();
        let all_count_nodes =
            ours.iter().all(|path| path.to_string_lossy().ends_with(NODE_COUNTER_SUFFIX));
        if !all_count_nodes {
            return;
        }
        let remove = || -> io::Result<()> {
            ours.iter().try_for_each(fs::remove_file)?;
            for folder in ["nodes", "services", BUSY].map(|name| self.folder.join(name)) {
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => (),
                }
            }
            fs::remove_file(self.folder.join(PREFIX_FILE))?;
            fs::remove_dir(&self.folder)
        };
        if let Err(error) = remove() {
            tracing::debug!(
                target: "feros::shm",
                folder = %self.folder.display(),
                %error,
                "the unused folder of shared memory cannot be removed"
            );
        }
    }

    pub(crate) fn config(&self) -> Result<Config, UnavailableError> {
        let refused = |cause: String| UnavailableError::Refused {
            what: "naming the folder of shared memory",
            cause,
        };
        let mut config = Config::default();
        let folder = self.folder.as_os_str().as_encoded_bytes();
        let path =
            iceoryx2::prelude::Path::new(folder).map_err(|cause| refused(format!("{cause:?}")))?;
        config.global.set_root_path(&path);
        config.global.prefix =
            FileName::new(self.prefix.as_bytes()).map_err(|cause| refused(format!("{cause:?}")))?;
        config.global.creation_timeout = CREATION_TIMEOUT;
        // Feros decides when to clean up. Otherwise, iceoryx2 would check every process each time
        // something is opened.
        config.global.service.cleanup_dead_nodes_on_open = false;
        config.global.node.cleanup_dead_nodes_on_creation = false;
        config.global.node.cleanup_dead_nodes_on_destruction = false;
        config.defaults.publish_subscribe.subscriber_expired_connection_buffer = LEFT_CONNECTIONS;
        Ok(config)
    }
}

/// Checks whether the folder could be made. If it already exists, checks whether only this user has
/// access to it. Makes no folder.
pub(crate) fn check_access(folder: &Path) -> Result<(), UnavailableError> {
    if folder.symlink_metadata().is_ok() {
        return make_or_check(folder).map(drop);
    }
    rustix::fs::access(SHM, Access::WRITE_OK | Access::EXEC_OK).map_err(|cause| {
        UnavailableError::Folder { folder: folder.to_owned(), cause: cause.to_string() }
    })
}

/// Makes or checks the folder. Returns `false` if another process removed the folder in the
/// meantime.
fn make_or_check(folder: &Path) -> Result<bool, UnavailableError> {
    let failed = |cause: io::Error| UnavailableError::Folder {
        folder: folder.to_owned(),
        cause: cause.to_string(),
    };
    let not_trusted = |why: String| UnavailableError::NotTrusted { folder: folder.to_owned(), why };
    let me = geteuid().as_raw();
    let parent = fs::metadata(SHM).map_err(failed)?;
    if parent.mode() & 0o022 != 0 && parent.mode() & 0o1000 == 0 {
        let mode = parent.mode() & 0o7777;
        return Err(not_trusted(format!(
            "lies in {SHM}, whose entries any user may replace (mode {mode:o})"
        )));
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => (),
    }
    let found = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found.map_err(failed)?,
    };
    if !found.is_dir() {
        return Err(not_trusted("is not a folder".to_owned()));
    }
    if found.uid() != me {
        return Err(not_trusted(format!("belongs to user {}, not to {me}", found.uid())));
    }
    if found.mode() & 0o777 != 0o700 {
        match fs::set_permissions(folder, fs::Permissions::from_mode(0o700)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            set => set.map_err(failed)?,
        }
    }
    Ok(true)
}

/// Removes unfinished work of the former holder of the lock. This checks every file of this user,
/// so it happens only if that holder was interrupted.
fn sweep_after(lock: &SpaceLock, folder: &Path) {
    if lock.was_interrupted {
        sweep_unfinished(folder);
    }
}

/// Returns the prefix that all processes of this user share. The first process chooses it. The file
/// with the prefix gets its name only when its content is complete.
fn read_or_make_prefix(folder: &Path, uid: u32) -> io::Result<String> {
    let path = folder.join(PREFIX_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let valid = (8..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let invalid = || {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "its file `prefix` does not hold a prefix; remove the folder",
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

/// How long to wait for other processes that make or remove shared memory. Each process holds the
/// lock for milliseconds, but if a launch file starts dozens of processes at once on a busy host,
/// all of them need the lock. A process that was killed does not delay the others.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// The shortest and the longest pause between two attempts to take the lock. The pauses grow, so
/// that a hundred processes that wait do not keep the processor from the holder of the lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(250), Duration::from_millis(4));

/// The name of a folder that exists while a holder of the space's lock works. If a process takes
/// the lock and finds this folder, an earlier holder was killed or failed.
const BUSY: &str = "busy";

/// The lock of a space, which is a lock on the folder of the space. If a process is killed, its
/// lock is released.
pub(crate) struct SpaceLock {
    folder: OwnedFd,
    /// Whether the former holder of the lock did not finish its work. If so, there may be
    /// unfinished files.
    pub(crate) was_interrupted: bool,
}

impl SpaceLock {
    /// Waits for the lock for at most `patience`. Returns `None` if the folder is missing or was
    /// replaced during the wait.
    pub(crate) fn take(
        folder: &Path,
        patience: Duration,
    ) -> Result<Option<Self>, UnavailableError> {
        let failed = |cause: String| UnavailableError::Folder { folder: folder.to_owned(), cause };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::open(folder, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened.map_err(|cause| failed(cause.to_string()))?,
        };
        let start = Instant::now();
        let mut pause = PAUSES.0;
        loop {
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(is_at(fd.as_fd(), folder).then(|| Self::taken(fd))),
                Err(Errno::WOULDBLOCK | Errno::INTR) if start.elapsed() < patience => {
                    std::thread::sleep(pause);
                    pause = PAUSES.1.min(2 * pause);
                }
                Err(Errno::WOULDBLOCK) => {
                    let folder = folder.to_owned();
                    return Err(UnavailableError::Locked { folder, waited: patience });
                }
                Err(cause) => return Err(failed(cause.to_string())),
            }
        }
    }
}

impl SpaceLock {
    fn taken(folder: OwnedFd) -> Self {
        // Every error counts as an interruption: if this folder cannot be made, no other file can
        // be made either, and then it does no harm to sweep.
        let was_interrupted = rustix::fs::mkdirat(&folder, BUSY, Mode::RWXU).is_err();
        Self { folder, was_interrupted }
    }

    /// Unlocks after all work has been finished. If this value is dropped instead, the next holder
    /// of the lock looks for unfinished files.
    pub(crate) fn finish(self) {
        // The folder may have been removed together with the space.
        let _ = rustix::fs::unlinkat(&self.folder, BUSY, AtFlags::REMOVEDIR);
    }
}

impl Drop for SpaceLock {
    /// Unlocks explicitly. If the folder were only closed, a process that was forked in the
    /// meantime would keep the lock (`flock(2)`).
    fn drop(&mut self) {
        // This can fail only for an invalid descriptor. The folder is closed in any case.
        let _ = rustix::fs::flock(&self.folder, FlockOperation::Unlock);
    }
}

/// Whether the path leads to the same file as this descriptor.
fn is_at(open: BorrowedFd<'_>, path: &Path) -> bool {
    match (rustix::fs::fstat(open), rustix::fs::lstat(path)) {
        (Ok(open), Ok(there)) => (open.st_dev, open.st_ino) == (there.st_dev, there.st_ino),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_process_forked_meanwhile_does_not_keep_the_lock() {
        let folder = std::env::temp_dir().join(format!("feros-forked-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let take = || SpaceLock::take(&folder, Duration::ZERO).unwrap().unwrap();
        let first = take();
        let of_the_forked = first.folder.try_clone().unwrap(); // a forked process gets a copy like this
        first.finish();
        take().finish();
        drop(of_the_forked);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_next_owner_of_the_lock_learns_of_unfinished_work() {
        let folder = std::env::temp_dir().join(format!("feros-lock-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let take = || SpaceLock::take(&folder, Duration::ZERO).unwrap().unwrap();
        let first = take();
        assert!(!first.was_interrupted);
        assert!(SpaceLock::take(&folder, Duration::ZERO).is_err(), "it is taken");
        first.finish();
        let second = take();
        assert!(!second.was_interrupted);
        drop(second); // this is what a kill or a failure does
        let third = take();
        assert!(third.was_interrupted);
        third.finish();
        assert!(!take().was_interrupted);
        fs::remove_dir_all(&folder).unwrap();
    }
}
