//! The system's limits for this process. They are checked before iceoryx2 is called, because
//! iceoryx2 does not report which limit made an operation fail, and because a file that becomes too
//! large ends the process with a signal.

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::error::UnavailableError;

/// How many more files this process must still be allowed to open. This is more than iceoryx2 opens
/// at the same time while it makes or opens something.
const FILES_AT_ONCE: u64 = 8;

/// Checks whether a file of `needed_bytes` may be made (RLIMIT_FSIZE).
pub(crate) fn check_file_size(needed_bytes: u64) -> Result<(), UnavailableError> {
    match file_size_limit_below(needed_bytes) {
        Some(limit_bytes) => Err(UnavailableError::FileSizeLimit { needed_bytes, limit_bytes }),
        None => Ok(()),
    }
}

/// The limit on the size of files, if it is below `needed_bytes`.
pub(crate) fn file_size_limit_below(needed_bytes: u64) -> Option<u64> {
    getrlimit(Resource::Fsize).current.filter(|limit_bytes| *limit_bytes < needed_bytes)
}

/// Checks whether a few more files may be opened (RLIMIT_NOFILE). This counts the open files. To
/// open files as a test would take descriptors from other threads for a short time.
pub(crate) fn check_open_files() -> Result<(), UnavailableError> {
    let Some(limit) = getrlimit(Resource::Nofile).current else { return Ok(()) };
    let open = match std::fs::read_dir("/proc/self/fd") {
        Ok(files) => files.count() as u64,
        Err(error) if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => limit,
        // All other errors are ignored here, because the code that needs /proc reports them better.
        Err(_) => return Ok(()),
    };
    if open + FILES_AT_ONCE <= limit {
        return Ok(());
    }
    Err(UnavailableError::OpenFilesLimit { limit })
}
