//! What the system lets this process have. Beyond it iceoryx2 only says that something failed, and
//! a file that gets too large ends the process by a signal; so limits are looked at before.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::error::UnavailableError;
use crate::populate::SHM;

/// More files than iceoryx2 has open at once while it makes or opens something.
const FILES_AT_ONCE: usize = 8;

/// Whether a file of `needed_bytes` may be made (RLIMIT_FSIZE).
pub(crate) fn check_file_size(needed_bytes: u64) -> Result<(), UnavailableError> {
    match file_size_limit_below(needed_bytes) {
        Some(limit_bytes) => Err(UnavailableError::FileSizeLimit { needed_bytes, limit_bytes }),
        None => Ok(()),
    }
}

/// The limit on the size of files, where it is below `needed_bytes`.
pub(crate) fn file_size_limit_below(needed_bytes: u64) -> Option<u64> {
    getrlimit(Resource::Fsize).current.filter(|limit_bytes| *limit_bytes < needed_bytes)
}

/// Whether a few files more may be opened (RLIMIT_NOFILE).
pub(crate) fn check_open_files() -> Result<(), UnavailableError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |_| rustix::fs::open(SHM, flags, Mode::empty());
    match (0..FILES_AT_ONCE).map(open).collect::<Result<Vec<_>, _>>() {
        Err(Errno::MFILE) => {
            let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
            Err(UnavailableError::OpenFilesLimit { limit })
        }
        Err(Errno::NFILE) => Err(UnavailableError::Refused {
            what: "an open file",
            cause: "the host has as many open as it may (/proc/sys/fs/file-max)".to_owned(),
        }),
        // Anything else is said better by whoever needs the folder.
        _ => Ok(()),
    }
}
