//! Locks of runs: one for the machine, and one for the folder of results. The machine's lock file
//! is in the folder for temporary files, where every user may create any kind of file with its
//! name.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// The limit on the bytes that are read of a holder's name.
const LONGEST_HOLDER_BYTES: u64 = 20;

/// The reason why a lock was not taken.
#[derive(Debug)]
pub(super) enum LockError {
    /// Another process, named here, holds the lock.
    Held(String),
    /// The file with the lock's name cannot serve as a lock.
    Unusable(Error),
}

/// Takes a lock that ends with this process. Follows no link, locks only a regular file, and writes
/// only to a file that belongs to this user and has no other name.
pub(super) fn lock(path: &Path) -> Result<File, LockError> {
    let mut file = open(path).map_err(LockError::Unusable)?;
    let about = file.metadata().map_err(LockError::Unusable)?;
    if !about.is_file() {
        let what = "it is not a regular file; remove it";
        return Err(LockError::Unusable(Error::new(ErrorKind::InvalidInput, what)));
    }
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.take(LONGEST_HOLDER_BYTES).read_to_string(&mut holder);
            let holder = holder.trim().parse::<u32>();
            return Err(LockError::Held(
                holder.map_or_else(|_| "another process".to_owned(), |id| format!("process {id}")),
            ));
        }
        Err(TryLockError::Error(error)) => return Err(LockError::Unusable(error)),
    }
    if about.uid() == rustix::process::geteuid().as_raw() && about.nlink() == 1 {
        let id = std::process::id().to_string();
        let _ = file.set_len(0).and_then(|()| file.write_all(id.as_bytes()));
    }
    Ok(file)
}

/// Opens a lock file. If it belongs to another user, it is opened for reading, which suffices for a
/// lock. If it is a pipe, opening does not wait for the other end.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags);
    options.clone().write(true).create(true).truncate(false).open(path).or_else(|error| {
        // Both attempts refuse a link.
        options.open(path).map_err(|_| error)
    })
}

#[cfg(test)]
mod tests {
    use feros_test_support::eventually;

    use super::{LockError, lock};

    #[test]
    fn a_lock_is_held_once_and_says_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path).unwrap();
        let Err(LockError::Held(by)) = lock(&path) else { panic!("held twice") };
        assert_eq!(by, format!("process {}", std::process::id()));
        drop(held);
        // A process that another test forks holds the lock's file until it calls exec.
        eventually(|| lock(&path).map_err(|error| format!("{error:?}")));
    }

    #[test]
    fn files_planted_under_the_locks_name_stay_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        std::fs::write(&precious, "all of it").unwrap();
        let [link, second_name, pipe] =
            ["link", "second", "pipe"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        assert!(matches!(lock(&link), Err(LockError::Unusable(_))));
        std::os::unix::fs::symlink(folder.path().join("absent"), folder.path().join("dangling"))
            .unwrap();
        assert!(matches!(lock(&folder.path().join("dangling")), Err(LockError::Unusable(_))));
        assert!(!folder.path().join("absent").exists());
        std::fs::hard_link(&precious, &second_name).unwrap();
        lock(&second_name).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(matches!(lock(&pipe), Err(LockError::Unusable(_))));
        assert!(matches!(lock(folder.path()), Err(LockError::Unusable(_))));
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "all of it");
    }
}
