//! Memory that stays in RAM, where the laboratory's condition of real time asks for it.

use rustix::mm::{MlockAllFlags, mlockall};

/// The variable with which the laboratory asks a program to lock its memory (`mlockall`): 1.
pub const LOCK_MEMORY: &str = "FEROS_LAB_LOCK_MEMORY";

/// Locks what the process has and will have, each page from its first use on: where whole mappings
/// are filled at once, a publisher waits seconds for a ring in shared memory of which it uses a
/// part. A refusal is said, and the run goes on: the laboratory sees from outside what is locked.
pub(crate) fn lock_where_asked() {
    if std::env::var_os(LOCK_MEMORY).is_none_or(|value| value != "1") {
        return;
    }
    if let Err(error) =
        mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT)
    {
        eprintln!(
            "error: mlockall was refused: {error}; raise the limit memlock (ulimit -l), or run it as root"
        );
    }
}
