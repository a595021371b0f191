//! Locks memory in RAM, if the laboratory's real-time condition asks for it.

use rustix::mm::{MlockAllFlags, mlockall};

/// The variable that asks a program to lock its memory (`mlockall`); the laboratory sets it to 1.
pub const LOCK_MEMORY: &str = "FEROS_LAB_LOCK_MEMORY";

/// Locks the process's present and future memory, each page from its first use on: if whole
/// mappings were filled immediately, a publisher would wait seconds for a message ring in shared
/// memory of which it uses only a part. A refusal is reported, and the run goes on: the laboratory
/// checks from outside which memory is locked.
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
